"""Operations, declared once and served as REST, GraphQL and AWS Lambda handlers.

from keyfold.serve import Identity, PageRequest, Service, authenticated, mutation, query
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold.serve.identity import ANONYMOUS, Identity
    from keyfold.serve.links import MediaLink, MediaStore
    from keyfold.serve.names import Payload
    from keyfold.serve.operation import mutation, query, related
    from keyfold.serve.paging import PageRequest
    from keyfold.serve.problems import (
        Conflict,
        FieldError,
        Invalid,
        Missing,
        NotAllowed,
        NotAuthenticated,
        Refused,
        TooMany,
    )
    from keyfold.serve.rules import Arguments, Rule, admin, anyone, authenticated, itself, rule
    from keyfold.serve.service import Service

__all__ = [
    "ANONYMOUS",
    "Arguments",
    "Conflict",
    "FieldError",
    "Identity",
    "Invalid",
    "MediaLink",
    "MediaStore",
    "Missing",
    "NotAllowed",
    "NotAuthenticated",
    "PageRequest",
    "Payload",
    "Refused",
    "Rule",
    "Service",
    "TooMany",
    "admin",
    "anyone",
    "authenticated",
    "itself",
    "mutation",
    "query",
    "related",
    "rule",
]

# `keyfold serve` needs none of these and starts without them.
_HOMES = {
    "keyfold.serve.identity": (
        "ANONYMOUS",
        "Identity",
    ),
    "keyfold.serve.links": (
        "MediaLink",
        "MediaStore",
    ),
    "keyfold.serve.names": ("Payload",),
    "keyfold.serve.operation": (
        "mutation",
        "query",
        "related",
    ),
    "keyfold.serve.paging": ("PageRequest",),
    "keyfold.serve.problems": (
        "Conflict",
        "FieldError",
        "Invalid",
        "Missing",
        "NotAllowed",
        "NotAuthenticated",
        "Refused",
        "TooMany",
    ),
    "keyfold.serve.rules": (
        "Arguments",
        "Rule",
        "admin",
        "anyone",
        "authenticated",
        "itself",
        "rule",
    ),
    "keyfold.serve.service": ("Service",),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'keyfold.serve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
