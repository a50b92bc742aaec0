"""Written by `keyfold types`; do not edit."""
# pyright: reportUnnecessaryTypeIgnoreComment=false
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa
# fmt: off

import collections.abc
import datetime
import keyfold.maintain.cascade
import keyfold.maintain.unique
import typing
from typing import ClassVar, Self, TypeVar, overload
from keyfold.design.address import KeyOf, Ref
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.path_change import PathChange
from keyfold.design.placement import On
from keyfold.design.query import Query
from keyfold.runtime.changes import Clear, Given, GivenSet

import keyfold_systems.gg_core.entities as of

E = TypeVar("E", bound=Entity)

class ById(Query[E]):
    def after(self, *, id: str | None) -> Self: ...
    def since(self, *, id: str | None) -> Self: ...
    def before(self, *, id: str | None) -> Self: ...
    def until(self, *, id: str | None) -> Self: ...
    def begins_with(self, *, id: str | None) -> Self: ...

class ByFolloweeId(Query[E]):
    def after(self, *, followee_id: str | None) -> Self: ...
    def since(self, *, followee_id: str | None) -> Self: ...
    def before(self, *, followee_id: str | None) -> Self: ...
    def until(self, *, followee_id: str | None) -> Self: ...
    def begins_with(self, *, followee_id: str | None) -> Self: ...

class ByFollowerId(Query[E]):
    def after(self, *, follower_id: str | None) -> Self: ...
    def since(self, *, follower_id: str | None) -> Self: ...
    def before(self, *, follower_id: str | None) -> Self: ...
    def until(self, *, follower_id: str | None) -> Self: ...
    def begins_with(self, *, follower_id: str | None) -> Self: ...

class ByBlockedId(Query[E]):
    def after(self, *, blocked_id: str | None) -> Self: ...
    def since(self, *, blocked_id: str | None) -> Self: ...
    def before(self, *, blocked_id: str | None) -> Self: ...
    def until(self, *, blocked_id: str | None) -> Self: ...
    def begins_with(self, *, blocked_id: str | None) -> Self: ...

class ByUserId(Query[E]):
    def after(self, *, user_id: str | None) -> Self: ...
    def since(self, *, user_id: str | None) -> Self: ...
    def before(self, *, user_id: str | None) -> Self: ...
    def until(self, *, user_id: str | None) -> Self: ...
    def begins_with(self, *, user_id: str | None) -> Self: ...

class ByJoinedAt(Query[E]):
    def after(self, *, joined_at: datetime.datetime | None) -> Self: ...
    def since(self, *, joined_at: datetime.datetime | None) -> Self: ...
    def before(self, *, joined_at: datetime.datetime | None) -> Self: ...
    def until(self, *, joined_at: datetime.datetime | None) -> Self: ...

class ByGroupId(Query[E]):
    def after(self, *, group_id: str | None) -> Self: ...
    def since(self, *, group_id: str | None) -> Self: ...
    def before(self, *, group_id: str | None) -> Self: ...
    def until(self, *, group_id: str | None) -> Self: ...
    def begins_with(self, *, group_id: str | None) -> Self: ...

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

class UserKey(KeyOf[of.User]):
    def __call__(self, *, id: str) -> Ref[of.User]: ...
    def query(self, *, id: str) -> Query[of.User]: ...

class UserByNickname(KeyOf[of.User]):
    @overload
    def query(self, *, nickname: str) -> ById[of.User]: ...
    @overload
    def query(self, *, nickname: str, id: str) -> Query[of.User]: ...

class UserByEmail(KeyOf[of.User]):
    @overload
    def query(self, *, email: str) -> ById[of.User]: ...
    @overload
    def query(self, *, email: str, id: str) -> Query[of.User]: ...

