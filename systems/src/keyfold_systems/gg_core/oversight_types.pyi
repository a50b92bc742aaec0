"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import typing
from typing import ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.placement import On
from keyfold.design.query import Query
from keyfold.runtime.changes import Clear, Given

import keyfold_systems.gg_core.oversight as of

E = TypeVar("E", bound=Entity)

class BySubjectType(Query[E]):
    def after(self, *, subject_type: typing.Literal['activity', 'message', 'user', 'group'] | None) -> Self: ...
    def since(self, *, subject_type: typing.Literal['activity', 'message', 'user', 'group'] | None) -> Self: ...
    def before(self, *, subject_type: typing.Literal['activity', 'message', 'user', 'group'] | None) -> Self: ...
    def until(self, *, subject_type: typing.Literal['activity', 'message', 'user', 'group'] | None) -> Self: ...

class BySubjectId(Query[E]):
    def after(self, *, subject_id: str | None) -> Self: ...
    def since(self, *, subject_id: str | None) -> Self: ...
    def before(self, *, subject_id: str | None) -> Self: ...
    def until(self, *, subject_id: str | None) -> Self: ...
    def begins_with(self, *, subject_id: str | None) -> Self: ...

class ByCreatedAt(Query[E]):
    def after(self, *, created_at: datetime.datetime | None) -> Self: ...
    def since(self, *, created_at: datetime.datetime | None) -> Self: ...
    def before(self, *, created_at: datetime.datetime | None) -> Self: ...
    def until(self, *, created_at: datetime.datetime | None) -> Self: ...

class ByReporterId(Query[E]):
    def after(self, *, reporter_id: str | None) -> Self: ...
    def since(self, *, reporter_id: str | None) -> Self: ...
    def before(self, *, reporter_id: str | None) -> Self: ...
    def until(self, *, reporter_id: str | None) -> Self: ...
    def begins_with(self, *, reporter_id: str | None) -> Self: ...

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

class ReportKey(KeyOf[of.Report]):
    def __call__(self, *, reporter_id: str, subject_type: typing.Literal['activity', 'message', 'user', 'group'], subject_id: str) -> Ref[of.Report]: ...
    @overload
    def query(self, *, reporter_id: str) -> BySubjectType[of.Report]: ...
    @overload
    def query(self, *, reporter_id: str, subject_type: typing.Literal['activity', 'message', 'user', 'group']) -> BySubjectId[of.Report]: ...
    @overload
    def query(self, *, reporter_id: str, subject_type: typing.Literal['activity', 'message', 'user', 'group'], subject_id: str) -> Query[of.Report]: ...

class ReportByStatus(KeyOf[of.Report]):
    @overload
    def query(self, *, status: typing.Literal['open', 'dismissed', 'removed']) -> ByCreatedAt[of.Report]: ...
    @overload
    def query(self, *, status: typing.Literal['open', 'dismissed', 'removed'], created_at: datetime.datetime) -> BySubjectId[of.Report]: ...
    @overload
    def query(self, *, status: typing.Literal['open', 'dismissed', 'removed'], created_at: datetime.datetime, subject_id: str) -> ByReporterId[of.Report]: ...
    @overload
    def query(self, *, status: typing.Literal['open', 'dismissed', 'removed'], created_at: datetime.datetime, subject_id: str, reporter_id: str) -> Query[of.Report]: ...

class ReportByOwner(KeyOf[of.Report]):
    @overload
    def query(self, *, owner_id: str) -> BySubjectType[of.Report]: ...
    @overload
    def query(self, *, owner_id: str, subject_type: typing.Literal['activity', 'message', 'user', 'group']) -> BySubjectId[of.Report]: ...
    @overload
    def query(self, *, owner_id: str, subject_type: typing.Literal['activity', 'message', 'user', 'group'], subject_id: str) -> ByReporterId[of.Report]: ...
    @overload
    def query(self, *, owner_id: str, subject_type: typing.Literal['activity', 'message', 'user', 'group'], subject_id: str, reporter_id: str) -> Query[of.Report]: ...

class Report(Entity):
    key: ClassVar[Key[ReportKey]]
    by_status: ClassVar[On[ReportByStatus]]
    by_owner: ClassVar[On[ReportByOwner]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Report],
        where: collections.abc.Callable[[of.Report], object] | None = ...,
        place_id: Given[str] | Clear | None = ...,
        owner_id: Given[str] | Clear | None = ...,
        subject_created_at: Given[datetime.datetime] | Clear | None = ...,
        reason: Given[str] = ...,
        status: Given[typing.Literal['open', 'dismissed', 'removed']] = ...,
        handled_by: Given[str] | Clear | None = ...,
        handled_at: Given[datetime.datetime] | Clear | None = ...,
        note: Given[str] = ...,
        created_at: Given[datetime.datetime] = ...,
    ) -> of.Report: ...
    def __moves__(
        self,
        *,
        reporter_id: str = ...,
        subject_type: typing.Literal['activity', 'message', 'user', 'group'] = ...,
        subject_id: str = ...,
        place_id: str | None = ...,
        owner_id: str | None = ...,
        subject_created_at: datetime.datetime | None = ...,
        reason: str = ...,
        status: typing.Literal['open', 'dismissed', 'removed'] = ...,
        handled_by: str | None = ...,
        handled_at: datetime.datetime | None = ...,
        note: str = ...,
        created_at: datetime.datetime = ...,
    ) -> of.Report: ...

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

class LockKey(KeyOf[of.Lock]):
    def __call__(self, *, name: str) -> Ref[of.Lock]: ...
    def query(self, *, name: str) -> Query[of.Lock]: ...

class Lock(Entity):
    key: ClassVar[Key[LockKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Lock],
        where: collections.abc.Callable[[of.Lock], object] | None = ...,
        holder_id: Given[str] = ...,
        since: Given[datetime.datetime] | Clear | None = ...,
        expires_at: Given[datetime.datetime] = ...,
    ) -> of.Lock: ...
    def __moves__(
        self,
        *,
        name: str = ...,
        holder_id: str = ...,
        since: datetime.datetime | None = ...,
        expires_at: datetime.datetime = ...,
    ) -> of.Lock: ...
