"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import keyfold_systems.search_room.wishes
import typing
from typing import Any, ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.query import Query
from keyfold.runtime.changes import Given, GivenList, GivenNumber

import keyfold_systems.search_room.migration as of

E = TypeVar("E", bound=Entity)

class ByUserId(Query[E]):
    def after(self, *, user_id: str | None) -> Self: ...
    def since(self, *, user_id: str | None) -> Self: ...
    def before(self, *, user_id: str | None) -> Self: ...
    def until(self, *, user_id: str | None) -> Self: ...
    def begins_with(self, *, user_id: str | None) -> Self: ...

class ByTimestamp(Query[E]):
    def after(self, *, timestamp: datetime.datetime | None) -> Self: ...
    def since(self, *, timestamp: datetime.datetime | None) -> Self: ...
    def before(self, *, timestamp: datetime.datetime | None) -> Self: ...
    def until(self, *, timestamp: datetime.datetime | None) -> Self: ...

class UserCriteriaBeforeKey(KeyOf[of.UserCriteriaBefore]):
    def __call__(self, *, room_id: str, user_id: str, timestamp: datetime.datetime) -> Ref[of.UserCriteriaBefore]: ...
    @overload
    def query(self, *, room_id: str) -> ByUserId[of.UserCriteriaBefore]: ...
    @overload
    def query(self, *, room_id: str, user_id: str) -> ByTimestamp[of.UserCriteriaBefore]: ...
    @overload
    def query(self, *, room_id: str, user_id: str, timestamp: datetime.datetime) -> Query[of.UserCriteriaBefore]: ...

class UserCriteriaBefore(Entity):
    key: ClassVar[Key[UserCriteriaBeforeKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.UserCriteriaBefore],
        where: collections.abc.Callable[[of.UserCriteriaBefore], object] | None = ...,
        criteria: Given[dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any]] = ...,
        weights: Given[dict[str, float]] = ...,
        source: Given[typing.Literal['manual', 'ai_proposed']] = ...,
    ) -> of.UserCriteriaBefore: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        user_id: str = ...,
        timestamp: datetime.datetime = ...,
        criteria: dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any] = ...,
        weights: dict[str, float] = ...,
        source: typing.Literal['manual', 'ai_proposed'] = ...,
    ) -> of.UserCriteriaBefore: ...

class CombinedCriteriaBeforeKey(KeyOf[of.CombinedCriteriaBefore]):
    def __call__(self, *, room_id: str, timestamp: datetime.datetime) -> Ref[of.CombinedCriteriaBefore]: ...
    @overload
    def query(self, *, room_id: str) -> ByTimestamp[of.CombinedCriteriaBefore]: ...
    @overload
    def query(self, *, room_id: str, timestamp: datetime.datetime) -> Query[of.CombinedCriteriaBefore]: ...

class CombinedCriteriaBefore(Entity):
    key: ClassVar[Key[CombinedCriteriaBeforeKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.CombinedCriteriaBefore],
        where: collections.abc.Callable[[of.CombinedCriteriaBefore], object] | None = ...,
        criteria: Given[dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any]] = ...,
        weights: Given[dict[str, float]] = ...,
        from_user_ids: GivenList[str] = ...,
        combine_mode: Given[typing.Literal['all', 'mixed', 'strict']] = ...,
    ) -> of.CombinedCriteriaBefore: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        timestamp: datetime.datetime = ...,
        criteria: dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any] = ...,
        weights: dict[str, float] = ...,
        from_user_ids: list[str] = ...,
        combine_mode: typing.Literal['all', 'mixed', 'strict'] = ...,
    ) -> of.CombinedCriteriaBefore: ...

class CompatibilityBeforeKey(KeyOf[of.CompatibilityBefore]):
    def __call__(self, *, room_id: str, timestamp: datetime.datetime) -> Ref[of.CompatibilityBefore]: ...
    @overload
    def query(self, *, room_id: str) -> ByTimestamp[of.CompatibilityBefore]: ...
    @overload
    def query(self, *, room_id: str, timestamp: datetime.datetime) -> Query[of.CompatibilityBefore]: ...

class CompatibilityBefore(Entity):
    key: ClassVar[Key[CompatibilityBeforeKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.CompatibilityBefore],
        where: collections.abc.Callable[[of.CompatibilityBefore], object] | None = ...,
        score_percent: GivenNumber[int] = ...,
        level: Given[typing.Literal['low', 'medium', 'high', 'excellent']] = ...,
        comment: Given[str] = ...,
        criteria_refs: GivenList[str] = ...,
    ) -> of.CompatibilityBefore: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        timestamp: datetime.datetime = ...,
        score_percent: int = ...,
        level: typing.Literal['low', 'medium', 'high', 'excellent'] = ...,
        comment: str = ...,
        criteria_refs: list[str] = ...,
    ) -> of.CompatibilityBefore: ...