class User(Entity):
    key: ClassVar[Key[UserKey]]
    by_nickname: ClassVar[On[UserByNickname]]
    by_email: ClassVar[On[UserByEmail]]
    one_nickname: ClassVar[keyfold.maintain.unique.Unique]
    one_email: ClassVar[keyfold.maintain.unique.Unique]
    following: ClassVar[keyfold.maintain.cascade.Cascade]
    followed: ClassVar[keyfold.maintain.cascade.Cascade]
    blocks: ClassVar[keyfold.maintain.cascade.Cascade]
    blocked: ClassVar[keyfold.maintain.cascade.Cascade]
    groups: ClassVar[keyfold.maintain.cascade.Cascade]
    goals: ClassVar[keyfold.maintain.cascade.Cascade]
    quests: ClassVar[keyfold.maintain.cascade.Cascade]
    awards: ClassVar[keyfold.maintain.cascade.Cascade]
    notices: ClassVar[keyfold.maintain.cascade.Cascade]
    told: ClassVar[keyfold.maintain.cascade.Cascade]
    reports: ClassVar[keyfold.maintain.cascade.Cascade]
    reported: ClassVar[keyfold.maintain.cascade.Cascade]
    followers_counter: ClassVar[keyfold.maintain.cascade.Cascade]
    following_counter: ClassVar[keyfold.maintain.cascade.Cascade]
    unread_counter: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.User],
        where: collections.abc.Callable[[of.User], object] | None = ...,
        nickname: Given[str] = ...,
        email: Given[str] = ...,
        full_name: Given[str] = ...,
        language: Given[str] = ...,
        tags: GivenSet[str] = ...,
        tier: Given[typing.Literal['free', 'plus', 'pro']] = ...,
        leaving: Given[bool] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.User: ...
    def __moves__(
        self,
        *,
        id: str = ...,
        nickname: str = ...,
        email: str = ...,
        full_name: str = ...,
        language: str = ...,
        tags: set[str] = ...,
        tier: typing.Literal['free', 'plus', 'pro'] = ...,
        leaving: bool = ...,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.User: ...

class FollowKey(KeyOf[of.Follow]):
    def __call__(self, *, follower_id: str, followee_id: str) -> Ref[of.Follow]: ...
    @overload
    def query(self, *, follower_id: str) -> ByFolloweeId[of.Follow]: ...
    @overload
    def query(self, *, follower_id: str, followee_id: str) -> Query[of.Follow]: ...

class FollowFollowers(KeyOf[of.Follow]):
    @overload
    def query(self, *, followee_id: str) -> ByFollowerId[of.Follow]: ...
    @overload
    def query(self, *, followee_id: str, follower_id: str) -> Query[of.Follow]: ...

class Follow(Entity):
    key: ClassVar[Key[FollowKey]]
    followers: ClassVar[On[FollowFollowers]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Follow],
        where: collections.abc.Callable[[of.Follow], object] | None = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Follow: ...
    def __moves__(
        self,
        *,
        follower_id: str = ...,
        followee_id: str = ...,
        created_at: datetime.datetime | None = ...,
    ) -> of.Follow: ...

class BlockKey(KeyOf[of.Block]):
    def __call__(self, *, user_id: str, blocked_id: str) -> Ref[of.Block]: ...
    @overload
    def query(self, *, user_id: str) -> ByBlockedId[of.Block]: ...
    @overload
    def query(self, *, user_id: str, blocked_id: str) -> Query[of.Block]: ...

class BlockBlockers(KeyOf[of.Block]):
    @overload
    def query(self, *, blocked_id: str) -> ByUserId[of.Block]: ...
    @overload
    def query(self, *, blocked_id: str, user_id: str) -> Query[of.Block]: ...

class Block(Entity):
    key: ClassVar[Key[BlockKey]]
    blockers: ClassVar[On[BlockBlockers]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Block],
        where: collections.abc.Callable[[of.Block], object] | None = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Block: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        blocked_id: str = ...,
        created_at: datetime.datetime | None = ...,
    ) -> of.Block: ...

class FollowersCounterKey(KeyOf[of.FollowersCounter]):
    def __call__(self, *, user_id: str) -> Ref[of.FollowersCounter]: ...
    def query(self, *, user_id: str) -> Query[of.FollowersCounter]: ...

class FollowersCounter(Entity):
    key: ClassVar[Key[FollowersCounterKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.FollowersCounter],
        where: collections.abc.Callable[[of.FollowersCounter], object] | None = ...,
    ) -> of.FollowersCounter: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
    ) -> of.FollowersCounter: ...

class FollowingCounterKey(KeyOf[of.FollowingCounter]):
    def __call__(self, *, user_id: str) -> Ref[of.FollowingCounter]: ...
    def query(self, *, user_id: str) -> Query[of.FollowingCounter]: ...

class FollowingCounter(Entity):
    key: ClassVar[Key[FollowingCounterKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.FollowingCounter],
        where: collections.abc.Callable[[of.FollowingCounter], object] | None = ...,
    ) -> of.FollowingCounter: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
    ) -> of.FollowingCounter: ...

class GroupKey(KeyOf[of.Group]):
    def __call__(self, *, group_id: str) -> Ref[of.Group]: ...
    def query(self, *, group_id: str) -> Query[of.Group]: ...

