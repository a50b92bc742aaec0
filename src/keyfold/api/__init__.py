"""Operations, declared once and served as REST, GraphQL and AWS Lambda handlers.

from keyfold.api import Identity, PageRequest, Service, authenticated, mutation, query
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold.api.auth import Tokens
    from keyfold.api.identity import ANONYMOUS, Identity
    from keyfold.api.links import MediaLink, MediaStore, upload_folder
    from keyfold.api.names import Payload, cleared, unchanged
    from keyfold.api.notifications import (
        Inbox,
        Marked,
        NoticeFields,
        Notifications,
        Unread,
    )
    from keyfold.api.operation import mutation, query, related
    from keyfold.api.oversight import (
        AuditFields,
        Oversight,
        Removed,
        ReportFields,
        Subject,
        Trail,
        moderator,
    )
    from keyfold.api.page_request import PageRequest
    from keyfold.api.passwords import Password, PasswordFields, Passwords
    from keyfold.api.personal import Belonging, PersonalData
    from keyfold.api.problems import (
        Conflict,
        FieldError,
        Invalid,
        Missing,
        NotAllowed,
        NotAuthenticated,
        Refused,
        TooMany,
    )
    from keyfold.api.relations import relation
    from keyfold.api.rules import Arguments, Rule, admin, anyone, authenticated, itself, rule
    from keyfold.api.service import Service
    from keyfold.api.subscriptions import subscription
    from keyfold.api.suspension import Suspending, SuspensionFields, Suspensions

__all__ = [
    "ANONYMOUS",
    "Arguments",
    "AuditFields",
    "Belonging",
    "Conflict",
    "FieldError",
    "Identity",
    "Inbox",
    "Invalid",
    "Marked",
    "MediaLink",
    "MediaStore",
    "Missing",
    "NotAllowed",
    "NotAuthenticated",
    "NoticeFields",
    "Notifications",
    "Oversight",
    "PageRequest",
    "Password",
    "PasswordFields",
    "Passwords",
    "Payload",
    "PersonalData",
    "Refused",
    "Removed",
    "ReportFields",
    "Rule",
    "Service",
    "Subject",
    "Suspending",
    "SuspensionFields",
    "Suspensions",
    "Tokens",
    "TooMany",
    "Trail",
    "Unread",
    "admin",
    "anyone",
    "authenticated",
    "cleared",
    "itself",
    "moderator",
    "mutation",
    "query",
    "related",
    "relation",
    "rule",
    "subscription",
    "unchanged",
    "upload_folder",
]

# `keyfold serve` needs none of these and starts without them.
_HOMES = {
    "keyfold.api.auth": ("Tokens",),
    "keyfold.api.identity": (
        "ANONYMOUS",
        "Identity",
    ),
    "keyfold.api.links": ("MediaLink", "MediaStore", "upload_folder"),
    "keyfold.api.names": ("Payload", "cleared", "unchanged"),
    "keyfold.api.notifications": (
        "Inbox",
        "Marked",
        "NoticeFields",
        "Notifications",
        "Unread",
    ),
    "keyfold.api.operation": (
        "mutation",
        "query",
        "related",
    ),
    "keyfold.api.oversight": (
        "AuditFields",
        "Oversight",
        "Removed",
        "ReportFields",
        "Subject",
        "Trail",
        "moderator",
    ),
    "keyfold.api.page_request": ("PageRequest",),
    "keyfold.api.passwords": ("Password", "PasswordFields", "Passwords"),
    "keyfold.api.personal": ("Belonging", "PersonalData"),
    "keyfold.api.problems": (
        "Conflict",
        "FieldError",
        "Invalid",
        "Missing",
        "NotAllowed",
        "NotAuthenticated",
        "Refused",
        "TooMany",
    ),
    "keyfold.api.relations": ("relation",),
    "keyfold.api.rules": (
        "Arguments",
        "Rule",
        "admin",
        "anyone",
        "authenticated",
        "itself",
        "rule",
    ),
    "keyfold.api.service": ("Service",),
    "keyfold.api.subscriptions": ("subscription",),
    "keyfold.api.suspension": ("Suspending", "SuspensionFields", "Suspensions"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'keyfold.api' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
