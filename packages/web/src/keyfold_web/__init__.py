"""Operations, declared once and served as REST, GraphQL and AWS Lambda handlers.

from keyfold_web import Identity, PageRequest, Service, authenticated, mutation, query
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from keyfold_engine import expect_version

if TYPE_CHECKING:
    from keyfold_web.auth import Tokens
    from keyfold_web.identity import ANONYMOUS, Identity
    from keyfold_web.item_view import ItemView
    from keyfold_web.names import Payload, cleared, unchanged
    from keyfold_web.operation import mutation, query, related
    from keyfold_web.page_request import PageRequest
    from keyfold_web.problems import (
        Conflict,
        FieldError,
        Invalid,
        Missing,
        NotAllowed,
        NotAuthenticated,
        Refused,
        TooMany,
    )
    from keyfold_web.rules import Arguments, Rule, admin, anyone, authenticated, itself, rule
    from keyfold_web.service import Service
    from keyfold_web.subscriptions import subscription

__version__ = "0.1.0"
expect_version("keyfold-web", __version__)

__all__ = [
    "ANONYMOUS",
    "Arguments",
    "Conflict",
    "FieldError",
    "Identity",
    "Invalid",
    "ItemView",
    "Missing",
    "NotAllowed",
    "NotAuthenticated",
    "PageRequest",
    "Payload",
    "Refused",
    "Rule",
    "Service",
    "Tokens",
    "TooMany",
    "admin",
    "anyone",
    "authenticated",
    "cleared",
    "itself",
    "mutation",
    "query",
    "related",
    "rule",
    "subscription",
    "unchanged",
]

# `keyfold serve` needs none of these and starts without them.
_HOMES = {
    "keyfold_web.auth": ("Tokens",),
    "keyfold_web.identity": (
        "ANONYMOUS",
        "Identity",
    ),
    "keyfold_web.names": ("Payload", "cleared", "unchanged"),
    "keyfold_web.operation": (
        "mutation",
        "query",
        "related",
    ),
    "keyfold_web.page_request": ("PageRequest",),
    "keyfold_web.problems": (
        "Conflict",
        "FieldError",
        "Invalid",
        "Missing",
        "NotAllowed",
        "NotAuthenticated",
        "Refused",
        "TooMany",
    ),
    "keyfold_web.rules": (
        "Arguments",
        "Rule",
        "admin",
        "anyone",
        "authenticated",
        "itself",
        "rule",
    ),
    "keyfold_web.service": ("Service",),
    "keyfold_web.subscriptions": ("subscription",),
    "keyfold_web.item_view": ("ItemView",),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'keyfold_web' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
