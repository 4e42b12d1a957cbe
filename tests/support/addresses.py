"""Every address, who may come there, and how. A new one without a row here fails the tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

READ, WRITE = ("GET", "HEAD"), ("POST",)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE")


class Whose(Enum):
    EVERYBODYS = "for everybody"
    PEOPLES = "for whoever is signed in"
    OWN = "of one's own, by its id"
    STAFFS = "for staff alone"
    REVIEWS = "by the part that one has in a review"
    MANAGERS = "for staff, and for keys that are marked for it"


@dataclass(frozen=True)
class Address:
    """`form`: what a POST needs to be understood."""

    whose: Whose
    methods: tuple[str, ...] = READ
    form: Mapping[str, str] = field(default_factory=dict)
    query: str = ""


EVERYBODYS, PEOPLES, OWN, STAFFS, REVIEWS, MANAGERS = Whose
BOTH = READ + WRITE

LABELS = {"name": "First look", "raters": "2", "words-0": "Right?", "of-0": "answer", "scale-0": "yes no"}

ADDRESSES = {
    "/": Address(PEOPLES),
    "/models/": Address(PEOPLES),
    "/settings/": Address(PEOPLES, BOTH, {"section": "conversations", "default_model": "demo:thinker"}),
    "/settings/delete/": Address(PEOPLES, BOTH, {"password": "wrong", "word": "delete"}),
    "/settings/keys/": Address(PEOPLES, BOTH, {"name": "Editor", "expires": "90"}),
    "/settings/keys/<uuid:pk>/used/": Address(OWN),
    "/settings/keys/<uuid:pk>/revoke/": Address(OWN, BOTH),
    "/conversations/": Address(PEOPLES),
    "/compare/": Address(PEOPLES),
    "/search/": Address(PEOPLES, query="?q=words"),
    "/ask/": Address(PEOPLES, WRITE, {"text": "Why?"}),
    "/c/<uuid:pk>/": Address(OWN),
    "/c/<uuid:pk>/ask/": Address(OWN, WRITE, {"text": "And?"}),
    "/c/<uuid:pk>/earlier/": Address(OWN, query="?before={answer}"),
    "/c/<uuid:pk>/map/": Address(OWN),
    "/c/<uuid:pk>/instructions/": Address(OWN, BOTH, {"instructions": "Be brief."}),
    "/c/<uuid:pk>/tools/": Address(OWN, BOTH, {"tools": "clock"}),
    "/c/<uuid:pk>/tools/take-back/": Address(OWN, WRITE, {"tool": "clock"}),
    "/c/<uuid:pk>/title/": Address(OWN, BOTH, {"title": "A name"}),
    "/c/<uuid:pk>/pin/": Address(OWN, WRITE, {"pinned": "1"}),
    "/c/<uuid:pk>/archive/": Address(OWN, WRITE, {"archived": "1", "q": "", "before": ""}),
    "/c/<uuid:pk>/delete/": Address(OWN, WRITE),
    "/c/<uuid:pk>/restore/": Address(OWN, WRITE),
    "/m/<uuid:pk>/edit/": Address(OWN, BOTH, {"text": "In other words?"}),
    "/m/<uuid:pk>/again/": Address(OWN, BOTH),
    "/m/<uuid:pk>/stop/": Address(OWN, WRITE),
    "/m/<uuid:pk>/decide/": Address(OWN, WRITE, {"decision": "once fc_1", "seen": "0123 fc_1"}),
    "/m/<uuid:pk>/continue/": Address(OWN, WRITE),
    "/m/<uuid:pk>/next/edit/": Address(OWN, WRITE),
    "/m/<uuid:pk>/next/save/": Address(OWN, WRITE, {"next_text": "In other words?"}),
    "/m/<uuid:pk>/next/leave/": Address(OWN, WRITE),
    "/m/<uuid:pk>/next/remove/": Address(OWN, WRITE),
    "/m/<uuid:pk>/go/": Address(OWN, WRITE),
    "/m/<uuid:pk>/copy/": Address(OWN),
    "/c/<uuid:pk>/export/": Address(OWN),
    "/settings/export/": Address(PEOPLES, BOTH),
    "/settings/export/<uuid:pk>/": Address(OWN),
    "/settings/export/<uuid:pk>/remove/": Address(OWN, WRITE),
    "/review/export/": Address(STAFFS),
    "/import/": Address(PEOPLES),
    "/import/files/": Address(PEOPLES, WRITE, {"name": "x.json", "size": "10"}),
    "/import/files/<uuid:pk>/": Address(OWN, BOTH, {}, "?begins=0"),
    "/import/files/<uuid:pk>/remove/": Address(OWN, WRITE),
    "/import/<uuid:pk>/check/": Address(OWN, WRITE),
    "/import/<uuid:pk>/start/": Address(OWN, WRITE, {"skip": "on"}),
    "/import/<uuid:pk>/end/": Address(OWN, WRITE),
    "/thoughtline-1.schema.json": Address(EVERYBODYS),
    "/picture/": Address(EVERYBODYS),
    "/m/<uuid:pk>/delete/": Address(OWN, BOTH),
    "/m/<uuid:pk>/fork/": Address(OWN, BOTH, {"extent": "branch"}),
    "/m/<uuid:pk>/share/": Address(OWN, BOTH, {"thoughts": "on", "tools": "on", "expires": "week"}),
    "/shares/": Address(PEOPLES),
    "/shares/<uuid:pk>/revoke/": Address(OWN, WRITE),
    "/s/<token>/": Address(EVERYBODYS),
    "/s/<token>/open/": Address(EVERYBODYS),
    "/s/<token>/fork/": Address(PEOPLES, WRITE, {"until": ""}),
    "/m/<uuid:pk>/submit/": Address(OWN, BOTH, {"scope": "tree", "question": "Is it right?"}),
    "/reviews/": Address(PEOPLES),
    "/reviews/<uuid:pk>/withdraw/": Address(OWN, WRITE),
    "/reviews/asked/<uuid:pk>/decline/": Address(OWN, WRITE),
    "/reviews/suggested/<uuid:pk>/": Address(OWN),
    "/reviews/suggested/<uuid:pk>/take/": Address(OWN, WRITE),
    "/reviews/suggested/<uuid:pk>/decline/": Address(OWN, WRITE),
    "/review/": Address(REVIEWS),
    "/review/assign/": Address(REVIEWS, WRITE, {"reviewer": ""}),
    "/review/labels/": Address(REVIEWS, BOTH, LABELS),
    "/review/labels/<uuid:pk>/": Address(REVIEWS, BOTH, LABELS),
    "/review/labels/<uuid:pk>/away/": Address(REVIEWS, WRITE),
    "/review/ask/<uuid:pk>/": Address(REVIEWS, BOTH, {"words": "It failed."}),
    "/review/<uuid:pk>/": Address(REVIEWS),
    "/review/<uuid:pk>/open/": Address(REVIEWS),
    "/review/<uuid:pk>/claim/": Address(REVIEWS, WRITE),
    "/review/<uuid:pk>/release/": Address(REVIEWS, WRITE),
    "/review/<uuid:pk>/assign/": Address(REVIEWS, WRITE, {"reviewer": "{reviewer}"}),
    "/review/<uuid:pk>/note/": Address(REVIEWS, WRITE, {"message": "{message}", "text": "Hm."}),
    "/review/<uuid:pk>/verdict/": Address(REVIEWS, WRITE, {"verdict": "approved", "reason": ""}),
    "/review/<uuid:pk>/map/": Address(REVIEWS),
    "/review/<uuid:pk>/compare/": Address(REVIEWS, query="?a={answer}&b={answer}"),
    "/review/<uuid:pk>/suggest/": Address(REVIEWS, BOTH, {"answer": "{suggestible}"}),
    "/review/<uuid:pk>/rate/": Address(REVIEWS, WRITE),
    "/review/<uuid:pk>/fork/": Address(REVIEWS, WRITE, {"until": "{message}"}),
    "/undo/<uuid:deletion>/": Address(OWN, WRITE),
    "/admin/": Address(STAFFS, BOTH),
    "/api/cache/reasoning": Address(MANAGERS, (*READ, "DELETE")),
    "/insight/": Address(STAFFS),
    "/insight/operation/": Address(STAFFS),
    "/insight/cache/": Address(STAFFS),
    "/insight/cache/clear/": Address(STAFFS, BOTH, {"provider": "nobody"}),
    "/insight/cache/words/<slug:secret>/": Address(STAFFS),
    "/insight/<slug:what>.csv": Address(STAFFS),
    "/accounts/again/": Address(PEOPLES, BOTH),
    "/accounts/email/": Address(PEOPLES, BOTH),
    "/accounts/email/done/": Address(PEOPLES),
    "/accounts/password/": Address(PEOPLES, BOTH),
    "/accounts/password/done/": Address(PEOPLES),
    "/accounts/login/": Address(EVERYBODYS, BOTH),
    "/accounts/signup/": Address(EVERYBODYS, BOTH),
    "/accounts/logout/": Address(EVERYBODYS, WRITE),
    "/accounts/reset/": Address(EVERYBODYS, BOTH),
    "/accounts/reset/done/": Address(EVERYBODYS),
    "/accounts/reset/complete/": Address(EVERYBODYS),
    "/accounts/reset/<uidb64>/<token>/": Address(EVERYBODYS, BOTH),
    "/accounts/once/<uidb64>/<token>/": Address(EVERYBODYS, BOTH),
    "/health/live": Address(EVERYBODYS),
    "/health/ready": Address(EVERYBODYS),
    "/metrics": Address(EVERYBODYS),
}


def those(whose: Whose) -> list[str]:
    return [path for path, address in ADDRESSES.items() if address.whose is whose]
