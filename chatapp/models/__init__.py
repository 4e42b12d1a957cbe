"""The rows, with their constraints and small questions about one row; every write is in `store`."""

from .chat import (
    ENDED,
    IS_LIVE,
    IS_UNFINISHED,
    LIVE,
    UNFINISHED,
    Conversation,
    Draft,
    Item,
    Message,
    Place,
    Role,
    Status,
    TitledBy,
)
from .fields import VerbatimField
from .figures import ModelDay, PersonDay
from .people import (
    OUTLINE_CAP,
    DailyLimit,
    LongWrite,
    NameOutline,
    Preference,
    SignedUp,
    Theme,
    Throttle,
    WayIn,
)
from .providers import Installation, KnownModel, ModelProvider
from .reviews import Note, Scope, Submission, Submitted, Verdict, Wish
from .running import Heartbeat
from .sharing import Look, Origin, Share
from .tools import TOOL_NAME_CAP, Grant, McpServer, McpTool, ToolRun

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
