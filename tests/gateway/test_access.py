"""Who may do what at the addresses of programs: each address with no key, with a wrong one, with one that is dead in every way, with
one's own, with one that manages, and with another person's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chatapp.gateway.models import ApiKey, KeyRequest, KeyRule, StoredResponse, Who
from chatapp.gateway.served.routes import ROUTES
from chatapp.gateway.store import keys
from chatapp.limits.models import DailyLimit
from chatapp.store import in_thread
from tests.support.front import session_of
from tests.support.stage import play

from .knocking import ASKING, CHAT, RESPONSES, THINKER, Knock, asking, key_of, knock, open_house, somewhere

pytestmark = pytest.mark.django_db(transaction=True)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
OPEN = {"/v1/openapi.json"}
WAYS = [(path, method) for path, ways in ROUTES.items() for method in ways]
KEYED = [(path, method) for path, method in WAYS if path not in OPEN]
OF_RESPONSES = [(path, method) for path, method in WAYS if path.startswith(f"{RESPONSES}/{{id}}")]
each_way = pytest.mark.parametrize(("path", "method"), KEYED)


def body_for(path: str) -> Any:
    return asking(path, max_output_tokens=50) if path == RESPONSES else asking(path)


async def come(path: str, method: str, secret: str = "", of: str = "", **more: Any) -> Knock:
    """`of`: the id of what is asked for."""
    body = body_for(path) if method == "POST" else b""
    return await knock(method, path.replace("{id}", of or "none"), body, key=secret, **more)


async def stored(secret: str) -> str:
    """The id of a response that is kept."""
    made = await knock("POST", RESPONSES, asking(RESPONSES, store=True), key=secret)
    return str(made.json()["id"])


def wanted(path: str, of: str) -> str:
    return THINKER if path.startswith("/v1/models") else of


def same(answer: Knock) -> tuple[int, str]:
    return answer.status, answer.text.replace(answer.header("x-request-id"), "…")


@each_way
def test_without_a_key_nothing_is_told_and_nothing_is_kept(alice: User, path: str, method: str) -> None:
    async def story() -> None:
        async with open_house():
            own = await stored(await key_of(alice, keeps_responses=True))
            before = await in_thread(rows)()
            refused = await come(path, method, of=wanted(path, own))
            assert refused.status == 401 and refused.header("www-authenticate") == "Bearer"
            assert "/settings/keys/" in refused.error["message"]
            assert await in_thread(rows)() == before

    play(story())


def rows() -> list[Any]:
    counted = (KeyRequest.objects.count(), StoredResponse.objects.count())
    return [counted, list(ApiKey.objects.order_by("pk").values_list("pk", "last_used_at", "last_program"))]


async def wrong(owner: User, secret: str) -> str:
    return secret[:-1] + ("a" if secret[-1] != "a" else "b")


async def revoked(owner: User, secret: str) -> str:
    await in_thread(lambda: [keys.revoke_key(owner, row.pk) for row in ApiKey.objects.filter(owner=owner)])()
    return secret


async def expired(owner: User, secret: str) -> str:
    past = timezone.now() - timedelta(seconds=1)
    await in_thread(lambda: ApiKey.objects.filter(owner=owner).update(expires_at=past))()
    return secret


async def of_somebody_deactivated(owner: User, secret: str) -> str:
    await in_thread(lambda: User.objects.filter(pk=owner.pk).update(is_active=False))()
    return secret


async def of_somebody_who_may_have_none(owner: User, secret: str) -> str:
    await in_thread(lambda: KeyRule.objects.create(who=Who.EVERYBODY, may_have_keys=False))()
    return secret


async def garbage(owner: User, secret: str) -> str:
    return "\xff\xfe garbage; DROP"


async def as_an_id(owner: User, secret: str) -> str:
    """What stands in the page, and in the database."""
    return str(await in_thread(ApiKey.objects.values_list("digest", flat=True).get)(owner=owner))


DEAD = (
    wrong,
    revoked,
    expired,
    of_somebody_deactivated,
    of_somebody_who_may_have_none,
    garbage,
    as_an_id,
)


@pytest.mark.parametrize("dead", DEAD)
@each_way
def test_a_dead_key_is_like_one_that_never_was(
    alice: User, path: str, method: str, dead: Callable[[User, str], Awaitable[str]]
) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)
            own, here = await stored(secret), somewhere()
            tried = await dead(alice, secret)
            before = await in_thread(rows)()
            refused = await come(path, method, tried, wanted(path, own), here=here)
            never = await come(path, method, "tl_" + "x" * 43, wanted(path, own), here=here)
            assert refused.status == 401 and same(refused) == same(never)
            assert "opens nothing" in refused.error["message"]
            assert await in_thread(rows)() == before

    play(story())


@pytest.mark.parametrize("dead", [revoked, expired, of_somebody_deactivated, of_somebody_who_may_have_none])
@pytest.mark.parametrize("path", ASKING)
def test_a_key_that_was_seen_alive_is_told_nothing_but_that_it_is_dead(
    alice: User, path: str, dead: Callable[[User, str], Awaitable[str]]
) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            assert (await knock("POST", path, asking(path), key=secret)).status == 200
            await dead(alice, secret)
            await in_thread(DailyLimit.objects.create)(who="everybody", turns=0)
            wrong = [b"{", asking(path, "nobody:gone"), asking(path, temperature="hot")]
            wrong += [asking(path, previous_response_id="resp_" + "0" * 26)] if path == RESPONSES else []
            for body in (*wrong, asking(path)):
                refused = await knock("POST", path, body, key=secret, here=somewhere())
                assert refused.status == 401 and "opens nothing" in refused.error["message"]

    play(story())


@each_way
def test_a_key_opens_every_address_by_either_header_and_one_that_manages_opens_no_more(
    alice: User, dana: User, path: str, method: str
) -> None:
    async def story() -> None:
        async with open_house():
            for person, more in ((alice, {}), (dana, {"is_management": True})):
                secret = await key_of(person, keeps_responses=True, **more)
                for headers in (
                    {"authorization": f"Bearer {secret}"},
                    {"authorization": f"bearer  {secret} "},
                    {"x-api-key": secret},
                ):
                    of = wanted(path, await stored(secret))
                    opened = await come(path, method, of=of, headers=headers)
                    # What was not made in the background cannot be cancelled.
                    assert opened.status == (400 if path.endswith("/cancel") else 200), opened.text

    play(story())


@pytest.mark.parametrize(("path", "method"), OF_RESPONSES)
def test_another_persons_response_is_like_what_does_not_exist(
    alice: User, bob: User, dana: User, path: str, method: str
) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)
            own = await stored(secret)
            for person, more in ((bob, {}), (dana, {"is_management": True})):
                theirs = await key_of(person, keeps_responses=True, **more)
                refused = await come(path, method, theirs, own)
                nothing = "resp_" + "0" * 26
                never = await come(path, method, theirs, nothing)
                assert refused.status == 404
                assert same(refused) == (404, same(never)[1].replace(nothing, own))
            assert (await in_thread(StoredResponse.objects.count)()) == 1
            another = await come(path, method, await key_of(alice), own)
            assert another.status == (400 if path.endswith("/cancel") else 200)

    play(story())


def test_nobody_goes_on_from_another_persons_response_or_names_its_items(alice: User, bob: User) -> None:
    async def story() -> None:
        async with open_house():
            made = await knock(
                "POST",
                RESPONSES,
                asking(RESPONSES, store=True),
                key=await key_of(alice, keeps_responses=True),
            )
            theirs = await key_of(bob, keeps_responses=True)
            refused = await knock(
                "POST", RESPONSES, asking(RESPONSES, previous_response_id=made.json()["id"]), key=theirs
            )
            assert refused.status == 400 and refused.error["code"] == "previous_response_not_found"
            item = {"type": "item_reference", "id": made.json()["output"][0]["id"]}
            words = {"role": "user", "content": "And?"}
            refused = await knock("POST", RESPONSES, asking(RESPONSES) | {"input": [item, words]}, key=theirs)
            assert refused.status == 400 and refused.error["code"] == "item_not_found"

    play(story())


def test_a_key_lists_and_asks_the_models_that_it_may_alone(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, models=["demo:talker"])
            listed = await knock("GET", "/v1/models", key=secret)
            assert {row["id"] for row in listed.json()["data"]} == {"demo:talker", "talker"}
            assert (await knock("GET", "/v1/models/demo:thinker", key=secret)).status == 404
            for path in ("/v1/chat/completions", RESPONSES, "/v1/messages", f"{RESPONSES}/compact"):
                refused = await knock("POST", path, asking(path), key=secret)
                assert refused.status == 404 and "may not ask" in refused.error["message"]
            assert not await in_thread(KeyRequest.objects.exists)()

    play(story())


@pytest.mark.parametrize("name", ["demo:talker", "demo/talker", "demo%2Ftalker", "talker", "gpt-4"])
def test_a_model_is_shown_by_every_name_by_which_it_can_be_asked(alice: User, name: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, models=["demo:talker"], names={"gpt-4": "demo:talker"})
            for headers in ({}, {"anthropic-version": "2023-06-01"}):
                shown = await knock("GET", f"/v1/models/{name}", key=secret, headers=headers)
                assert shown.status == 200 and shown.json()["id"] == unquote(name)
            asked = await knock("POST", CHAT, asking(CHAT, unquote(name)), key=secret)
            assert asked.status == 200

    play(story())


@pytest.mark.parametrize("path", ASKING)
@pytest.mark.parametrize("unnamed", [{}, {"model": ""}, {"model": None}])
def test_whoever_names_no_model_is_answered_by_the_one_of_the_key(
    alice: User, path: str, unnamed: dict[str, Any]
) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, default_model="demo:talker")
            body = asking(path)
            del body["model"]
            answer = await knock("POST", path, body | unnamed, key=secret)
            assert answer.status == 200 and answer.json()["model"] == "demo:talker"

    play(story())


@pytest.mark.parametrize("path", ROUTES)
def test_other_methods_are_refused_with_those_that_there_are(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            for method in METHODS:
                if method in ROUTES[path] or (method == "HEAD" and "GET" in ROUTES[path]):
                    continue
                refused = await come(path, method, secret)
                assert refused.status == 405, method
                assert set(refused.header("allow").split(", ")) >= set(ROUTES[path])
                assert refused.error["message"].startswith(path.replace("{id}", "none"))

    play(story())


@pytest.mark.parametrize(("path", "method"), WAYS)
def test_a_session_opens_nothing_and_nothing_is_said_to_browsers(alice: User, path: str, method: str) -> None:
    """No cookie is read or set, and no page of another site is let in."""

    async def story() -> None:
        async with open_house():
            session = await in_thread(session_of)(alice)
            headers = {"cookie": f"sessionid={session}", "origin": "https://elsewhere.example"}
            found = await come(path, method, headers=headers)
            assert found.status == (200 if path in OPEN else 401)
            secret = await key_of(alice)
            opened = await come(path, method, secret, headers=headers)
            for answer in (found, opened):
                names = {name.lower() for name, _ in answer.headers}
                assert not {each for each in names if each.startswith("access-control") or "cookie" in each}
                assert answer.header("cache-control") == "no-store"
                assert answer.header("x-content-type-options") == "nosniff"

    play(story())


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/", "/v1/messages/none", "/v1/responses/a/b/c"])
def test_what_is_not_there_is_told_in_the_shape_of_the_door_that_is_nearest(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            for method in ("GET", "POST"):
                missing = await knock(method, path, key=await key_of(alice))
                assert missing.status == 404 and missing.error["message"].endswith("here.")

    play(story())
