"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import keyfold.maintain.cascade
import keyfold.maintain.unique
import keyfold_systems.search_room.status
import keyfold_systems.search_room.wishes
import typing
from typing import Any, ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.placement import On
from keyfold.design.query import Query
from keyfold.runtime.changes import Clear, Given, GivenList, GivenNumber, GivenSet

import keyfold_systems.search_room.entities as of

E = TypeVar("E", bound=Entity)

class ByUserId(Query[E]):
    def after(self, *, user_id: str | None) -> Self: ...
    def since(self, *, user_id: str | None) -> Self: ...
    def before(self, *, user_id: str | None) -> Self: ...
    def until(self, *, user_id: str | None) -> Self: ...
    def begins_with(self, *, user_id: str | None) -> Self: ...

class ByRoomId(Query[E]):
    def after(self, *, room_id: str | None) -> Self: ...
    def since(self, *, room_id: str | None) -> Self: ...
    def before(self, *, room_id: str | None) -> Self: ...
    def until(self, *, room_id: str | None) -> Self: ...
    def begins_with(self, *, room_id: str | None) -> Self: ...

class ByLinkId(Query[E]):
    def after(self, *, link_id: str | None) -> Self: ...
    def since(self, *, link_id: str | None) -> Self: ...
    def before(self, *, link_id: str | None) -> Self: ...
    def until(self, *, link_id: str | None) -> Self: ...
    def begins_with(self, *, link_id: str | None) -> Self: ...

class ByListingId(Query[E]):
    def after(self, *, listing_id: str | None) -> Self: ...
    def since(self, *, listing_id: str | None) -> Self: ...
    def before(self, *, listing_id: str | None) -> Self: ...
    def until(self, *, listing_id: str | None) -> Self: ...
    def begins_with(self, *, listing_id: str | None) -> Self: ...

class ByStatus(Query[E]):
    def after(self, *, status: keyfold_systems.search_room.status.Status | None) -> Self: ...
    def since(self, *, status: keyfold_systems.search_room.status.Status | None) -> Self: ...
    def before(self, *, status: keyfold_systems.search_room.status.Status | None) -> Self: ...
    def until(self, *, status: keyfold_systems.search_room.status.Status | None) -> Self: ...

class ByTimestamp(Query[E]):
    def after(self, *, timestamp: datetime.datetime | None) -> Self: ...
    def since(self, *, timestamp: datetime.datetime | None) -> Self: ...
    def before(self, *, timestamp: datetime.datetime | None) -> Self: ...
    def until(self, *, timestamp: datetime.datetime | None) -> Self: ...

class ByCriteriaId(Query[E]):
    def after(self, *, criteria_id: str | None) -> Self: ...
    def since(self, *, criteria_id: str | None) -> Self: ...
    def before(self, *, criteria_id: str | None) -> Self: ...
    def until(self, *, criteria_id: str | None) -> Self: ...
    def begins_with(self, *, criteria_id: str | None) -> Self: ...

class ByCombinedId(Query[E]):
    def after(self, *, combined_id: str | None) -> Self: ...
    def since(self, *, combined_id: str | None) -> Self: ...
    def before(self, *, combined_id: str | None) -> Self: ...
    def until(self, *, combined_id: str | None) -> Self: ...
    def begins_with(self, *, combined_id: str | None) -> Self: ...

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

class ByCompatibilityId(Query[E]):
    def after(self, *, compatibility_id: str | None) -> Self: ...
    def since(self, *, compatibility_id: str | None) -> Self: ...
    def before(self, *, compatibility_id: str | None) -> Self: ...
    def until(self, *, compatibility_id: str | None) -> Self: ...
    def begins_with(self, *, compatibility_id: str | None) -> Self: ...

class PersonKey(KeyOf[of.Person]):
    def __call__(self, *, user_id: str) -> Ref[of.Person]: ...
    def query(self, *, user_id: str) -> Query[of.Person]: ...

class Person(Entity):
    key: ClassVar[Key[PersonKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Person],
        where: collections.abc.Callable[[of.Person], object] | None = ...,
        name: Given[str] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Person: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        name: str = ...,
        created_at: datetime.datetime | None = ...,
    ) -> of.Person: ...

class RemovalKey(KeyOf[of.Removal]):
    def __call__(self, *, user_id: str) -> Ref[of.Removal]: ...
    def query(self, *, user_id: str) -> Query[of.Removal]: ...

