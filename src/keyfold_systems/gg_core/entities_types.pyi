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
from keyfold.runtime.changes import Clear, Given, GivenNumber, GivenSet

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

class ByGoalId(Query[E]):
    def after(self, *, goal_id: str | None) -> Self: ...
    def since(self, *, goal_id: str | None) -> Self: ...
    def before(self, *, goal_id: str | None) -> Self: ...
    def until(self, *, goal_id: str | None) -> Self: ...
    def begins_with(self, *, goal_id: str | None) -> Self: ...

class ByCreatedAt(Query[E]):
    def after(self, *, created_at: datetime.datetime | None) -> Self: ...
    def since(self, *, created_at: datetime.datetime | None) -> Self: ...
    def before(self, *, created_at: datetime.datetime | None) -> Self: ...
    def until(self, *, created_at: datetime.datetime | None) -> Self: ...

class ByTaskId(Query[E]):
    def after(self, *, task_id: str | None) -> Self: ...
    def since(self, *, task_id: str | None) -> Self: ...
    def before(self, *, task_id: str | None) -> Self: ...
    def until(self, *, task_id: str | None) -> Self: ...
    def begins_with(self, *, task_id: str | None) -> Self: ...

class ByDueAt(Query[E]):
    def after(self, *, due_at: datetime.datetime | None) -> Self: ...
    def since(self, *, due_at: datetime.datetime | None) -> Self: ...
    def before(self, *, due_at: datetime.datetime | None) -> Self: ...
    def until(self, *, due_at: datetime.datetime | None) -> Self: ...

class ByActivityId(Query[E]):
    def after(self, *, activity_id: str | None) -> Self: ...
    def since(self, *, activity_id: str | None) -> Self: ...
    def before(self, *, activity_id: str | None) -> Self: ...
    def until(self, *, activity_id: str | None) -> Self: ...
    def begins_with(self, *, activity_id: str | None) -> Self: ...

class ByQuestId(Query[E]):
    def after(self, *, quest_id: str | None) -> Self: ...
    def since(self, *, quest_id: str | None) -> Self: ...
    def before(self, *, quest_id: str | None) -> Self: ...
    def until(self, *, quest_id: str | None) -> Self: ...
    def begins_with(self, *, quest_id: str | None) -> Self: ...

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
        suspended: Given[bool] = ...,
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
        suspended: bool = ...,
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

class GoalKey(KeyOf[of.Goal]):
    def __call__(self, *, user_id: str, goal_id: str) -> Ref[of.Goal]: ...
    @overload
    def query(self, *, user_id: str) -> ByGoalId[of.Goal]: ...
    @overload
    def query(self, *, user_id: str, goal_id: str) -> Query[of.Goal]: ...

class GoalByUser(KeyOf[of.Goal]):
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Goal]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByGoalId[of.Goal]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, goal_id: str) -> Query[of.Goal]: ...

class Goal(Entity):
    key: ClassVar[Key[GoalKey]]
    by_user: ClassVar[On[GoalByUser]]
    tasks: ClassVar[keyfold.maintain.cascade.Cascade]
    updates: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Goal],
        where: collections.abc.Callable[[of.Goal], object] | None = ...,
        title: Given[str] = ...,
        description: Given[str] = ...,
        status: Given[typing.Literal['active', 'completed']] = ...,
        tags: GivenSet[str] = ...,
        completed_at: Given[datetime.datetime] | Clear | None = ...,
        created_at: Given[datetime.datetime] = ...,
    ) -> of.Goal: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        goal_id: str = ...,
        title: str = ...,
        description: str = ...,
        status: typing.Literal['active', 'completed'] = ...,
        tags: set[str] = ...,
        completed_at: datetime.datetime | None = ...,
        created_at: datetime.datetime = ...,
    ) -> of.Goal: ...

class TaskKey(KeyOf[of.Task]):
    def __call__(self, *, goal_id: str, task_id: str) -> Ref[of.Task]: ...
    @overload
    def query(self, *, goal_id: str) -> ByTaskId[of.Task]: ...
    @overload
    def query(self, *, goal_id: str, task_id: str) -> Query[of.Task]: ...

class TaskByDue(KeyOf[of.Task]):
    @overload
    def query(self, *, user_id: str) -> ByDueAt[of.Task]: ...
    @overload
    def query(self, *, user_id: str, due_at: datetime.datetime) -> ByTaskId[of.Task]: ...
    @overload
    def query(self, *, user_id: str, due_at: datetime.datetime, task_id: str) -> Query[of.Task]: ...

