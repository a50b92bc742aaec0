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
from keyfold.runtime.changes import Clear, Given, GivenList, GivenNumber

import keyfold_systems.tamafriends.entities as of

E = TypeVar("E", bound=Entity)

class ByUserId(Query[E]):
    def after(self, *, user_id: str | None) -> Self: ...
    def since(self, *, user_id: str | None) -> Self: ...
    def before(self, *, user_id: str | None) -> Self: ...
    def until(self, *, user_id: str | None) -> Self: ...
    def begins_with(self, *, user_id: str | None) -> Self: ...

class BySessionId(Query[E]):
    def after(self, *, session_id: str | None) -> Self: ...
    def since(self, *, session_id: str | None) -> Self: ...
    def before(self, *, session_id: str | None) -> Self: ...
    def until(self, *, session_id: str | None) -> Self: ...
    def begins_with(self, *, session_id: str | None) -> Self: ...

class ByCreatedAt(Query[E]):
    def after(self, *, created_at: datetime.datetime | None) -> Self: ...
    def since(self, *, created_at: datetime.datetime | None) -> Self: ...
    def before(self, *, created_at: datetime.datetime | None) -> Self: ...
    def until(self, *, created_at: datetime.datetime | None) -> Self: ...

class ByPostId(Query[E]):
    def after(self, *, post_id: str | None) -> Self: ...
    def since(self, *, post_id: str | None) -> Self: ...
    def before(self, *, post_id: str | None) -> Self: ...
    def until(self, *, post_id: str | None) -> Self: ...
    def begins_with(self, *, post_id: str | None) -> Self: ...

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

class ByCommentId(Query[E]):
    def after(self, *, comment_id: str | None) -> Self: ...
    def since(self, *, comment_id: str | None) -> Self: ...
    def before(self, *, comment_id: str | None) -> Self: ...
    def until(self, *, comment_id: str | None) -> Self: ...
    def begins_with(self, *, comment_id: str | None) -> Self: ...

class ByNotificationId(Query[E]):
    def after(self, *, notification_id: str | None) -> Self: ...
    def since(self, *, notification_id: str | None) -> Self: ...
    def before(self, *, notification_id: str | None) -> Self: ...
    def until(self, *, notification_id: str | None) -> Self: ...
    def begins_with(self, *, notification_id: str | None) -> Self: ...

class ByKind(Query[E]):
    def after(self, *, kind: typing.Literal['post', 'comment', 'user'] | None) -> Self: ...
    def since(self, *, kind: typing.Literal['post', 'comment', 'user'] | None) -> Self: ...
    def before(self, *, kind: typing.Literal['post', 'comment', 'user'] | None) -> Self: ...
    def until(self, *, kind: typing.Literal['post', 'comment', 'user'] | None) -> Self: ...

class ByTargetId(Query[E]):
    def after(self, *, target_id: str | None) -> Self: ...
    def since(self, *, target_id: str | None) -> Self: ...
    def before(self, *, target_id: str | None) -> Self: ...
    def until(self, *, target_id: str | None) -> Self: ...
    def begins_with(self, *, target_id: str | None) -> Self: ...

class UserProfileKey(KeyOf[of.UserProfile]):
    def __call__(self, *, user_id: str) -> Ref[of.UserProfile]: ...
    def query(self, *, user_id: str) -> Query[of.UserProfile]: ...

class UserProfileByEmail(KeyOf[of.UserProfile]):
    @overload
    def query(self, *, email: str) -> ByUserId[of.UserProfile]: ...
    @overload
    def query(self, *, email: str, user_id: str) -> Query[of.UserProfile]: ...

class UserProfileByUsername(KeyOf[of.UserProfile]):
    @overload
    def query(self, *, username: str) -> ByUserId[of.UserProfile]: ...
    @overload
    def query(self, *, username: str, user_id: str) -> Query[of.UserProfile]: ...

class UserProfileByHandle(KeyOf[of.UserProfile]):
    @overload
    def query(self, *, handle: str) -> ByUserId[of.UserProfile]: ...
    @overload
    def query(self, *, handle: str, user_id: str) -> Query[of.UserProfile]: ...

