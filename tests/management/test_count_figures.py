"""Answers from before figures were kept are counted by the first command that comes, and never twice."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from chatapp import store
from chatapp.insight.models import ModelDay, PersonDay
from chatapp.management.tables import COUNTING
from tests.support.sums import in_all

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def from_before(alice):
    for _ in range(2):
        asked = store.AskedFor(model="demo:thinker")
        store.stop(store.open_conversation(alice, "Why?", tools=[], asked=asked).answer, None)
    ModelDay.objects.all().delete()
    PersonDay.objects.all().delete()


def test_whatever_brings_the_tables_up_to_date_counts_them_once(from_before, capsys):
    call_command("purge")
    assert in_all()["answers"] == 2
    assert COUNTING in capsys.readouterr().err
    call_command("count_figures")
    told = capsys.readouterr()
    assert "Figures are kept already." in told.out and COUNTING not in told.err
    assert in_all()["answers"] == 2


def test_anew_means_anew(from_before, capsys):
    ModelDay.objects.create(day="2020-01-01", model="a:b", counts={"answers": 7})
    call_command("count_figures", "--anew")
    assert "2 answers were counted." in capsys.readouterr().out
    assert in_all()["answers"] == 2


def test_with_nothing_to_count_nothing_is_said(db, capsys):
    call_command("count_figures")
    assert COUNTING not in capsys.readouterr().err
