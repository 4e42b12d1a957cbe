"""An address that breaks."""

from django.urls import path


def broken(request):
    raise RuntimeError("canary")


urlpatterns = [path("", broken)]