class Removal(Entity):
    key: ClassVar[Key[RemovalKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Removal],
        where: collections.abc.Callable[[of.Removal], object] | None = ...,
        steps: GivenNumber[int] = ...,
        requested_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Removal: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        steps: int = ...,
        requested_at: datetime.datetime | None = ...,
    ) -> of.Removal: ...

class RoomKey(KeyOf[of.Room]):
    def __call__(self, *, room_id: str) -> Ref[of.Room]: ...
    def query(self, *, room_id: str) -> Query[of.Room]: ...

class Room(Entity):
    key: ClassVar[Key[RoomKey]]
    members: ClassVar[keyfold.maintain.cascade.Cascade]
    invitations: ClassVar[keyfold.maintain.cascade.Cascade]
    links: ClassVar[keyfold.maintain.cascade.Cascade]
    listings: ClassVar[keyfold.maintain.cascade.Cascade]
    criteria: ClassVar[keyfold.maintain.cascade.Cascade]
    latest_criteria: ClassVar[keyfold.maintain.cascade.Cascade]
    combined_criteria: ClassVar[keyfold.maintain.cascade.Cascade]
    activities: ClassVar[keyfold.maintain.cascade.Cascade]
    compatibility: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Room],
        where: collections.abc.Callable[[of.Room], object] | None = ...,
        name: Given[str] = ...,
        created_by_user_id: Given[str] = ...,
        search_type: Given[typing.Literal['buy', 'rent']] = ...,
        context: Given[dict[str, str | bool | int | float | None]] = ...,
        has_copilot: Given[bool] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Room: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        name: str = ...,
        created_by_user_id: str = ...,
        search_type: typing.Literal['buy', 'rent'] = ...,
        context: dict[str, str | bool | int | float | None] = ...,
        has_copilot: bool = ...,
        created_at: datetime.datetime | None = ...,
    ) -> of.Room: ...

class MemberKey(KeyOf[of.Member]):
    def __call__(self, *, room_id: str, user_id: str) -> Ref[of.Member]: ...
    @overload
    def query(self, *, room_id: str) -> ByUserId[of.Member]: ...
    @overload
    def query(self, *, room_id: str, user_id: str) -> Query[of.Member]: ...

class Member(Entity):
    key: ClassVar[Key[MemberKey]]
    wishes: ClassVar[keyfold.maintain.cascade.Cascade]
    notifications: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Member],
        where: collections.abc.Callable[[of.Member], object] | None = ...,
        role: Given[of.Role] = ...,
        room_name: Given[str] = ...,
        joined_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Member: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        user_id: str = ...,
        role: of.Role = ...,
        room_name: str = ...,
        joined_at: datetime.datetime | None = ...,
    ) -> of.Member: ...

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

class FormerRoomKey(KeyOf[of.FormerRoom]):
    def __call__(self, *, user_id: str, room_id: str) -> Ref[of.FormerRoom]: ...
    @overload
    def query(self, *, user_id: str) -> ByRoomId[of.FormerRoom]: ...
    @overload
    def query(self, *, user_id: str, room_id: str) -> Query[of.FormerRoom]: ...

class FormerRoom(Entity):
    key: ClassVar[Key[FormerRoomKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.FormerRoom],
        where: collections.abc.Callable[[of.FormerRoom], object] | None = ...,
        left_at: Given[datetime.datetime] = ...,
    ) -> of.FormerRoom: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        room_id: str = ...,
        left_at: datetime.datetime = ...,
    ) -> of.FormerRoom: ...

class AskedRoomKey(KeyOf[of.AskedRoom]):
    def __call__(self, *, user_id: str, room_id: str) -> Ref[of.AskedRoom]: ...
    @overload
    def query(self, *, user_id: str) -> ByRoomId[of.AskedRoom]: ...
    @overload
    def query(self, *, user_id: str, room_id: str) -> Query[of.AskedRoom]: ...

