"""A database that cannot do its work is told from a mistake of ours by what the database itself said."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse

from chatapp.config.patience import SECONDS, left, patience
from chatapp.store.database.threads import SOON, if_possible
from chatapp.store.database.trouble import DatabaseTrouble, Waited, trouble_in
from chatapp.store.running_models import Throttle
from tests.support.faults import FAULTS, full, locked, read_only, short_patience


def failure(work) -> DatabaseError:
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        work()
    return caught.value


def ask(sql: str):
    def asking() -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql)

    return asking


def twice() -> None:
    Throttle.objects.create(name="one")
    Throttle.objects.create(name="one")


MISTAKES = {
    "no such table": ask("SELECT 1 FROM nowhere"),
    "no such column": ask("SELECT nothing FROM chatapp_message"),
    "no sentence": ask("SELEKT"),
    "twice": twice,
}


@pytest.mark.both
@pytest.mark.django_db
@pytest.mark.parametrize("work", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_of_ours_is_no_trouble_of_the_database(work):
    assert trouble_in(failure(work)) is None


def test_neither_is_anything_else():
    assert trouble_in(None) is None
    assert trouble_in(ValueError("database is locked")) is None
    assert trouble_in(DatabaseError("database is locked")) is None


def test_waiting_for_those_who_wait_is_being_busy():
    assert trouble_in(Waited()) is DatabaseTrouble.BUSY


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_a_session_that_could_not_be_written_is_traced_to_its_cause():
    """Django's middleware would say that it was deleted meanwhile."""
    session = SessionStore()
    session.create()
    with read_only(), pytest.raises(SessionInterrupted) as caught:
        SessionMiddleware(changing)(request_with(session))
    assert trouble_in(caught.value) is DatabaseTrouble.READ_ONLY


def changing(request: HttpRequest) -> HttpResponse:
    request.session["changed"] = True
    return HttpResponse()


def request_with(session: SessionStore) -> HttpRequest:
    request = HttpRequest()
    request.COOKIES[settings.SESSION_COOKIE_NAME] = session.session_key
    return request


FAILS = {"locked": DatabaseTrouble.BUSY, "read only": DatabaseTrouble.READ_ONLY, "away": DatabaseTrouble.AWAY}


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("fault", "trouble"), FAILS.items())
def test_what_the_database_says_is_understood(fault, trouble):
    with short_patience(), FAULTS[fault](), patience(), pytest.raises(DatabaseError) as caught:
        Throttle.objects.create(name="one")
    assert trouble_in(caught.value) is trouble


@pytest.mark.django_db(transaction=True)
def test_a_full_disk_is_understood():
    with full(), pytest.raises(DatabaseError) as caught:
        Throttle.objects.bulk_create(Throttle(name=f"{n} {'x' * 90}") for n in range(1000))
    assert trouble_in(caught.value) is DatabaseTrouble.FULL


@pytest.mark.django_db(transaction=True)
def test_who_waited_for_what_was_left_out_waits_so_much_less_for_the_rest():
    with locked(), patience():
        assert if_possible(Throttle.objects.create, name="one") is None
        assert left() < SECONDS - SOON / 2
