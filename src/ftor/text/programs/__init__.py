"""Programs as trees: brackets out, fragments as units, and the text back to the letter.

>>> programs = Programs.learn(["( f ( g a ) )", "( f ( g b ) )"])
>>> programs.encode("( f ( g a ) )")
['f', 'g', 'a']
>>> programs.decode(["f", "g", "b"])
'( f ( g b ) )'
"""

from ftor.text.programs.arities import solve_arities
from ftor.text.programs.codec import Programs
from ftor.text.programs.finding import find_notation
from ftor.text.programs.lexing import Dialect, ProgramError
from ftor.text.programs.notations import NOTATIONS, Notation, learn
from ftor.text.programs.parsing import Node, Program
from ftor.text.programs.tokens import TokenUnits
from ftor.text.programs.units import UnitSettings

__all__ = [
    "NOTATIONS",
    "Dialect",
    "Node",
    "Notation",
    "Program",
    "ProgramError",
    "Programs",
    "TokenUnits",
    "UnitSettings",
    "find_notation",
    "learn",
    "solve_arities",
]
