"""What models write as LaTeX, in the words of the converter: it knows plain mathematics, and none of the packages around it."""

from .definitions import Definitions, WrongFormula
from .handlers import with_references, written_out

__all__ = ["Definitions", "WrongFormula", "with_references", "written_out"]
