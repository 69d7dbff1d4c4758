"""What all sections of a configuration have in common."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Side = Literal["source", "target"]


class Section(BaseModel):
    """A part of a configuration; unknown keys and values of another type are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, protected_namespaces=()
    )