class Group(Entity):
    key: ClassVar[Key[GroupKey]]
    members: ClassVar[keyfold.maintain.cascade.Cascade]
    rooms: ClassVar[keyfold.maintain.cascade.Cascade]
    activities: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Group],
        where: collections.abc.Callable[[of.Group], object] | None = ...,
        name: Given[str] = ...,
        description: Given[str] = ...,
        owner_id: Given[str] = ...,
        tags: GivenSet[str] = ...,
        is_persistent: Given[bool] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Group: ...
    def __moves__(
        self,
        *,
        group_id: str = ...,
        name: str = ...,
        description: str = ...,
        owner_id: str = ...,
        tags: set[str] = ...,
        is_persistent: bool = ...,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Group: ...

class GroupMemberKey(KeyOf[of.GroupMember]):
    def __call__(self, *, group_id: str, user_id: str) -> Ref[of.GroupMember]: ...
    @overload
    def query(self, *, group_id: str) -> ByUserId[of.GroupMember]: ...
    @overload
    def query(self, *, group_id: str, user_id: str) -> Query[of.GroupMember]: ...

class GroupMemberByUser(KeyOf[of.GroupMember]):
    @overload
    def query(self, *, user_id: str) -> ByJoinedAt[of.GroupMember]: ...
    @overload
    def query(self, *, user_id: str, joined_at: datetime.datetime) -> ByGroupId[of.GroupMember]: ...
    @overload
    def query(self, *, user_id: str, joined_at: datetime.datetime, group_id: str) -> Query[of.GroupMember]: ...

class GroupMember(Entity):
    key: ClassVar[Key[GroupMemberKey]]
    by_user: ClassVar[On[GroupMemberByUser]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.GroupMember],
        where: collections.abc.Callable[[of.GroupMember], object] | None = ...,
        role: Given[of.Role] = ...,
        group_name: Given[str] = ...,
        joined_at: Given[datetime.datetime] = ...,
    ) -> of.GroupMember: ...
    def __moves__(
        self,
        *,
        group_id: str = ...,
        user_id: str = ...,
        role: of.Role = ...,
        group_name: str = ...,
        joined_at: datetime.datetime = ...,
    ) -> of.GroupMember: ...

class ActivityKey(KeyOf[of.Activity]):
    def __call__(self, *, actor_id: str, created_at: datetime.datetime, activity_id: str) -> Ref[of.Activity]: ...
    @overload
    def query(self, *, actor_id: str) -> ByCreatedAt[of.Activity]: ...
    @overload
    def query(self, *, actor_id: str, created_at: datetime.datetime) -> ByActivityId[of.Activity]: ...
    @overload
    def query(self, *, actor_id: str, created_at: datetime.datetime, activity_id: str) -> Query[of.Activity]: ...

class ActivityOfGroup(KeyOf[of.Activity]):
    @overload
    def query(self, *, group_id: str) -> ByCreatedAt[of.Activity]: ...
    @overload
    def query(self, *, group_id: str, created_at: datetime.datetime) -> ByActivityId[of.Activity]: ...
    @overload
    def query(self, *, group_id: str, created_at: datetime.datetime, activity_id: str) -> Query[of.Activity]: ...

class ActivityOfGoal(KeyOf[of.Activity]):
    @overload
    def query(self, *, goal_id: str) -> ByCreatedAt[of.Activity]: ...
    @overload
    def query(self, *, goal_id: str, created_at: datetime.datetime) -> ByActivityId[of.Activity]: ...
    @overload
    def query(self, *, goal_id: str, created_at: datetime.datetime, activity_id: str) -> Query[of.Activity]: ...

class ActivityOnPost(KeyOf[of.Activity]):
    @overload
    def query(self, *, post_id: str) -> ByCreatedAt[of.Activity]: ...
    @overload
    def query(self, *, post_id: str, created_at: datetime.datetime) -> ByActivityId[of.Activity]: ...
    @overload
    def query(self, *, post_id: str, created_at: datetime.datetime, activity_id: str) -> Query[of.Activity]: ...

