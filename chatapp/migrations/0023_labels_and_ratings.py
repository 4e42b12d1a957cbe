from uuid import uuid4

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("chatapp", "0022_passages"),
    ]

    operations = [
        migrations.CreateModel(
            name="LabelSet",
            fields=[
                ("id", models.UUIDField(default=uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=80)),
                ("raters", models.PositiveSmallIntegerField(default=2)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("put_away_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Label",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveSmallIntegerField()),
                ("words", models.CharField(max_length=200)),
                (
                    "of",
                    models.CharField(
                        choices=[("answer", "Each answer"), ("thought", "Each thought")],
                        default="answer",
                        max_length=8,
                    ),
                ),
                (
                    "scale",
                    models.CharField(
                        choices=[
                            ("yes no", "Yes or no"),
                            ("choice", "One of several"),
                            ("steps", "1 to 5"),
                            ("even steps", "1 to 5, evenly apart"),
                            ("words", "Words"),
                        ],
                        max_length=16,
                    ),
                ),
                ("choices", models.JSONField(default=list)),
                ("low", models.CharField(blank=True, default="", max_length=60)),
                ("high", models.CharField(blank=True, default="", max_length=60)),
                (
                    "label_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="labels",
                        to="chatapp.labelset",
                    ),
                ),
            ],
            options={
                "ordering": ["place"],
                "constraints": [
                    models.UniqueConstraint(fields=("label_set", "place"), name="one_label_at_a_place")
                ],
            },
        ),
        migrations.CreateModel(
            name="Seat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("assigned", models.BooleanField(default=False)),
                ("news", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("reminded_at", models.DateTimeField(blank=True, null=True)),
                ("handed_in_at", models.DateTimeField(blank=True, null=True)),
                (
                    "reviewer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "submission",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seats",
                        to="chatapp.submission",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("submission", "reviewer"), name="one_seat_each")],
            },
        ),
        migrations.CreateModel(
            name="Rating",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item_key", models.CharField(blank=True, default="", max_length=200)),
                ("value", models.TextField()),
                (
                    "label",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ratings",
                        to="chatapp.label",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chatapp.message"
                    ),
                ),
                (
                    "seat",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ratings",
                        to="chatapp.seat",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("seat", "label", "message", "item_key"), name="rated_once")
                ],
            },
        ),
        migrations.AddField(
            model_name="submission",
            name="label_set",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="submissions",
                to="chatapp.labelset",
            ),
        ),
        migrations.AddField(
            model_name="submission",
            name="held_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="submission",
            name="reminded_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
