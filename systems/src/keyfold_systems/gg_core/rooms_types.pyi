"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import keyfold.maintain.cascade
import keyfold.maintain.extreme
import typing
from typing import ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.placement import On
from keyfold.design.query import Query
from keyfold.runtime.changes import Clear, Given, GivenSet

import keyfold_systems.gg_core.rooms as of

E = TypeVar("E", bound=Entity)

class ByRoomId(Query[E]):
    def after(self, *, room_id: str | None) -> Self: ...
    def since(self, *, room_id: str | None) -> Self: ...
    def before(self, *, room_id: str | None) -> Self: ...
    def until(self, *, room_id: str | None) -> Self: ...
    def begins_with(self, *, room_id: str | None) -> Self: ...

class ByCreatedAt(Query[E]):
    def after(self, *, created_at: datetime.datetime | None) -> Self: ...
    def since(self, *, created_at: datetime.datetime | None) -> Self: ...
    def before(self, *, created_at: datetime.datetime | None) -> Self: ...
    def until(self, *, created_at: datetime.datetime | None) -> Self: ...

class ByMessageId(Query[E]):
    def after(self, *, message_id: str | None) -> Self: ...
    def since(self, *, message_id: str | None) -> Self: ...
    def before(self, *, message_id: str | None) -> Self: ...
    def until(self, *, message_id: str | None) -> Self: ...
    def begins_with(self, *, message_id: str | None) -> Self: ...

class RoomKey(KeyOf[of.Room]):
    def __call__(self, *, room_id: str) -> Ref[of.Room]: ...
    def query(self, *, room_id: str) -> Query[of.Room]: ...

class RoomByGroup(KeyOf[of.Room]):
    @overload
    def query(self, *, group_id: str) -> ByRoomId[of.Room]: ...
    @overload
    def query(self, *, group_id: str, room_id: str) -> Query[of.Room]: ...

class Room(Entity):
    key: ClassVar[Key[RoomKey]]
    by_group: ClassVar[On[RoomByGroup]]
    messages: ClassVar[keyfold.maintain.cascade.Cascade]
    last: ClassVar[keyfold.maintain.extreme.Latest]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Room],
        where: collections.abc.Callable[[of.Room], object] | None = ...,
        scope: Given[typing.Literal['dm', 'group']] = ...,
        members: GivenSet[str] = ...,
        group_id: Given[str] | Clear | None = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Room: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        scope: typing.Literal['dm', 'group'] = ...,
        members: set[str] = ...,
        group_id: str | None = ...,
        created_at: datetime.datetime | None = ...,
    ) -> of.Room: ...

class UserRoomKey(KeyOf[of.UserRoom]):
    def __call__(self, *, user_id: str, room_id: str) -> Ref[of.UserRoom]: ...
    @overload
    def query(self, *, user_id: str) -> ByRoomId[of.UserRoom]: ...
    @overload
    def query(self, *, user_id: str, room_id: str) -> Query[of.UserRoom]: ...

class UserRoom(Entity):
    key: ClassVar[Key[UserRoomKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.UserRoom],
        where: collections.abc.Callable[[of.UserRoom], object] | None = ...,
    ) -> of.UserRoom: ...

class RoomMarkKey(KeyOf[of.RoomMark]):
    def __call__(self, *, user_id: str, room_id: str) -> Ref[of.RoomMark]: ...
    @overload
    def query(self, *, user_id: str) -> ByRoomId[of.RoomMark]: ...
    @overload
    def query(self, *, user_id: str, room_id: str) -> Query[of.RoomMark]: ...

class RoomMark(Entity):
    key: ClassVar[Key[RoomMarkKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.RoomMark],
        where: collections.abc.Callable[[of.RoomMark], object] | None = ...,
        read_at: Given[datetime.datetime] = ...,
    ) -> of.RoomMark: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        room_id: str = ...,
        read_at: datetime.datetime = ...,
    ) -> of.RoomMark: ...

class MessageKey(KeyOf[of.Message]):
    def __call__(self, *, room_id: str, created_at: datetime.datetime, message_id: str) -> Ref[of.Message]: ...
    @overload
    def query(self, *, room_id: str) -> ByCreatedAt[of.Message]: ...
    @overload
    def query(self, *, room_id: str, created_at: datetime.datetime) -> ByMessageId[of.Message]: ...
    @overload
    def query(self, *, room_id: str, created_at: datetime.datetime, message_id: str) -> Query[of.Message]: ...

class Message(Entity):
    key: ClassVar[Key[MessageKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Message],
        where: collections.abc.Callable[[of.Message], object] | None = ...,
        user_id: Given[str] = ...,
        text: Given[str] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Message: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        message_id: str = ...,
        user_id: str = ...,
        text: str = ...,
        created_at: datetime.datetime = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.Message: ...
