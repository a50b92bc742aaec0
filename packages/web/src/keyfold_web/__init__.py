"""Operations, declared once and served as REST, GraphQL and AWS Lambda handlers.

from keyfold_web import Identity, PageRequest, Service, authenticated, mutation, query
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold_web.auth import Tokens
    from keyfold_web.identity import ANONYMOUS, Identity
    from keyfold_web.links import MediaLink, MediaStore, upload_folder
    from keyfold_web.names import Payload, cleared, unchanged
    from keyfold_web.notifications import (
        Inbox,
        Marked,
        NoticeFields,
        Notifications,
        Unread,
    )
    from keyfold_web.operation import mutation, query, related
    from keyfold_web.oversight import (
        AuditFields,
        Oversight,
        Removed,
        ReportFields,
        Subject,
        Trail,
        moderator,
    )
    from keyfold_web.page_request import PageRequest
    from keyfold_web.passwords import Password, PasswordFields, Passwords
    from keyfold_web.personal import Belonging, PersonalData
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
    from keyfold_web.relations import relation
    from keyfold_web.rules import Arguments, Rule, admin, anyone, authenticated, itself, rule
    from keyfold_web.service import Service
    from keyfold_web.subscriptions import subscription
    from keyfold_web.suspension import Suspending, SuspensionFields, Suspensions

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
    "keyfold_web.auth": ("Tokens",),
    "keyfold_web.identity": (
        "ANONYMOUS",
        "Identity",
    ),
    "keyfold_web.links": ("MediaLink", "MediaStore", "upload_folder"),
    "keyfold_web.names": ("Payload", "cleared", "unchanged"),
    "keyfold_web.notifications": (
        "Inbox",
        "Marked",
        "NoticeFields",
        "Notifications",
        "Unread",
    ),
    "keyfold_web.operation": (
        "mutation",
        "query",
        "related",
    ),
    "keyfold_web.oversight": (
        "AuditFields",
        "Oversight",
        "Removed",
        "ReportFields",
        "Subject",
        "Trail",
        "moderator",
    ),
    "keyfold_web.page_request": ("PageRequest",),
    "keyfold_web.passwords": ("Password", "PasswordFields", "Passwords"),
    "keyfold_web.personal": ("Belonging", "PersonalData"),
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
    "keyfold_web.relations": ("relation",),
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
    "keyfold_web.suspension": ("Suspending", "SuspensionFields", "Suspensions"),
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
