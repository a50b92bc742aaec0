"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
from typing import ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.query import Query
from keyfold.runtime.changes import Clear, Given, GivenNumber

import keyfold_systems.gg_core.departure as of

E = TypeVar("E", bound=Entity)

class ByCreatedAt(Query[E]):
    def after(self, *, created_at: datetime.datetime | None) -> Self: ...
    def since(self, *, created_at: datetime.datetime | None) -> Self: ...
    def before(self, *, created_at: datetime.datetime | None) -> Self: ...
    def until(self, *, created_at: datetime.datetime | None) -> Self: ...

class ByActivityId(Query[E]):
    def after(self, *, activity_id: str | None) -> Self: ...
    def since(self, *, activity_id: str | None) -> Self: ...
    def before(self, *, activity_id: str | None) -> Self: ...
    def until(self, *, activity_id: str | None) -> Self: ...
    def begins_with(self, *, activity_id: str | None) -> Self: ...

class GroupPostKey(KeyOf[of.GroupPost]):
    def __call__(self, *, author_id: str, created_at: datetime.datetime, activity_id: str) -> Ref[of.GroupPost]: ...
    @overload
    def query(self, *, author_id: str) -> ByCreatedAt[of.GroupPost]: ...
    @overload
    def query(self, *, author_id: str, created_at: datetime.datetime) -> ByActivityId[of.GroupPost]: ...
    @overload
    def query(self, *, author_id: str, created_at: datetime.datetime, activity_id: str) -> Query[of.GroupPost]: ...

class GroupPost(Entity):
    key: ClassVar[Key[GroupPostKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.GroupPost],
        where: collections.abc.Callable[[of.GroupPost], object] | None = ...,
    ) -> of.GroupPost: ...

class DepartureKey(KeyOf[of.Departure]):
    def __call__(self, *, user_id: str) -> Ref[of.Departure]: ...
    def query(self, *, user_id: str) -> Query[of.Departure]: ...

class Departure(Entity):
    key: ClassVar[Key[DepartureKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Departure],
        where: collections.abc.Callable[[of.Departure], object] | None = ...,
        asked_at: Given[datetime.datetime] = ...,
        steps: GivenNumber[int] = ...,
        room_id: Given[str] | Clear | None = ...,
        cursor: Given[str] | Clear | None = ...,
    ) -> of.Departure: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        asked_at: datetime.datetime = ...,
        steps: int = ...,
        room_id: str | None = ...,
        cursor: str | None = ...,
    ) -> of.Departure: ...
