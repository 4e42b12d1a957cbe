"""What is promised of keys is proved with the log."""

from __future__ import annotations

import pytest

from chatapp.gateway.models import ApiKey, KeyRequest
from chatapp.gateway.store.keys import KeyChoices, create_key
from chatapp.gateway.store.requests import begin_request
from chatapp.store import verify_log

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def test_every_breach_is_named_and_what_is_whole_is_not(alice, bob):
    row, _ = create_key(alice, KeyChoices(name="Editor", models=["a:b"], names={"c": "a:b"}))
    begin_request(row, model="a:b", estimate=1, runner="here")
    assert list(verify_log()) == []
    ApiKey.objects.update(digest="tl_readable", models="a:b", names={"c": 1})
    KeyRequest.objects.update(owner=bob)
    assert [each.partition(": ")[2] for each in verify_log()] == [
        "what is kept of it is no digest.",
        "the models that it may ask cannot be read.",
        "its own names for models cannot be read.",
        "it is not of its key's owner.",
    ]
