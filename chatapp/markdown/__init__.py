"""Markdown of models as safe HTML: at once, or block by block while it is being written; and what people wrote, as it is."""

from .asked.question import render_question
from .growing import Growing
from .pieces import GrowingPieces, render_well
from .plain import render_plain
from .whole import render, render_blocks
from .within import (
    blocks_waiting,
    feed_within,
    question_waiting,
    question_within,
    render_blocks_within,
)

__all__ = [
    "Growing",
    "GrowingPieces",
    "blocks_waiting",
    "feed_within",
    "question_waiting",
    "question_within",
    "render",
    "render_blocks",
    "render_blocks_within",
    "render_plain",
    "render_question",
    "render_well",
]
