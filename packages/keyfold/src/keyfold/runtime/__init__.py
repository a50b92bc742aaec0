"""Running a design: handles, reads, writes, transactions and request budgets."""

from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.changes import add, append, clear, remove, set_if_absent
from keyfold.runtime.db import Db
from keyfold.runtime.design import Design
from keyfold.runtime.inside import at
from keyfold.runtime.intent import Intent
from keyfold.runtime.transaction import check, create, delete, put, update, upsert

__all__ = [
    "AsyncDb",
    "Db",
    "Design",
    "Intent",
    "add",
    "append",
    "at",
    "check",
    "clear",
    "create",
    "delete",
    "put",
    "remove",
    "set_if_absent",
    "update",
    "upsert",
]
