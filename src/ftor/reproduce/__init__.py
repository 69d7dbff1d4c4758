"""The paper's tables again: all of their runs, side by side or on a cluster, and none of them twice."""

from ftor.reproduce.board import Board, Status
from ftor.reproduce.driver import carry_out
from ftor.reproduce.plan import Choice, Planned, plan, require_data

__all__ = ["Board", "Choice", "Planned", "Status", "carry_out", "plan", "require_data"]
