"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import keyfold.maintain.cascade
from typing import ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.placement import On
from keyfold.design.query import Query
from keyfold.runtime.changes import Clear, Given, GivenSet

import tests.typing.written.entities as of

E = TypeVar("E", bound=Entity)

class ByFoundAs(Query[E]):
    def after(self, *, found_as: str | None) -> Self: ...
    def since(self, *, found_as: str | None) -> Self: ...
    def before(self, *, found_as: str | None) -> Self: ...
    def until(self, *, found_as: str | None) -> Self: ...
    def begins_with(self, *, found_as: str | None) -> Self: ...

class ByUserId(Query[E]):
    def after(self, *, user_id: str | None) -> Self: ...
    def since(self, *, user_id: str | None) -> Self: ...
    def before(self, *, user_id: str | None) -> Self: ...
    def until(self, *, user_id: str | None) -> Self: ...
    def begins_with(self, *, user_id: str | None) -> Self: ...

class ByGroupId(Query[E]):
    def after(self, *, group_id: str | None) -> Self: ...
    def since(self, *, group_id: str | None) -> Self: ...
    def before(self, *, group_id: str | None) -> Self: ...
    def until(self, *, group_id: str | None) -> Self: ...
    def begins_with(self, *, group_id: str | None) -> Self: ...

class ByHangoutId(Query[E]):
    def after(self, *, hangout_id: str | None) -> Self: ...
    def since(self, *, hangout_id: str | None) -> Self: ...
    def before(self, *, hangout_id: str | None) -> Self: ...
    def until(self, *, hangout_id: str | None) -> Self: ...
    def begins_with(self, *, hangout_id: str | None) -> Self: ...

class ByStartsAt(Query[E]):
    def after(self, *, starts_at: datetime.datetime | None) -> Self: ...
    def since(self, *, starts_at: datetime.datetime | None) -> Self: ...
    def before(self, *, starts_at: datetime.datetime | None) -> Self: ...
    def until(self, *, starts_at: datetime.datetime | None) -> Self: ...

class UserKey(KeyOf[of.User]):
    def __call__(self, *, user_id: str) -> Ref[of.User]: ...
    def query(self, *, user_id: str) -> Query[of.User]: ...

class UserByName(KeyOf[of.User]):
    @overload
    def query(self, *, initial: str) -> ByFoundAs[of.User]: ...
    @overload
    def query(self, *, initial: str, found_as: str) -> ByUserId[of.User]: ...
    @overload
    def query(self, *, initial: str, found_as: str, user_id: str) -> Query[of.User]: ...

class User(Entity):
    key: ClassVar[Key[UserKey]]
    by_name: ClassVar[On[UserByName]]
    memberships: ClassVar[keyfold.maintain.cascade.Cascade]
    hosted: ClassVar[keyfold.maintain.cascade.Cascade]
    responses: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.User],
        where: collections.abc.Callable[[of.User], object] | None = ...,
        expected_version: int | None = ...,
        refuse: Exception | None = ...,
        name: Given[str] = ...,
        initial: Given[str] | Clear | None = ...,
        found_as: Given[str] | Clear | None = ...,
        leaving: Given[bool] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.User: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        name: str = ...,
        initial: str | None = ...,
        found_as: str | None = ...,
        leaving: bool = ...,
        created_at: datetime.datetime | None = ...,
    ) -> of.User: ...

class GroupKey(KeyOf[of.Group]):
    def __call__(self, *, group_id: str) -> Ref[of.Group]: ...
    def query(self, *, group_id: str) -> Query[of.Group]: ...

class Group(Entity):
    key: ClassVar[Key[GroupKey]]
    memberships: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Group],
        where: collections.abc.Callable[[of.Group], object] | None = ...,
        expected_version: int | None = ...,
        refuse: Exception | None = ...,
        name: Given[str] = ...,
        owner_id: Given[str] = ...,
        private: Given[bool] = ...,
        closing: Given[bool] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Group: ...
    def __moves__(
        self,
        *,
        group_id: str = ...,
        name: str = ...,
        owner_id: str = ...,
        private: bool = ...,
        closing: bool = ...,
        created_at: datetime.datetime | None = ...,
    ) -> of.Group: ...

class MembershipKey(KeyOf[of.Membership]):
    def __call__(self, *, group_id: str, user_id: str) -> Ref[of.Membership]: ...
    @overload
    def query(self, *, group_id: str) -> ByUserId[of.Membership]: ...
    @overload
    def query(self, *, group_id: str, user_id: str) -> Query[of.Membership]: ...

class MembershipByUser(KeyOf[of.Membership]):
    @overload
    def query(self, *, user_id: str) -> ByGroupId[of.Membership]: ...
    @overload
    def query(self, *, user_id: str, group_id: str) -> Query[of.Membership]: ...

class Membership(Entity):
    key: ClassVar[Key[MembershipKey]]
    by_user: ClassVar[On[MembershipByUser]]
    responses: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Membership],
        where: collections.abc.Callable[[of.Membership], object] | None = ...,
        refuse: Exception | None = ...,
        group_name: Given[str] = ...,
        user_name: Given[str] = ...,
        joined_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Membership: ...
    def __moves__(
        self,
        *,
        group_id: str = ...,
        user_id: str = ...,
        group_name: str = ...,
        user_name: str = ...,
        joined_at: datetime.datetime | None = ...,
    ) -> of.Membership: ...

