"""What one submits, and the queue of those who review it."""

from __future__ import annotations

from django.urls import path

from .views import reviewing, submitting

urlpatterns = [
    path("m/<uuid:pk>/submit/", submitting.submit, name="submit"),
    path("reviews/", submitting.reviews, name="reviews"),
    path("reviews/<uuid:pk>/withdraw/", submitting.withdraw, name="withdraw"),
    path("reviews/asked/<uuid:pk>/decline/", submitting.decline, name="decline"),
    path("review/", reviewing.queue, name="queue"),
    path("review/ask/<uuid:pk>/", submitting.ask_to_submit, name="ask_to_submit"),
    path("review/<uuid:pk>/", reviewing.review, name="review"),
    path("review/<uuid:pk>/open/", reviewing.still_there, name="still_there"),
    path("review/<uuid:pk>/claim/", reviewing.claim, name="claim"),
    path("review/<uuid:pk>/release/", reviewing.release, name="release"),
    path("review/<uuid:pk>/assign/", reviewing.assign, name="assign"),
    path("review/<uuid:pk>/note/", reviewing.note, name="note"),
    path("review/<uuid:pk>/verdict/", reviewing.verdict, name="verdict"),
    path("review/<uuid:pk>/fork/", reviewing.fork, name="fork_submitted"),
]
