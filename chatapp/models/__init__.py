"""The rows, with their constraints and small questions about one row; every write is in `store`."""

from .chat import (
    ENDED,
    IS_LIVE,
    IS_UNFINISHED,
    LIVE,
    TOOL_NAME_CAP,
    UNFINISHED,
    Conversation,
    Draft,
    Grant,
    Item,
    Message,
    Place,
    Role,
    Status,
    TitledBy,
    ToolRun,
)
from .fields import VerbatimField
from .figures import ModelDay, PersonDay
from .forks import Origin
from .limits import DailyLimit
from .looks import Look
from .people import OUTLINE_CAP, NameOutline, SignedUp, WayIn
from .preferences import Preference, Theme
from .providers import Installation, KnownModel, ModelProvider
from .reviews import Note, Scope, Submission, Submitted, Verdict, Wish
from .running import Heartbeat, LongWrite, Throttle
from .sharing import Share
from .tools import McpServer, McpTool

__all__ = [
    "ENDED",
    "IS_LIVE",
    "IS_UNFINISHED",
    "LIVE",
    "OUTLINE_CAP",
    "TOOL_NAME_CAP",
    "UNFINISHED",
    "Conversation",
    "DailyLimit",
    "Draft",
    "Grant",
    "Heartbeat",
    "Installation",
    "Item",
    "KnownModel",
    "LongWrite",
    "Look",
    "McpServer",
    "McpTool",
    "Message",
    "ModelDay",
    "ModelProvider",
    "NameOutline",
    "Note",
    "Origin",
    "PersonDay",
    "Place",
    "Preference",
    "Role",
    "Scope",
    "Share",
    "SignedUp",
    "Status",
    "Submission",
    "Submitted",
    "Theme",
    "Throttle",
    "TitledBy",
    "ToolRun",
    "VerbatimField",
    "Verdict",
    "WayIn",
    "Wish",
]
