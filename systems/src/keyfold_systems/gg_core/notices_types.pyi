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

import keyfold_systems.gg_core.notices as of

E = TypeVar("E", bound=Entity)

class ByCreatedAt(Query[E]):
    def after(self, *, created_at: datetime.datetime | None) -> Self: ...
    def since(self, *, created_at: datetime.datetime | None) -> Self: ...
    def before(self, *, created_at: datetime.datetime | None) -> Self: ...
    def until(self, *, created_at: datetime.datetime | None) -> Self: ...

class ByNoticeId(Query[E]):
    def after(self, *, notice_id: str | None) -> Self: ...
    def since(self, *, notice_id: str | None) -> Self: ...
    def before(self, *, notice_id: str | None) -> Self: ...
    def until(self, *, notice_id: str | None) -> Self: ...
    def begins_with(self, *, notice_id: str | None) -> Self: ...

class NoticeKey(KeyOf[of.Notice]):
    def __call__(self, *, user_id: str, created_at: datetime.datetime, notice_id: str) -> Ref[of.Notice]: ...
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Notice]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByNoticeId[of.Notice]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, notice_id: str) -> Query[of.Notice]: ...

class NoticeBySender(KeyOf[of.Notice]):
    @overload
    def query(self, *, from_id: str) -> ByCreatedAt[of.Notice]: ...
    @overload
    def query(self, *, from_id: str, created_at: datetime.datetime) -> ByNoticeId[of.Notice]: ...
    @overload
    def query(self, *, from_id: str, created_at: datetime.datetime, notice_id: str) -> Query[of.Notice]: ...

class Notice(Entity):
    key: ClassVar[Key[NoticeKey]]
    by_sender: ClassVar[On[NoticeBySender]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Notice],
        where: collections.abc.Callable[[of.Notice], object] | None = ...,
        kind: Given[typing.Literal['followed', 'commented', 'role_changed', 'quest_completed', 'quest_cancelled', 'report_handled', 'removed']] = ...,
        from_id: Given[str] | Clear | None = ...,
        subject_id: Given[str] | Clear | None = ...,
        text: Given[str] = ...,
        read_at: Given[datetime.datetime] | Clear | None = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Notice: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        notice_id: str = ...,
        kind: typing.Literal['followed', 'commented', 'role_changed', 'quest_completed', 'quest_cancelled', 'report_handled', 'removed'] = ...,
        from_id: str | None = ...,
        subject_id: str | None = ...,
        text: str = ...,
        created_at: datetime.datetime = ...,
        read_at: datetime.datetime | None = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.Notice: ...

class UnreadCounterKey(KeyOf[of.UnreadCounter]):
    def __call__(self, *, user_id: str) -> Ref[of.UnreadCounter]: ...
    def query(self, *, user_id: str) -> Query[of.UnreadCounter]: ...

class UnreadCounter(Entity):
    key: ClassVar[Key[UnreadCounterKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.UnreadCounter],
        where: collections.abc.Callable[[of.UnreadCounter], object] | None = ...,
    ) -> of.UnreadCounter: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
    ) -> of.UnreadCounter: ...