class UserProfile(Entity):
    key: ClassVar[Key[UserProfileKey]]
    by_email: ClassVar[On[UserProfileByEmail]]
    by_username: ClassVar[On[UserProfileByUsername]]
    by_handle: ClassVar[On[UserProfileByHandle]]
    one_email: ClassVar[keyfold.maintain.unique.Unique]
    one_username: ClassVar[keyfold.maintain.unique.Unique]
    one_handle: ClassVar[keyfold.maintain.unique.Unique]
    credentials: ClassVar[keyfold.maintain.cascade.Cascade]
    sessions: ClassVar[keyfold.maintain.cascade.Cascade]
    posts: ClassVar[keyfold.maintain.cascade.Cascade]
    follows: ClassVar[keyfold.maintain.cascade.Cascade]
    followed: ClassVar[keyfold.maintain.cascade.Cascade]
    comments: ClassVar[keyfold.maintain.cascade.Cascade]
    likes: ClassVar[keyfold.maintain.cascade.Cascade]
    blocks: ClassVar[keyfold.maintain.cascade.Cascade]
    blocked: ClassVar[keyfold.maintain.cascade.Cascade]
    notices: ClassVar[keyfold.maintain.cascade.Cascade]
    inbox: ClassVar[keyfold.maintain.cascade.Cascade]
    copies: ClassVar[keyfold.maintain.cascade.Cascade]
    reports: ClassVar[keyfold.maintain.cascade.Cascade]
    reported: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.UserProfile],
        where: collections.abc.Callable[[of.UserProfile], object] | None = ...,
        email: Given[str] = ...,
        username: Given[str] = ...,
        handle: Given[str] = ...,
        display_name: Given[str] = ...,
        bio: Given[str] = ...,
        picture: Given[of.Image] | Clear | None = ...,
        role: Given[typing.Literal['member', 'moderator', 'admin']] = ...,
        created_at: Given[datetime.datetime] | Clear | None = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.UserProfile: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        email: str = ...,
        username: str = ...,
        handle: str = ...,
        display_name: str = ...,
        bio: str = ...,
        picture: of.Image | None = ...,
        role: typing.Literal['member', 'moderator', 'admin'] = ...,
        created_at: datetime.datetime | None = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.UserProfile: ...

class CredentialKey(KeyOf[of.Credential]):
    def __call__(self, *, user_id: str) -> Ref[of.Credential]: ...
    def query(self, *, user_id: str) -> Query[of.Credential]: ...

class Credential(Entity):
    key: ClassVar[Key[CredentialKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Credential],
        where: collections.abc.Callable[[of.Credential], object] | None = ...,
        password: Given[str] = ...,
        failures: GivenNumber[int] = ...,
        locked_until: Given[datetime.datetime] | Clear | None = ...,
        session: GivenNumber[int] = ...,
        reset: Given[str] | Clear | None = ...,
        reset_until: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Credential: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        password: str = ...,
        failures: int = ...,
        locked_until: datetime.datetime | None = ...,
        session: int = ...,
        reset: str | None = ...,
        reset_until: datetime.datetime | None = ...,
    ) -> of.Credential: ...

class SessionKey(KeyOf[of.Session]):
    def __call__(self, *, user_id: str, session_id: str) -> Ref[of.Session]: ...
    @overload
    def query(self, *, user_id: str) -> BySessionId[of.Session]: ...
    @overload
    def query(self, *, user_id: str, session_id: str) -> Query[of.Session]: ...

class Session(Entity):
    key: ClassVar[Key[SessionKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Session],
        where: collections.abc.Callable[[of.Session], object] | None = ...,
        digest: Given[bytes] = ...,
        generation: GivenNumber[int] = ...,
        device: Given[str] = ...,
        created_at: Given[datetime.datetime] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Session: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        session_id: str = ...,
        digest: bytes = ...,
        generation: int = ...,
        device: str = ...,
        created_at: datetime.datetime = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.Session: ...

class PostKey(KeyOf[of.Post]):
    def __call__(self, *, user_id: str, created_at: datetime.datetime, post_id: str) -> Ref[of.Post]: ...
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Post]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByPostId[of.Post]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, post_id: str) -> Query[of.Post]: ...

class PostById(KeyOf[of.Post]):
    @overload
    def query(self, *, post_id: str) -> ByUserId[of.Post]: ...
    @overload
    def query(self, *, post_id: str, user_id: str) -> Query[of.Post]: ...

class Post(Entity):
    key: ClassVar[Key[PostKey]]
    by_id: ClassVar[On[PostById]]
    its_comments: ClassVar[keyfold.maintain.cascade.Cascade]
    its_likes: ClassVar[keyfold.maintain.cascade.Cascade]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Post],
        where: collections.abc.Callable[[of.Post], object] | None = ...,
        text: Given[str] = ...,
        images: GivenList[of.Image] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Post: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        post_id: str = ...,
        text: str = ...,
        images: list[of.Image] = ...,
        created_at: datetime.datetime = ...,
        updated_at: datetime.datetime | None = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.Post: ...

class FollowKey(KeyOf[of.Follow]):
    def __call__(self, *, follower_id: str, followee_id: str) -> Ref[of.Follow]: ...
    @overload
    def query(self, *, follower_id: str) -> ByFolloweeId[of.Follow]: ...
    @overload
    def query(self, *, follower_id: str, followee_id: str) -> Query[of.Follow]: ...

