"""Operations, declared once and served as REST, GraphQL and AWS Lambda handlers.

from keyfold.serve import Identity, PageRequest, Service, authenticated, mutation, query
"""

from __future__ import annotations

from .identity import ANONYMOUS, Identity
from .names import Payload
from .operation import mutation, query, related
from .paging import PageRequest
from .problems import (
    Conflict,
    FieldError,
    Invalid,
    Missing,
    NotAllowed,
    NotAuthenticated,
    Refused,
    TooMany,
)
from .rules import Arguments, Rule, admin, anyone, authenticated, itself, rule
from .service import Service

__all__ = [
    "ANONYMOUS",
    "Arguments",
    "Conflict",
    "FieldError",
    "Identity",
    "Invalid",
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
