"""Keeps what staff chose of providers and models in the catalog of this process, whichever process they did it in."""

from __future__ import annotations

import asyncio
import logging
from threading import Lock

from django.db import Error

from ..providers.base import Endpoint
from ..providers.configured import Catalog, Choices, StaffSaid
from ..store import in_thread
from ..tools.at_hand import ToolsAtHand
from ..turns.engine import engine
from ..turns.keys import key_in
from ..turns.parts import PARTS, EnginePart
from . import store as model_providers
from .models import KnownModel, ModelProvider
from .store import StaffChoices

log = logging.getLogger(__name__)

EVERY = 5.0


def providers() -> Providers:
    """Of this process."""
    return engine().part(Providers)


class Providers(EnginePart):
    """Rows are what counts; one number tells whether they have changed."""

    def __init__(self, catalog: Catalog, tools: ToolsAtHand, *, every: float = EVERY) -> None:
        self._catalog, self._tools, self._every = catalog, tools, every
        self._revision = 0
        # A late look must not bring back what an earlier one saw.
        self._looking = Lock()

    async def load(self) -> None:
        await in_thread(self.look)()

    def look(self, *, anew: bool = False) -> None:
        """What the rows say counts from now on. `anew`: whatever the number says."""
        with self._looking:
            if anew or model_providers.load_revision() != self._revision:
                chosen = model_providers.load_chosen()
                self._catalog.take(choices_of(chosen))
                self._tools.begin_without(chosen.not_at_start)
                self._revision = chosen.revision

    async def keep(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            try:
                await self.load()
            except Error as error:
                log.warning("the providers could not be looked at: %s", type(error).__name__)


def choices_of(chosen: StaffChoices) -> Choices:
    rows = chosen.providers
    return Choices(
        endpoints=tuple(endpoint_of(row) for row in rows if row.is_on),
        off={row.name: row.label or row.name for row in rows if not row.is_on},
        said={row.name: _staff_said(row) for row in chosen.models},
        default=chosen.default_model,
    )


def endpoint_of(row: ModelProvider) -> Endpoint:
    label, key, problem = row.label or row.name, "", ""
    try:
        key = key_in(row.key_variable)
    except LookupError as error:
        problem = f"{label} has no key: {error}"
    return Endpoint(
        name=row.name,
        dialect=row.dialect,
        base_url=row.base_url,
        key=key,
        label=label,
        public=not row.private_network,
        problem=problem,
    )


def _staff_said(row: KnownModel) -> StaffSaid:
    return StaffSaid(label=row.label, effort=row.effort, hidden=row.is_hidden)


PARTS.append(lambda catalog, tools: Providers(catalog, tools))
