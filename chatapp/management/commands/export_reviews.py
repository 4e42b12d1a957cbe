"""Writes what reviewers said as lines of JSON. Whoever can start this can read the database as well; owners see that it was done."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from chatapp.exchange.out.as_reviewed import WantedReviews, as_reviewed, chosen_reviews
from chatapp.management import tables
from chatapp.oversight.models import Look
from chatapp.oversight.store.looks import append_looks
from chatapp.pages.staff.rights import may_read


class Command(BaseCommand):
    help = "Write submissions with their verdicts and labels as lines of JSON, of owners who agreed to that."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--by", required=True, help="the administrator whom owners see as having done it")
        parser.add_argument("--reviewer", default="", help="of this reviewer alone")
        parser.add_argument("--model", default="", help="with answers of this model, as provider:model")
        parser.add_argument("--verdict", default="", help="approved, needs work or rejected")
        parser.add_argument("--since", type=date.fromisoformat, help="decided on this day or later")
        parser.add_argument("--until", type=date.fromisoformat, help="decided on this day or before")
        parser.add_argument("--thoughts", action="store_true", help="with the words of thoughts")

    def handle(self, *args: Any, by: str, **options: Any) -> None:
        tables.bring_up_to_date()
        who = User.objects.filter(username=by, is_staff=True, is_active=True).first()
        if who is None:
            raise CommandError(f"{by!r} is no administrator here.")
        if not may_read():
            raise CommandError("ADMIN_CAN_READ_CHATS=0 closes what people said.")
        names = ("reviewer", "model", "verdict", "since", "until", "thoughts")
        wanted = WantedReviews(**{name: options[name] for name in names})
        rows = chosen_reviews(wanted)
        append_looks(who, {row.conversation_id for row in rows}, Look.What.REVIEWS, address="")
        for line in as_reviewed(rows, wanted):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
