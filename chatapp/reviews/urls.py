"""What one submits, and the queue of those who review it."""

from __future__ import annotations

from django.urls import path

from .views import labels, looking, reviewing, submitting, suggesting

urlpatterns = [
    path("m/<uuid:pk>/submit/", submitting.submit, name="submit"),
    path("reviews/", submitting.reviews, name="reviews"),
    path("reviews/<uuid:pk>/withdraw/", submitting.withdraw, name="withdraw"),
    path("reviews/asked/<uuid:pk>/decline/", submitting.decline, name="decline"),
    path("reviews/suggested/<uuid:pk>/", suggesting.suggested, name="suggested"),
    path("reviews/suggested/<uuid:pk>/take/", suggesting.take_suggested, name="take_suggested"),
    path("reviews/suggested/<uuid:pk>/decline/", suggesting.decline_suggested, name="decline_suggested"),
    path("review/", reviewing.queue, name="queue"),
    path("review/assign/", reviewing.assign_some, name="assign_some"),
    path("review/labels/", labels.label_sets, name="label_sets"),
    path("review/labels/<uuid:pk>/", labels.label_set, name="label_set"),
    path("review/labels/<uuid:pk>/away/", labels.put_away, name="put_away"),
    path("review/ask/<uuid:pk>/", submitting.ask_to_submit, name="ask_to_submit"),
    path("review/<uuid:pk>/", reviewing.review, name="review"),
    path("review/<uuid:pk>/open/", reviewing.still_there, name="still_there"),
    path("review/<uuid:pk>/claim/", reviewing.claim, name="claim"),
    path("review/<uuid:pk>/release/", reviewing.release, name="release"),
    path("review/<uuid:pk>/assign/", reviewing.assign, name="assign"),
    path("review/<uuid:pk>/note/", reviewing.note, name="note"),
    path("review/<uuid:pk>/verdict/", reviewing.verdict, name="verdict"),
    path("review/<uuid:pk>/map/", looking.show_map, name="review_map"),
    path("review/<uuid:pk>/compare/", looking.compare, name="review_compare"),
    path("review/<uuid:pk>/suggest/", suggesting.suggest, name="suggest"),
    path("review/<uuid:pk>/rate/", reviewing.rate, name="rate"),
    path("review/<uuid:pk>/fork/", reviewing.fork, name="fork_submitted"),
]
