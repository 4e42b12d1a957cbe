"""Every HTTP address: a line a room, with what its addresses begin with."""

from __future__ import annotations

from django.urls import include, path

from .accounts import urls as accounts
from .admin_pages import site
from .branches import urls as branches
from .catalog import urls as catalog
from .conversations import urls as conversations
from .exchange import urls as exchange
from .gateway import urls as gateway
from .gateway.cache import urls as thoughts
from .insight import urls as insight
from .next_questions import urls as next_questions
from .operation import urls as operation
from .pages import errors
from .pages import urls as pages
from .reviews import urls as reviews
from .search import urls as search
from .sharing import urls as sharing
from .thread import urls as thread

handler400, handler403 = errors.bad_request, errors.forbidden
handler404, handler500 = errors.not_found, errors.broken
urlpatterns = [
    path("", include(conversations)),  # / ask/ c/<id>/ conversations/ m/<id>/ undo/
    path("", include(next_questions)),  # m/<id>/next/
    path("", include(thread)),  # m/<id>/copy/ picture/
    path("", include(branches)),  # c/<id>/map/ compare/ m/<id>/fork/ m/<id>/go/
    path("", include(search)),  # search/
    path("", include(sharing)),  # m/<id>/share/ s/<token>/ shares/
    path("", include(reviews)),  # m/<id>/submit/ review/ reviews/
    path("", include(exchange)),  # c/<id>/export/ import/ settings/export/ review/export/
    path("", include(accounts)),  # accounts/ settings/
    path("", include(gateway)),  # settings/keys/
    path("", include(catalog)),  # models/
    path("", include(thoughts)),  # api/cache/ insight/cache/
    path("", include(insight)),  # insight/
    path("", include(operation)),  # insight/operation/ health/ metrics
    path("admin/", site.urls),
    path("", include(pages)),  # accounts/again/
]
