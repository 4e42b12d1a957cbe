"""Every address of `/v1/`."""

from __future__ import annotations

from ..described.page import show_page
from ..doors import chat, messages, responses
from .counting import count_input, count_tokens
from .http import GatewayApplication, Routes
from .listing import list_models, show_model
from .responding import cancel_response, compact, delete_response, list_input, show_response
from .serving import asks
from .socket import RespondingSocket

ROUTES: Routes = {
    "/v1/openapi.json": {"GET": (chat.DOOR, show_page)},
    "/v1/models": {"GET": (chat.DOOR, list_models)},
    "/v1/models/{id}": {"GET": (chat.DOOR, show_model)},
    "/v1/chat/completions": {"POST": (chat.DOOR, asks(chat.DOOR))},
    "/v1/responses": {"POST": (responses.DOOR, asks(responses.DOOR))},
    "/v1/responses/compact": {"POST": (responses.DOOR, compact)},
    "/v1/responses/input_tokens": {"POST": (responses.DOOR, count_input)},
    "/v1/responses/{id}": {
        "GET": (responses.DOOR, show_response),
        "DELETE": (responses.DOOR, delete_response),
    },
    "/v1/responses/{id}/cancel": {"POST": (responses.DOOR, cancel_response)},
    "/v1/responses/{id}/input_items": {"GET": (responses.DOOR, list_input)},
    "/v1/messages": {"POST": (messages.DOOR, asks(messages.DOOR))},
    "/v1/messages/count_tokens": {"POST": (messages.DOOR, count_tokens)},
}
programs = GatewayApplication(ROUTES, chat.DOOR)
responding_socket = RespondingSocket.as_asgi()
