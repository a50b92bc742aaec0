"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
from typing import ClassVar, Self, TypeVar
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.query import Query
from keyfold.runtime.changes import Given

import keyfold_systems.tamafriends.oversight as of

E = TypeVar("E", bound=Entity)

class ByAt(Query[E]):
    def after(self, *, at: datetime.datetime | None) -> Self: ...
    def since(self, *, at: datetime.datetime | None) -> Self: ...
    def before(self, *, at: datetime.datetime | None) -> Self: ...
    def until(self, *, at: datetime.datetime | None) -> Self: ...

class ByEntryId(Query[E]):
    def after(self, *, entry_id: str | None) -> Self: ...
    def since(self, *, entry_id: str | None) -> Self: ...
    def before(self, *, entry_id: str | None) -> Self: ...
    def until(self, *, entry_id: str | None) -> Self: ...
    def begins_with(self, *, entry_id: str | None) -> Self: ...

class AuditEntryKey(KeyOf[of.AuditEntry]):
    def __call__(self, *, at: datetime.datetime, entry_id: str) -> Ref[of.AuditEntry]: ...
    def query(self, *, at: datetime.datetime) -> ByAt[of.AuditEntry]: ...

class AuditEntry(Entity):
    key: ClassVar[Key[AuditEntryKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.AuditEntry],
        where: collections.abc.Callable[[of.AuditEntry], object] | None = ...,
        by: Given[str] = ...,
        action: Given[str] = ...,
        subject: Given[str] = ...,
        note: Given[str] = ...,
        excerpt: Given[str] = ...,
    ) -> of.AuditEntry: ...
    def __moves__(
        self,
        *,
        entry_id: str = ...,
        at: datetime.datetime = ...,
        by: str = ...,
        action: str = ...,
        subject: str = ...,
        note: str = ...,
        excerpt: str = ...,
    ) -> of.AuditEntry: ...

class SuspensionKey(KeyOf[of.Suspension]):
    def __call__(self, *, user_id: str) -> Ref[of.Suspension]: ...
    def query(self, *, user_id: str) -> Query[of.Suspension]: ...

class Suspension(Entity):
    key: ClassVar[Key[SuspensionKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Suspension],
        where: collections.abc.Callable[[of.Suspension], object] | None = ...,
        until: Given[datetime.datetime] = ...,
        reason: Given[str] = ...,
        by: Given[str] = ...,
        since: Given[datetime.datetime] = ...,
    ) -> of.Suspension: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        until: datetime.datetime = ...,
        reason: str = ...,
        by: str = ...,
        since: datetime.datetime = ...,
    ) -> of.Suspension: ...