class AskedRoom(Entity):
    key: ClassVar[Key[AskedRoomKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.AskedRoom],
        where: collections.abc.Callable[[of.AskedRoom], object] | None = ...,
        asked_at: Given[datetime.datetime] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.AskedRoom: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        room_id: str = ...,
        asked_at: datetime.datetime = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.AskedRoom: ...

class InvitationKey(KeyOf[of.Invitation]):
    def __call__(self, *, room_id: str, user_id: str) -> Ref[of.Invitation]: ...
    @overload
    def query(self, *, room_id: str) -> ByUserId[of.Invitation]: ...
    @overload
    def query(self, *, room_id: str, user_id: str) -> Query[of.Invitation]: ...

class Invitation(Entity):
    key: ClassVar[Key[InvitationKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Invitation],
        where: collections.abc.Callable[[of.Invitation], object] | None = ...,
        role: Given[of.Role] = ...,
        status: Given[of.InvitationStatus] = ...,
        room_name: Given[str] = ...,
        invited_by: Given[str] = ...,
        invited_at: Given[datetime.datetime] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Invitation: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        user_id: str = ...,
        role: of.Role = ...,
        status: of.InvitationStatus = ...,
        room_name: str = ...,
        invited_by: str = ...,
        invited_at: datetime.datetime = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.Invitation: ...

class UserInvitationKey(KeyOf[of.UserInvitation]):
    def __call__(self, *, user_id: str, room_id: str) -> Ref[of.UserInvitation]: ...
    @overload
    def query(self, *, user_id: str) -> ByRoomId[of.UserInvitation]: ...
    @overload
    def query(self, *, user_id: str, room_id: str) -> Query[of.UserInvitation]: ...

class UserInvitation(Entity):
    key: ClassVar[Key[UserInvitationKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.UserInvitation],
        where: collections.abc.Callable[[of.UserInvitation], object] | None = ...,
    ) -> of.UserInvitation: ...

class InvitationLinkKey(KeyOf[of.InvitationLink]):
    def __call__(self, *, room_id: str, link_id: str) -> Ref[of.InvitationLink]: ...
    @overload
    def query(self, *, room_id: str) -> ByLinkId[of.InvitationLink]: ...
    @overload
    def query(self, *, room_id: str, link_id: str) -> Query[of.InvitationLink]: ...

class InvitationLink(Entity):
    key: ClassVar[Key[InvitationLinkKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.InvitationLink],
        where: collections.abc.Callable[[of.InvitationLink], object] | None = ...,
        room_name: Given[str] = ...,
        invited_by: Given[str] = ...,
        invited_at: Given[datetime.datetime] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.InvitationLink: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        link_id: str = ...,
        room_name: str = ...,
        invited_by: str = ...,
        invited_at: datetime.datetime = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.InvitationLink: ...

class ListingKey(KeyOf[of.Listing]):
    def __call__(self, *, room_id: str, listing_id: str) -> Ref[of.Listing]: ...
    @overload
    def query(self, *, room_id: str) -> ByListingId[of.Listing]: ...
    @overload
    def query(self, *, room_id: str, listing_id: str) -> Query[of.Listing]: ...

class ListingByExternalId(KeyOf[of.Listing]):
    @overload
    def query(self, *, source_brand: str, external_id: str) -> ByRoomId[of.Listing]: ...
    @overload
    def query(self, *, source_brand: str, external_id: str, room_id: str) -> Query[of.Listing]: ...

class ListingByStatus(KeyOf[of.Listing]):
    @overload
    def query(self, *, room_id: str) -> ByStatus[of.Listing]: ...
    @overload
    def query(self, *, room_id: str, status: keyfold_systems.search_room.status.Status) -> ByListingId[of.Listing]: ...
    @overload
    def query(self, *, room_id: str, status: keyfold_systems.search_room.status.Status, listing_id: str) -> Query[of.Listing]: ...

class Listing(Entity):
    key: ClassVar[Key[ListingKey]]
    by_external_id: ClassVar[On[ListingByExternalId]]
    by_status: ClassVar[On[ListingByStatus]]
    once_in_a_room: ClassVar[keyfold.maintain.unique.Unique]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Listing],
        where: collections.abc.Callable[[of.Listing], object] | None = ...,
        source_brand: Given[str] = ...,
        external_id: Given[str] | Clear | None = ...,
        title: Given[str] = ...,
        location: Given[str] = ...,
        price: Given[int | float] | Clear | None = ...,
        rooms: Given[int | float] | Clear | None = ...,
        surface: Given[int | float] | Clear | None = ...,
        link: Given[str] | Clear | None = ...,
        picture: Given[str] | Clear | None = ...,
        status: Given[keyfold_systems.search_room.status.Status] = ...,
        seen_by: GivenSet[str] = ...,
        liked_by: GivenSet[str] = ...,
        disliked_by: GivenSet[str] = ...,
        added_by: Given[str] | Clear | None = ...,
        added_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Listing: ...
    def __moves__(
        self,
        *,
        listing_id: str = ...,
        room_id: str = ...,
        source_brand: str = ...,
        external_id: str | None = ...,
        title: str = ...,
        location: str = ...,
        price: int | float | None = ...,
        rooms: int | float | None = ...,
        surface: int | float | None = ...,
        link: str | None = ...,
        picture: str | None = ...,
        status: keyfold_systems.search_room.status.Status = ...,
        seen_by: set[str] = ...,
        liked_by: set[str] = ...,
        disliked_by: set[str] = ...,
        added_by: str | None = ...,
        added_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Listing: ...

class UserCriteriaKey(KeyOf[of.UserCriteria]):
    def __call__(self, *, room_id: str, user_id: str, timestamp: datetime.datetime, criteria_id: str) -> Ref[of.UserCriteria]: ...
    @overload
    def query(self, *, room_id: str) -> ByUserId[of.UserCriteria]: ...
    @overload
    def query(self, *, room_id: str, user_id: str) -> ByTimestamp[of.UserCriteria]: ...
    @overload
    def query(self, *, room_id: str, user_id: str, timestamp: datetime.datetime) -> ByCriteriaId[of.UserCriteria]: ...
    @overload
    def query(self, *, room_id: str, user_id: str, timestamp: datetime.datetime, criteria_id: str) -> Query[of.UserCriteria]: ...

class UserCriteria(Entity):
    key: ClassVar[Key[UserCriteriaKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.UserCriteria],
        where: collections.abc.Callable[[of.UserCriteria], object] | None = ...,
        criteria: Given[dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any]] = ...,
        weights: Given[dict[str, float]] = ...,
        source: Given[typing.Literal['manual', 'ai_proposed']] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.UserCriteria: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        user_id: str = ...,
        timestamp: datetime.datetime = ...,
        criteria_id: str = ...,
        criteria: dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any] = ...,
        weights: dict[str, float] = ...,
        source: typing.Literal['manual', 'ai_proposed'] = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.UserCriteria: ...

class LatestCriteriaKey(KeyOf[of.LatestCriteria]):
    def __call__(self, *, room_id: str, user_id: str) -> Ref[of.LatestCriteria]: ...
    @overload
    def query(self, *, room_id: str) -> ByUserId[of.LatestCriteria]: ...
    @overload
    def query(self, *, room_id: str, user_id: str) -> Query[of.LatestCriteria]: ...

class LatestCriteria(Entity):
    key: ClassVar[Key[LatestCriteriaKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.LatestCriteria],
        where: collections.abc.Callable[[of.LatestCriteria], object] | None = ...,
        timestamp: Given[datetime.datetime] = ...,
        criteria_id: Given[str] = ...,
        criteria: Given[dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any]] = ...,
        weights: Given[dict[str, float]] = ...,
        source: Given[typing.Literal['manual', 'ai_proposed']] = ...,
    ) -> of.LatestCriteria: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        user_id: str = ...,
        timestamp: datetime.datetime = ...,
        criteria_id: str = ...,
        criteria: dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any] = ...,
        weights: dict[str, float] = ...,
        source: typing.Literal['manual', 'ai_proposed'] = ...,
    ) -> of.LatestCriteria: ...

