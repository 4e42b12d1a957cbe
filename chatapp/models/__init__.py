"""Registers the rows of every room and of the log, and does nothing else: nobody imports from here."""

from ..accounts.models import OUTLINE_CAP, NameOutline, SignedUp, WayIn
from ..branches.models import Origin
from ..catalog.models import Installation, KnownModel, ModelProvider
from ..exchange.models import (
    Archive,
    ArchivePiece,
    Import,
    ImportedConversation,
    ImportFile,
    ImportPiece,
)
from ..gateway.models import (
    ApiKey,
    KeptCleared,
    KeptLook,
    KeptResponse,
    KeyDay,
    KeyRequest,
    KeyRule,
    RecordedPlace,
    RecordedRun,
    ReplayDay,
    StoredResponse,
)
from ..insight.models import ModelDay, PersonDay
from ..limits.models import DailyLimit
from ..mcp_servers.models import McpServer, McpTool
from ..next_questions.models import NextQuestion
from ..operation.models import FingerprintSalt, KnownProcess, TakeOver
from ..oversight.models import Look
from ..pages.models import Preference, Theme
from ..reviews.models import Note, Scope, Submission, Submitted, Verdict, Wish
from ..search.models import FoldedItem, FoldingMark, GramBits, GramSegment, Spoken
from ..sharing.models import Share
from ..store.models import (
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
from ..store.running_models import Heartbeat, LongWrite, Throttle
from ..store.verbatim_field import VerbatimField

__all__ = [
    "ENDED",
    "IS_LIVE",
    "IS_UNFINISHED",
    "LIVE",
    "OUTLINE_CAP",
    "TOOL_NAME_CAP",
    "UNFINISHED",
    "ApiKey",
    "Archive",
    "ArchivePiece",
    "Conversation",
    "DailyLimit",
    "Draft",
    "FingerprintSalt",
    "FoldedItem",
    "FoldingMark",
    "GramBits",
    "GramSegment",
    "Grant",
    "Heartbeat",
    "Import",
    "ImportFile",
    "ImportPiece",
    "ImportedConversation",
    "Installation",
    "Item",
    "KeptCleared",
    "KeptLook",
    "KeptResponse",
    "KeyDay",
    "KeyRequest",
    "KeyRule",
    "KnownModel",
    "KnownProcess",
    "LongWrite",
    "Look",
    "McpServer",
    "McpTool",
    "Message",
    "ModelDay",
    "ModelProvider",
    "NameOutline",
    "NextQuestion",
    "Note",
    "Origin",
    "PersonDay",
    "Place",
    "Preference",
    "RecordedPlace",
    "RecordedRun",
    "ReplayDay",
    "Role",
    "Scope",
    "Share",
    "SignedUp",
    "Spoken",
    "Status",
    "StoredResponse",
    "Submission",
    "Submitted",
    "TakeOver",
    "Theme",
    "Throttle",
    "TitledBy",
    "ToolRun",
    "VerbatimField",
    "Verdict",
    "WayIn",
    "Wish",
]
