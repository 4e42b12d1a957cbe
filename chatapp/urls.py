"""Every HTTP address."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from .accounts.views import accounts, leaving, settings
from .admin_pages import site
from .branches.views import compare, map
from .branches.views import fork as forking
from .branches.views import picker as branches
from .catalog import views as models
from .conversations.views import asking, conversations, deciding, deleting, home, instructions, thread, tools
from .insight import views as insight
from .pages import errors
from .pages.health import views as health
from .pages.staff import again
from .reviews.views import reviewing, submitting
from .sharing.views import links as sharing
from .sharing.views import shared
from .thread import views as copying

handler400, handler403 = errors.bad_request, errors.forbidden
handler404, handler500 = errors.not_found, errors.broken
urlpatterns = [
    path("", home.home, name="home"),
    path("models/", models.models, name="models"),
    path("settings/", settings.settings, name="settings"),
    path("settings/delete/", leaving.Leave.as_view(), name="leave"),
    path("ask/", asking.ask_first, name="ask_first"),
    path("c/<uuid:pk>/", thread.conversation, name="conversation"),
    path("c/<uuid:pk>/ask/", asking.ask, name="ask"),
    path("c/<uuid:pk>/earlier/", thread.earlier, name="earlier"),
    path("m/<uuid:pk>/edit/", asking.edit, name="edit"),
    path("m/<uuid:pk>/again/", asking.again, name="again"),
    path("m/<uuid:pk>/stop/", asking.stop, name="stop"),
    path("m/<uuid:pk>/decide/", deciding.decide, name="decide"),
    path("m/<uuid:pk>/continue/", asking.go_on, name="go_on"),
    path("m/<uuid:pk>/go/", branches.go, name="go"),
    path("c/<uuid:pk>/instructions/", instructions.instructions, name="instructions"),
    path("c/<uuid:pk>/tools/", tools.tools, name="tools"),
    path("c/<uuid:pk>/tools/take-back/", tools.take_back, name="take_back"),
    path("c/<uuid:pk>/title/", conversations.title, name="title"),
    path("c/<uuid:pk>/pin/", conversations.pin, name="pin"),
    path("c/<uuid:pk>/archive/", conversations.archive, name="archive"),
    path("c/<uuid:pk>/delete/", conversations.delete, name="delete_conversation"),
    path("c/<uuid:pk>/restore/", conversations.restore, name="restore_conversation"),
    path("c/<uuid:pk>/map/", map.show, name="map"),
    path("compare/", compare.compare, name="compare"),
    path("m/<uuid:pk>/copy/", copying.markdown, name="copy"),
    path("m/<uuid:pk>/delete/", deleting.delete, name="delete"),
    path("m/<uuid:pk>/fork/", forking.fork, name="fork"),
    path("m/<uuid:pk>/share/", sharing.share, name="share"),
    path("shares/", sharing.shares, name="shares"),
    path("shares/<uuid:pk>/revoke/", sharing.revoke, name="revoke"),
    path("s/<token>/", shared.shared, name="shared"),
    path("s/<token>/open/", shared.still_open, name="still_open"),
    path("s/<token>/fork/", shared.fork, name="fork_shared"),
    path("m/<uuid:pk>/submit/", submitting.submit, name="submit"),
    path("reviews/", submitting.reviews, name="reviews"),
    path("reviews/<uuid:pk>/withdraw/", submitting.withdraw, name="withdraw"),
    path("reviews/asked/<uuid:pk>/decline/", submitting.decline, name="decline"),
    path("review/", reviewing.queue, name="queue"),
    path("review/ask/<uuid:pk>/", submitting.ask, name="ask_to_submit"),
    path("review/<uuid:pk>/", reviewing.review, name="review"),
    path("review/<uuid:pk>/open/", reviewing.still_there, name="still_there"),
    path("review/<uuid:pk>/claim/", reviewing.claim, name="claim"),
    path("review/<uuid:pk>/release/", reviewing.release, name="release"),
    path("review/<uuid:pk>/assign/", reviewing.assign, name="assign"),
    path("review/<uuid:pk>/note/", reviewing.note, name="note"),
    path("review/<uuid:pk>/verdict/", reviewing.verdict, name="verdict"),
    path("review/<uuid:pk>/fork/", reviewing.fork, name="fork_submitted"),
    path("undo/<uuid:deletion>/", deleting.undo, name="undo"),
    path("conversations/", conversations.conversations, name="conversations"),
    path("insight/", insight.insight, name="insight"),
    path("insight/<slug:what>.csv", insight.insight_sheet, name="insight_sheet"),
    path("accounts/login/", accounts.SignIn.as_view(), name="login"),
    path("accounts/signup/", accounts.SignUp.as_view(), name="signup"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("accounts/again/", again.GivePassword.as_view(), name="again"),
    path("accounts/password/", accounts.ChangePassword.as_view(), name="password"),
    path("accounts/password/done/", accounts.password_done, name="password_done"),
    path("accounts/email/", accounts.ChangeEmail.as_view(), name="email"),
    path("accounts/email/done/", accounts.email_done, name="email_done"),
    path("accounts/reset/", accounts.Reset.as_view(), name="reset"),
    path("accounts/reset/done/", accounts.reset_done, name="reset_done"),
    path("accounts/reset/complete/", accounts.reset_complete, name="reset_complete"),
    path("accounts/reset/<uidb64>/<token>/", accounts.ResetConfirm.as_view(), name="reset_confirm"),
    path("accounts/once/<uidb64>/<token>/", accounts.UseLink.as_view(), name="use_link"),
    path("admin/", site.urls),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", health.metrics),
]