class CombinedCriteriaKey(KeyOf[of.CombinedCriteria]):
    def __call__(self, *, room_id: str, timestamp: datetime.datetime, combined_id: str) -> Ref[of.CombinedCriteria]: ...
    @overload
    def query(self, *, room_id: str) -> ByTimestamp[of.CombinedCriteria]: ...
    @overload
    def query(self, *, room_id: str, timestamp: datetime.datetime) -> ByCombinedId[of.CombinedCriteria]: ...
    @overload
    def query(self, *, room_id: str, timestamp: datetime.datetime, combined_id: str) -> Query[of.CombinedCriteria]: ...

class CombinedCriteria(Entity):
    key: ClassVar[Key[CombinedCriteriaKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.CombinedCriteria],
        where: collections.abc.Callable[[of.CombinedCriteria], object] | None = ...,
        criteria: Given[dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any]] = ...,
        weights: Given[dict[str, float]] = ...,
        from_user_ids: GivenList[str] = ...,
        combine_mode: Given[typing.Literal['all', 'mixed', 'strict']] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.CombinedCriteria: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        timestamp: datetime.datetime = ...,
        combined_id: str = ...,
        criteria: dict[str, bool | int | float | str | list[str] | keyfold_systems.search_room.wishes.Span | Any] = ...,
        weights: dict[str, float] = ...,
        from_user_ids: list[str] = ...,
        combine_mode: typing.Literal['all', 'mixed', 'strict'] = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.CombinedCriteria: ...

