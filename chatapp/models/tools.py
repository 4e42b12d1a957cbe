"""What tools did and may do: calls that began, what a person allowed, and the servers of MCP with their tools."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from ..core.items import KEY_CAP
from .chat import Conversation, Message
from .fields import VerbatimField

TOOL_NAME_CAP = 200


class ToolRun(models.Model):
    """That a call began, written before it runs: what has begun and has no result may have run. `key` is the call's."""

    message = models.ForeignKey(Message, models.CASCADE, related_name="tool_runs")
    key = models.CharField(max_length=KEY_CAP)
    attempt = models.PositiveIntegerField()
    arguments_hash = models.CharField(max_length=64)
    began_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["message", "key"], name="one_run_per_call")]

    def __str__(self) -> str:
        return f"run of {self.key}"


class Grant(models.Model):
    """A person lets a tool run in a conversation without being asked again, as long as the tool stays what it was."""

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="grants")
    tool = models.CharField(max_length=TOOL_NAME_CAP)
    fingerprint = models.CharField(max_length=64)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["conversation", "tool"], name="one_grant_per_tool")]

    def __str__(self) -> str:
        return f"{self.tool} in {self.conversation_id}"


class McpServer(models.Model):
    """A server of tools. One with an address was added by staff; one without is a command of MCP_SERVERS_FILE.
    `key_variable` names the variable of the environment that holds its key."""

    name = models.CharField(max_length=32, unique=True, validators=[RegexValidator(r"\A[a-z][a-z0-9-]*\Z")])
    url = models.CharField(max_length=500, blank=True, default="")
    key_variable = models.CharField(max_length=100, blank=True, default="")
    is_on = models.BooleanField(default=True)
    private_network = models.BooleanField(default=False)
    # Rises with every change of the server or its tools: what other processes look at.
    revision = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "MCP server"

    def __str__(self) -> str:
        return self.name


class McpTool(models.Model):
    """A tool as its server described it last. `safe` and `idempotent` are what staff said of the tool that had the fingerprint
    `judged`: of one that changed since, nothing has been said. `hints` is what the server claims of it."""

    server = models.ForeignKey(McpServer, models.CASCADE, related_name="tools")
    name = models.CharField(max_length=TOOL_NAME_CAP)
    description = models.TextField(blank=True, default="")
    schema = VerbatimField(default=dict)
    hints = models.CharField(max_length=200, blank=True, default="")
    fingerprint = models.CharField(max_length=64)
    # Whether the server named it last time: what staff said of it outlasts a server that forgets it for a while.
    is_listed = models.BooleanField(default=True)
    judged = models.CharField(max_length=64, blank=True, default="")
    safe = models.BooleanField(default=False)
    idempotent = models.BooleanField(default=False)
    is_on = models.BooleanField(default=True)
    in_new_conversations = models.BooleanField(default=False)

    class Meta:
        verbose_name = "MCP tool"
        constraints = [models.UniqueConstraint(fields=["server", "name"], name="one_tool_per_name")]

    def __str__(self) -> str:
        return f"{self.server}.{self.name}"
