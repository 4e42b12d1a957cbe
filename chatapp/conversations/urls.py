"""Conversations: the first page, one of them with what is done to it, the list of all."""

from __future__ import annotations

from django.urls import path

from .views import asking, conversations, deciding, deleting, home, instructions, thread, tools

urlpatterns = [
    path("", home.home, name="home"),
    path("ask/", asking.ask_first, name="ask_first"),
    path("c/<uuid:pk>/", thread.conversation, name="conversation"),
    path("c/<uuid:pk>/ask/", asking.ask, name="ask"),
    path("c/<uuid:pk>/earlier/", thread.earlier, name="earlier"),
    path("m/<uuid:pk>/edit/", asking.edit, name="edit"),
    path("m/<uuid:pk>/again/", asking.again, name="again"),
    path("m/<uuid:pk>/stop/", asking.stop, name="stop"),
    path("m/<uuid:pk>/decide/", deciding.decide, name="decide"),
    path("m/<uuid:pk>/continue/", asking.go_on, name="go_on"),
    path("c/<uuid:pk>/instructions/", instructions.instructions, name="instructions"),
    path("c/<uuid:pk>/tools/", tools.tools, name="tools"),
    path("c/<uuid:pk>/tools/take-back/", tools.take_back, name="take_back"),
    path("c/<uuid:pk>/title/", conversations.title, name="title"),
    path("c/<uuid:pk>/pin/", conversations.pin, name="pin"),
    path("c/<uuid:pk>/archive/", conversations.archive, name="archive"),
    path("c/<uuid:pk>/delete/", conversations.delete_conversation, name="delete_conversation"),
    path("c/<uuid:pk>/restore/", conversations.restore, name="restore_conversation"),
    path("m/<uuid:pk>/delete/", deleting.delete_messages, name="delete"),
    path("undo/<uuid:deletion>/", deleting.undo, name="undo"),
    path("conversations/", conversations.conversations, name="conversations"),
]
