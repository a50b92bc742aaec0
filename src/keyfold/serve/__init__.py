"""Operations, declared once and served as REST, GraphQL and AWS Lambda handlers.

from keyfold.serve import Identity, PageRequest, Service, authenticated, mutation, query
"""

from __future__ import annotations

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