class HangoutKey(KeyOf[of.Hangout]):
    def __call__(self, *, hangout_id: str) -> Ref[of.Hangout]: ...
    def query(self, *, hangout_id: str) -> Query[of.Hangout]: ...

class HangoutByHost(KeyOf[of.Hangout]):
    @overload
    def query(self, *, host_id: str) -> ByHangoutId[of.Hangout]: ...
    @overload
    def query(self, *, host_id: str, hangout_id: str) -> Query[of.Hangout]: ...

class Hangout(Entity):
    key: ClassVar[Key[HangoutKey]]
    by_host: ClassVar[On[HangoutByHost]]
    responses: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Hangout],
        where: collections.abc.Callable[[of.Hangout], object] | None = ...,
        expected_version: int | None = ...,
        refuse: Exception | None = ...,
        host_id: Given[str] = ...,
        host_name: Given[str] = ...,
        title: Given[str] = ...,
        description: Given[str] = ...,
        place: Given[str] = ...,
        starts_at: Given[datetime.datetime] = ...,
        ends_at: Given[datetime.datetime] = ...,
        cancelled: Given[bool] = ...,
        group_ids: GivenSet[str] = ...,
        user_ids: GivenSet[str] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Hangout: ...
    def __moves__(
        self,
        *,
        hangout_id: str = ...,
        host_id: str = ...,
        host_name: str = ...,
        title: str = ...,
        description: str = ...,
        place: str = ...,
        starts_at: datetime.datetime = ...,
        ends_at: datetime.datetime = ...,
        cancelled: bool = ...,
        group_ids: set[str] = ...,
        user_ids: set[str] = ...,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Hangout: ...

class ResponseKey(KeyOf[of.Response]):
    def __call__(self, *, hangout_id: str, user_id: str) -> Ref[of.Response]: ...
    @overload
    def query(self, *, hangout_id: str) -> ByUserId[of.Response]: ...
    @overload
    def query(self, *, hangout_id: str, user_id: str) -> Query[of.Response]: ...

class ResponseByUser(KeyOf[of.Response]):
    @overload
    def query(self, *, user_id: str) -> ByHangoutId[of.Response]: ...
    @overload
    def query(self, *, user_id: str, hangout_id: str) -> Query[of.Response]: ...

class Response(Entity):
    key: ClassVar[Key[ResponseKey]]
    by_user: ClassVar[On[ResponseByUser]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Response],
        where: collections.abc.Callable[[of.Response], object] | None = ...,
        refuse: Exception | None = ...,
        user_name: Given[str] = ...,
        answer: Given[of.Answer] = ...,
        group_id: Given[str] | Clear | None = ...,
        guest_id: Given[str] | Clear | None = ...,
        at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Response: ...
    def __moves__(
        self,
        *,
        hangout_id: str = ...,
        user_id: str = ...,
        user_name: str = ...,
        answer: of.Answer = ...,
        group_id: str | None = ...,
        guest_id: str | None = ...,
        at: datetime.datetime | None = ...,
    ) -> of.Response: ...

class GroupHangoutKey(KeyOf[of.GroupHangout]):
    def __call__(self, *, group_id: str, hangout_id: str) -> Ref[of.GroupHangout]: ...
    @overload
    def query(self, *, group_id: str) -> ByHangoutId[of.GroupHangout]: ...
    @overload
    def query(self, *, group_id: str, hangout_id: str) -> Query[of.GroupHangout]: ...

class GroupHangoutByTime(KeyOf[of.GroupHangout]):
    @overload
    def query(self, *, group_id: str) -> ByStartsAt[of.GroupHangout]: ...
    @overload
    def query(self, *, group_id: str, starts_at: datetime.datetime) -> Query[of.GroupHangout]: ...

class GroupHangout(Entity):
    key: ClassVar[Key[GroupHangoutKey]]
    by_time: ClassVar[On[GroupHangoutByTime]]
    responses: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.GroupHangout],
        where: collections.abc.Callable[[of.GroupHangout], object] | None = ...,
        refuse: Exception | None = ...,
    ) -> of.GroupHangout: ...

class UserHangoutKey(KeyOf[of.UserHangout]):
    def __call__(self, *, user_id: str, hangout_id: str) -> Ref[of.UserHangout]: ...
    @overload
    def query(self, *, user_id: str) -> ByHangoutId[of.UserHangout]: ...
    @overload
    def query(self, *, user_id: str, hangout_id: str) -> Query[of.UserHangout]: ...

class UserHangoutByTime(KeyOf[of.UserHangout]):
    @overload
    def query(self, *, user_id: str) -> ByStartsAt[of.UserHangout]: ...
    @overload
    def query(self, *, user_id: str, starts_at: datetime.datetime) -> Query[of.UserHangout]: ...

class UserHangout(Entity):
    key: ClassVar[Key[UserHangoutKey]]
    by_time: ClassVar[On[UserHangoutByTime]]
    responses: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.UserHangout],
        where: collections.abc.Callable[[of.UserHangout], object] | None = ...,
        refuse: Exception | None = ...,
    ) -> of.UserHangout: ...