class FollowByFollowee(KeyOf[of.Follow]):
    @overload
    def query(self, *, followee_id: str) -> ByFollowerId[of.Follow]: ...
    @overload
    def query(self, *, followee_id: str, follower_id: str) -> Query[of.Follow]: ...

class Follow(Entity):
    key: ClassVar[Key[FollowKey]]
    by_followee: ClassVar[On[FollowByFollowee]]
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

class BlockByBlocked(KeyOf[of.Block]):
    @overload
    def query(self, *, blocked_id: str) -> ByUserId[of.Block]: ...
    @overload
    def query(self, *, blocked_id: str, user_id: str) -> Query[of.Block]: ...

class Block(Entity):
    key: ClassVar[Key[BlockKey]]
    by_blocked: ClassVar[On[BlockByBlocked]]
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

class CommentKey(KeyOf[of.Comment]):
    def __call__(self, *, post_id: str, created_at: datetime.datetime, comment_id: str) -> Ref[of.Comment]: ...
    @overload
    def query(self, *, post_id: str) -> ByCreatedAt[of.Comment]: ...
    @overload
    def query(self, *, post_id: str, created_at: datetime.datetime) -> ByCommentId[of.Comment]: ...
    @overload
    def query(self, *, post_id: str, created_at: datetime.datetime, comment_id: str) -> Query[of.Comment]: ...

class CommentById(KeyOf[of.Comment]):
    @overload
    def query(self, *, comment_id: str) -> ByPostId[of.Comment]: ...
    @overload
    def query(self, *, comment_id: str, post_id: str) -> Query[of.Comment]: ...

class CommentByUser(KeyOf[of.Comment]):
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Comment]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByCommentId[of.Comment]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, comment_id: str) -> Query[of.Comment]: ...

class Comment(Entity):
    key: ClassVar[Key[CommentKey]]
    by_id: ClassVar[On[CommentById]]
    by_user: ClassVar[On[CommentByUser]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Comment],
        where: collections.abc.Callable[[of.Comment], object] | None = ...,
        user_id: Given[str] = ...,
        user_handle: Given[str] = ...,
        text: Given[str] = ...,
        post_user_id: Given[str] = ...,
        post_created_at: Given[datetime.datetime] = ...,
        updated_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Comment: ...
    def __moves__(
        self,
        *,
        post_id: str = ...,
        comment_id: str = ...,
        user_id: str = ...,
        user_handle: str = ...,
        text: str = ...,
        post_user_id: str = ...,
        post_created_at: datetime.datetime = ...,
        created_at: datetime.datetime = ...,
        updated_at: datetime.datetime | None = ...,
    ) -> of.Comment: ...

class LikeKey(KeyOf[of.Like]):
    def __call__(self, *, post_id: str, user_id: str) -> Ref[of.Like]: ...
    @overload
    def query(self, *, post_id: str) -> ByUserId[of.Like]: ...
    @overload
    def query(self, *, post_id: str, user_id: str) -> Query[of.Like]: ...

class LikeByUser(KeyOf[of.Like]):
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Like]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByPostId[of.Like]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, post_id: str) -> Query[of.Like]: ...

class Like(Entity):
    key: ClassVar[Key[LikeKey]]
    by_user: ClassVar[On[LikeByUser]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Like],
        where: collections.abc.Callable[[of.Like], object] | None = ...,
        post_user_id: Given[str] = ...,
        post_created_at: Given[datetime.datetime] = ...,
        created_at: Given[datetime.datetime] = ...,
    ) -> of.Like: ...
    def __moves__(
        self,
        *,
        post_id: str = ...,
        user_id: str = ...,
        post_user_id: str = ...,
        post_created_at: datetime.datetime = ...,
        created_at: datetime.datetime = ...,
    ) -> of.Like: ...

class FeedItemKey(KeyOf[of.FeedItem]):
    def __call__(self, *, reader_id: str, created_at: datetime.datetime, post_id: str) -> Ref[of.FeedItem]: ...
    @overload
    def query(self, *, reader_id: str) -> ByCreatedAt[of.FeedItem]: ...
    @overload
    def query(self, *, reader_id: str, created_at: datetime.datetime) -> ByPostId[of.FeedItem]: ...
    @overload
    def query(self, *, reader_id: str, created_at: datetime.datetime, post_id: str) -> Query[of.FeedItem]: ...