class Activity(Entity):
    key: ClassVar[Key[ActivityKey]]
    of_group: ClassVar[On[ActivityOfGroup]]
    of_goal: ClassVar[On[ActivityOfGoal]]
    on_post: ClassVar[On[ActivityOnPost]]
    comments: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Activity],
        where: collections.abc.Callable[[of.Activity], object] | None = ...,
        author_id: Given[str] = ...,
        verb: Given[str] = ...,
        object_type: Given[typing.Literal['Goal', 'Task', 'Group', 'Post']] = ...,
        object_id: Given[str] = ...,
        group_id: Given[str] | Clear | None = ...,
        goal_id: Given[str] | Clear | None = ...,
        post_id: Given[str] | Clear | None = ...,
        post_actor_id: Given[str] | Clear | None = ...,
        post_created_at: Given[datetime.datetime] | Clear | None = ...,
        preview_text: Given[str] = ...,
        media: Given[of.Media] | Clear | None = ...,
        tags: GivenSet[str] = ...,
    ) -> of.Activity: ...
    def __moves__(
        self,
        *,
        actor_id: str = ...,
        activity_id: str = ...,
        author_id: str = ...,
        verb: str = ...,
        object_type: typing.Literal['Goal', 'Task', 'Group', 'Post'] = ...,
        object_id: str = ...,
        group_id: str | None = ...,
        goal_id: str | None = ...,
        post_id: str | None = ...,
        post_actor_id: str | None = ...,
        post_created_at: datetime.datetime | None = ...,
        preview_text: str = ...,
        media: of.Media | None = ...,
        tags: set[str] = ...,
        created_at: datetime.datetime = ...,
    ) -> of.Activity: ...

class CommentsCounterKey(KeyOf[of.CommentsCounter]):
    def __call__(self, *, post_id: str) -> Ref[of.CommentsCounter]: ...
    def query(self, *, post_id: str) -> Query[of.CommentsCounter]: ...

class CommentsCounter(Entity):
    key: ClassVar[Key[CommentsCounterKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.CommentsCounter],
        where: collections.abc.Callable[[of.CommentsCounter], object] | None = ...,
    ) -> of.CommentsCounter: ...
    def __moves__(
        self,
        *,
        post_id: str = ...,
    ) -> of.CommentsCounter: ...

class FeedItemKey(KeyOf[of.FeedItem]):
    def __call__(self, *, follower_id: str, created_at: datetime.datetime, activity_id: str) -> Ref[of.FeedItem]: ...
    @overload
    def query(self, *, follower_id: str) -> ByCreatedAt[of.FeedItem]: ...
    @overload
    def query(self, *, follower_id: str, created_at: datetime.datetime) -> ByActivityId[of.FeedItem]: ...
    @overload
    def query(self, *, follower_id: str, created_at: datetime.datetime, activity_id: str) -> Query[of.FeedItem]: ...

class FeedItem(Entity):
    key: ClassVar[Key[FeedItemKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.FeedItem],
        where: collections.abc.Callable[[of.FeedItem], object] | None = ...,
        actor_id: Given[str] = ...,
        author_id: Given[str] = ...,
        verb: Given[str] = ...,
        object_type: Given[typing.Literal['Goal', 'Task', 'Group', 'Post']] = ...,
        object_id: Given[str] = ...,
        post_actor_id: Given[str] | Clear | None = ...,
        post_created_at: Given[datetime.datetime] | Clear | None = ...,
        preview_text: Given[str] = ...,
        media: Given[of.Media] | Clear | None = ...,
        tags: GivenSet[str] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.FeedItem: ...
    def __moves__(
        self,
        *,
        follower_id: str = ...,
        activity_id: str = ...,
        actor_id: str = ...,
        author_id: str = ...,
        verb: str = ...,
        object_type: typing.Literal['Goal', 'Task', 'Group', 'Post'] = ...,
        object_id: str = ...,
        post_actor_id: str | None = ...,
        post_created_at: datetime.datetime | None = ...,
        preview_text: str = ...,
        media: of.Media | None = ...,
        tags: set[str] = ...,
        created_at: datetime.datetime = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.FeedItem: ...

class PromotionKey(KeyOf[of.Promotion]):
    def __call__(self, *, user_id: str) -> Ref[of.Promotion]: ...
    def query(self, *, user_id: str) -> Query[of.Promotion]: ...

class Promotion(Entity):
    key: ClassVar[Key[PromotionKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Promotion],
        where: collections.abc.Callable[[of.Promotion], object] | None = ...,
        fanout_enabled: Given[bool] = ...,
        reason: Given[typing.Literal['followers', 'volume', 'manual']] = ...,
        thresholds: Given[dict[str, float]] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Promotion: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        fanout_enabled: bool = ...,
        reason: typing.Literal['followers', 'volume', 'manual'] = ...,
        thresholds: dict[str, float] = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Promotion: ...