class ActivityKey(KeyOf[of.Activity]):
    def __call__(self, *, room_id: str, created_at: datetime.datetime, activity_id: str) -> Ref[of.Activity]: ...
    @overload
    def query(self, *, room_id: str) -> ByCreatedAt[of.Activity]: ...
    @overload
    def query(self, *, room_id: str, created_at: datetime.datetime) -> ByActivityId[of.Activity]: ...
    @overload
    def query(self, *, room_id: str, created_at: datetime.datetime, activity_id: str) -> Query[of.Activity]: ...

class Activity(Entity):
    key: ClassVar[Key[ActivityKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Activity],
        where: collections.abc.Callable[[of.Activity], object] | None = ...,
        type: Given[str] = ...,
        sender_type: Given[typing.Literal['user', 'ai_copilot', 'system']] = ...,
        sender_id: Given[str] = ...,
        text: Given[str] = ...,
        about: Given[str] | Clear | None = ...,
        ttl: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Activity: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        created_at: datetime.datetime = ...,
        activity_id: str = ...,
        type: str = ...,
        sender_type: typing.Literal['user', 'ai_copilot', 'system'] = ...,
        sender_id: str = ...,
        text: str = ...,
        about: str | None = ...,
        ttl: datetime.datetime | None = ...,
    ) -> of.Activity: ...

class NotificationKey(KeyOf[of.Notification]):
    def __call__(self, *, user_id: str, created_at: datetime.datetime, activity_id: str) -> Ref[of.Notification]: ...
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Notification]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByActivityId[of.Notification]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, activity_id: str) -> Query[of.Notification]: ...

class Notification(Entity):
    key: ClassVar[Key[NotificationKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Notification],
        where: collections.abc.Callable[[of.Notification], object] | None = ...,
        room_id: Given[str] | Clear | None = ...,
        type: Given[str] = ...,
        sender_id: Given[str] = ...,
        text: Given[str] = ...,
        about: Given[str] | Clear | None = ...,
        is_read: Given[bool] = ...,
        ttl: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Notification: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        created_at: datetime.datetime = ...,
        activity_id: str = ...,
        room_id: str | None = ...,
        type: str = ...,
        sender_id: str = ...,
        text: str = ...,
        about: str | None = ...,
        is_read: bool = ...,
        ttl: datetime.datetime | None = ...,
    ) -> of.Notification: ...

class CompatibilityKey(KeyOf[of.Compatibility]):
    def __call__(self, *, room_id: str, timestamp: datetime.datetime, compatibility_id: str) -> Ref[of.Compatibility]: ...
    @overload
    def query(self, *, room_id: str) -> ByTimestamp[of.Compatibility]: ...
    @overload
    def query(self, *, room_id: str, timestamp: datetime.datetime) -> ByCompatibilityId[of.Compatibility]: ...
    @overload
    def query(self, *, room_id: str, timestamp: datetime.datetime, compatibility_id: str) -> Query[of.Compatibility]: ...

class Compatibility(Entity):
    key: ClassVar[Key[CompatibilityKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Compatibility],
        where: collections.abc.Callable[[of.Compatibility], object] | None = ...,
        score_percent: GivenNumber[int] = ...,
        level: Given[typing.Literal['low', 'medium', 'high', 'excellent']] = ...,
        comment: Given[str] = ...,
        criteria_refs: GivenList[str] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Compatibility: ...
    def __moves__(
        self,
        *,
        room_id: str = ...,
        timestamp: datetime.datetime = ...,
        compatibility_id: str = ...,
        score_percent: int = ...,
        level: typing.Literal['low', 'medium', 'high', 'excellent'] = ...,
        comment: str = ...,
        criteria_refs: list[str] = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.Compatibility: ...