class FeedItem(Entity):
    key: ClassVar[Key[FeedItemKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.FeedItem],
        where: collections.abc.Callable[[of.FeedItem], object] | None = ...,
        user_id: Given[str] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.FeedItem: ...
    def __moves__(
        self,
        *,
        reader_id: str = ...,
        user_id: str = ...,
        post_id: str = ...,
        created_at: datetime.datetime = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.FeedItem: ...

class NotificationKey(KeyOf[of.Notification]):
    def __call__(self, *, user_id: str, created_at: datetime.datetime, notification_id: str) -> Ref[of.Notification]: ...
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Notification]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByNotificationId[of.Notification]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, notification_id: str) -> Query[of.Notification]: ...

class Notification(Entity):
    key: ClassVar[Key[NotificationKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Notification],
        where: collections.abc.Callable[[of.Notification], object] | None = ...,
        kind: Given[typing.Literal['follow', 'like', 'comment', 'removal']] = ...,
        actor_id: Given[str] | Clear | None = ...,
        post_id: Given[str] | Clear | None = ...,
        comment_id: Given[str] | Clear | None = ...,
        text: Given[str] = ...,
        state: Given[typing.Literal['unread', 'read']] = ...,
        expires_at: Given[datetime.datetime] | Clear | None = ...,
    ) -> of.Notification: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
        notification_id: str = ...,
        kind: typing.Literal['follow', 'like', 'comment', 'removal'] = ...,
        actor_id: str | None = ...,
        post_id: str | None = ...,
        comment_id: str | None = ...,
        text: str = ...,
        state: typing.Literal['unread', 'read'] = ...,
        created_at: datetime.datetime = ...,
        expires_at: datetime.datetime | None = ...,
    ) -> of.Notification: ...

class InboxKey(KeyOf[of.Inbox]):
    def __call__(self, *, user_id: str) -> Ref[of.Inbox]: ...
    def query(self, *, user_id: str) -> Query[of.Inbox]: ...

class Inbox(Entity):
    key: ClassVar[Key[InboxKey]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Inbox],
        where: collections.abc.Callable[[of.Inbox], object] | None = ...,
    ) -> of.Inbox: ...
    def __moves__(
        self,
        *,
        user_id: str = ...,
    ) -> of.Inbox: ...

class ReportKey(KeyOf[of.Report]):
    def __call__(self, *, kind: typing.Literal['post', 'comment', 'user'], target_id: str, user_id: str) -> Ref[of.Report]: ...
    @overload
    def query(self) -> ByKind[of.Report]: ...
    @overload
    def query(self, *, kind: typing.Literal['post', 'comment', 'user']) -> ByTargetId[of.Report]: ...
    @overload
    def query(self, *, kind: typing.Literal['post', 'comment', 'user'], target_id: str) -> ByUserId[of.Report]: ...
    @overload
    def query(self, *, kind: typing.Literal['post', 'comment', 'user'], target_id: str, user_id: str) -> Query[of.Report]: ...

class ReportByAuthor(KeyOf[of.Report]):
    @overload
    def query(self, *, author_id: str) -> ByKind[of.Report]: ...
    @overload
    def query(self, *, author_id: str, kind: typing.Literal['post', 'comment', 'user']) -> ByTargetId[of.Report]: ...
    @overload
    def query(self, *, author_id: str, kind: typing.Literal['post', 'comment', 'user'], target_id: str) -> ByUserId[of.Report]: ...
    @overload
    def query(self, *, author_id: str, kind: typing.Literal['post', 'comment', 'user'], target_id: str, user_id: str) -> Query[of.Report]: ...

class ReportByUser(KeyOf[of.Report]):
    @overload
    def query(self, *, user_id: str) -> ByCreatedAt[of.Report]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime) -> ByTargetId[of.Report]: ...
    @overload
    def query(self, *, user_id: str, created_at: datetime.datetime, target_id: str) -> Query[of.Report]: ...

class Report(Entity):
    key: ClassVar[Key[ReportKey]]
    by_author: ClassVar[On[ReportByAuthor]]
    by_user: ClassVar[On[ReportByUser]]
    def __changes__(  # type: ignore[override]
        self,
        *_at: PathChange[of.Report],
        where: collections.abc.Callable[[of.Report], object] | None = ...,
        author_id: Given[str] = ...,
        post_id: Given[str] | Clear | None = ...,
        reason: Given[typing.Literal['spam', 'abuse', 'other']] = ...,
        text: Given[str] = ...,
        excerpt: Given[str] = ...,
        created_at: Given[datetime.datetime] = ...,
    ) -> of.Report: ...
    def __moves__(
        self,
        *,
        kind: typing.Literal['post', 'comment', 'user'] = ...,
        target_id: str = ...,
        user_id: str = ...,
        author_id: str = ...,
        post_id: str | None = ...,
        reason: typing.Literal['spam', 'abuse', 'other'] = ...,
        text: str = ...,
        excerpt: str = ...,
        created_at: datetime.datetime = ...,
    ) -> of.Report: ...