class Task(Entity):
    key: ClassVar[Key[TaskKey]]
    by_due: ClassVar[On[TaskByDue]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Task],
        where: collections.abc.Callable[[of.Task], object] | None = ...,
        user_id: Given[str] = ...,
        title: Given[str] = ...,
        due_at: Given[datetime.datetime] | Clear | None = ...,
        completed_at: Given[datetime.datetime] | Clear | None = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Task: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        goal_id: str = ...,
        task_id: str = ...,
        title: str = ...,
        due_at: datetime.datetime | None = ...,
        completed_at: datetime.datetime | None = ...,
        created_at: datetime.datetime | None = ...,
    ) -> of.Task: ...

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

class QuestKey(KeyOf[of.Quest]):
    def __call__(self, *, user_id: str, id: str) -> Ref[of.Quest]: ...
    @overload
    def query(self, *, user_id: str) -> ById[of.Quest]: ...
    @overload
    def query(self, *, user_id: str, id: str) -> Query[of.Quest]: ...

class QuestByUser(KeyOf[of.Quest]):
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Quest]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ById[of.Quest]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, id: str) -> Query[of.Quest]: ...

class Quest(Entity):
    key: ClassVar[Key[QuestKey]]
    by_user: ClassVar[On[QuestByUser]]
    steps: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Quest],
        where: collections.abc.Callable[[of.Quest], object] | None = ...,
        title: Given[str] = ...,
        description: Given[str] = ...,
        difficulty: Given[typing.Literal['easy', 'medium', 'hard']] = ...,
        reward_xp: GivenNumber[int] = ...,
        status: Given[typing.Literal['active', 'completed', 'cancelled']] = ...,
        tags: GivenSet[str] = ...,
        deadline: Given[datetime.datetime] | Clear | None = ...,
        kind: Given[typing.Literal['linked', 'quantitative']] = ...,
        linked_goal_ids: GivenSet[str] = ...,
        linked_task_ids: GivenSet[str] = ...,
        target_count: GivenNumber[int] | Clear | None = ...,
        count_scope: Given[typing.Literal['any', 'linked']] = ...,
        start_at: Given[datetime.datetime] | Clear | None = ...,
        period_seconds: GivenNumber[int] | Clear | None = ...,
        lost_link: Given[str] | Clear | None = ...,
        created_at: Given[datetime.datetime] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Quest: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        id: str = ...,
        title: str = ...,
        description: str = ...,
        difficulty: typing.Literal['easy', 'medium', 'hard'] = ...,
        reward_xp: int = ...,
        status: typing.Literal['active', 'completed', 'cancelled'] = ...,
        tags: set[str] = ...,
        deadline: datetime.datetime | None = ...,
        kind: typing.Literal['linked', 'quantitative'] = ...,
        linked_goal_ids: set[str] = ...,
        linked_task_ids: set[str] = ...,
        target_count: int | None = ...,
        count_scope: typing.Literal['any', 'linked'] = ...,
        start_at: datetime.datetime | None = ...,
        period_seconds: int | None = ...,
        lost_link: str | None = ...,
        created_at: datetime.datetime = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Quest: ...

class QuestStepKey(KeyOf[of.QuestStep]):
    def __call__(self, *, quest_id: str, task_id: str) -> Ref[of.QuestStep]: ...
    @overload
    def query(self, *, quest_id: str) -> ByTaskId[of.QuestStep]: ...
    @overload
    def query(self, *, quest_id: str, task_id: str) -> Query[of.QuestStep]: ...

class QuestStep(Entity):
    key: ClassVar[Key[QuestStepKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.QuestStep],
        where: collections.abc.Callable[[of.QuestStep], object] | None = ...,
        user_id: Given[str] = ...,
        at: Given[datetime.datetime] = ...,
    ) -> of.QuestStep: ...
    def __moves__(
        self,
        *,
        quest_id: str = ...,
        user_id: str = ...,
        task_id: str = ...,
        at: datetime.datetime = ...,
    ) -> of.QuestStep: ...

class AwardKey(KeyOf[of.Award]):
    def __call__(self, *, user_id: str, quest_id: str) -> Ref[of.Award]: ...
    @overload
    def query(self, *, user_id: str) -> ByQuestId[of.Award]: ...
    @overload
    def query(self, *, user_id: str, quest_id: str) -> Query[of.Award]: ...

class Award(Entity):
    key: ClassVar[Key[AwardKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Award],
        where: collections.abc.Callable[[of.Award], object] | None = ...,
        xp: GivenNumber[int] = ...,
        at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Award: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        quest_id: str = ...,
        xp: int = ...,
        at: datetime.datetime | None = ...,
    ) -> of.Award: ...
