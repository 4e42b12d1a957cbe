"""Servers of tools that speak MCP, with their tools."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models

from ..store.models import TOOL_NAME_CAP
from ..store.verbatim_field import VerbatimField


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
