"""What staff chose of providers and models."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models

from ..store.verbatim_field import VerbatimField


class ModelProvider(models.Model):
    """A provider of models that staff added; those of the environment have no row. Its name is part of the names of its models.
    `key_variable` names the variable of the environment that holds its key."""

    class Dialect(models.TextChoices):
        CHAT = "chat", "Chat Completions (most servers)"
        RESPONSES = "responses", "OpenAI Responses"
        MESSAGES = "messages", "Anthropic Messages"

    name = models.CharField(max_length=32, unique=True, validators=[RegexValidator(r"\A[a-z][a-z0-9-]*\Z")])
    label = models.CharField(max_length=60, blank=True, default="")
    dialect = models.CharField(max_length=16, choices=Dialect.choices, default=Dialect.CHAT)
    base_url = models.CharField(max_length=500)
    key_variable = models.CharField(max_length=100, blank=True, default="")
    private_network = models.BooleanField(default=False)
    is_on = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "provider"

    def __str__(self) -> str:
        return self.name


class Installation(models.Model):
    """One row: what staff chose for everybody. `revision` rises with every change of providers and models: what processes look at.
    `not_at_start`: built-in tools that new conversations do not begin with.
    `first_code` is what whoever runs the server proves it with, while nobody has an account."""

    default_model = models.CharField(max_length=300, blank=True, default="")
    revision = models.PositiveIntegerField(default=0)
    first_code = models.CharField(max_length=40, blank=True, default="")
    not_at_start = VerbatimField(null=True, blank=True)

    def __str__(self) -> str:
        return f"installation at {self.revision}"


class KnownModel(models.Model):
    """What staff said of a model, named as everywhere: `openai:gpt-5`. Prices are US dollars for a million tokens."""

    name = models.CharField(max_length=300, unique=True)
    label = models.CharField(max_length=100, blank=True, default="")
    is_hidden = models.BooleanField(default=False)
    effort = models.CharField(max_length=16, blank=True, default="")
    input_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    cached_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    output_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)

    class Meta:
        verbose_name = "model"

    def __str__(self) -> str:
        return self.name
