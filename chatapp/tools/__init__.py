"""The tools that are built in. A tool is a file or a folder here and its line in the list."""

from __future__ import annotations

from . import clock
from .base import Tool, ToolError, ToolOutput
from .calculator import tool as calculator
from .page import tool as read_page

__all__ = ["TOOLS", "Tool", "ToolError", "ToolOutput"]

TOOLS: dict[str, Tool] = {each.name: each for each in (clock.TOOL, calculator.TOOL, read_page.TOOL)}
