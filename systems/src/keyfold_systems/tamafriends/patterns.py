"""The access patterns of TamaFriends: what each screen asks for, with one request."""

from __future__ import annotations

from datetime import datetime

from keyfold import First, Get, Query, get
from keyfold_systems.tamafriends.entities import (
    Block,
    Comment,
    Follow,
    Inbox,
    Like,
    Notification,
    Post,
    Report,
    Session,
    UserProfile,
    design,
)
from keyfold_systems.tamafriends.oversight import AuditEntry


@design.pattern(requests=1)
def profile(user_id: str) -> Get[UserProfile]:
    """A profile."""
    return get(UserProfile.key(user_id=user_id))


@design.pattern(requests=1)
def profile_by_email(email: str) -> First[UserProfile]:
    """Login by email."""
    return UserProfile.by_email.query(email=email).first()


@design.pattern(requests=1)
def profile_by_username(username: str) -> First[UserProfile]:
    """Login by username."""
    return UserProfile.by_username.query(username=username).first()


@design.pattern(requests=1)
def profile_by_handle(handle: str) -> First[UserProfile]:
    """Profile by @handle."""
    return UserProfile.by_handle.query(handle=handle).first()


@design.pattern(requests=1)
def post_by_id(post_id: str) -> First[Post]:
    """Get post by ID."""
    return Post.by_id.query(post_id=post_id).first()


@design.pattern(requests=1)
def posts_of_user(user_id: str, limit: int = 50) -> Query[Post]:
    """A user's posts, newest first."""
    return Post.key.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def followers(user_id: str, limit: int = 50) -> Query[Follow]:
    """Get user's followers."""
    return Follow.by_followee.query(followee_id=user_id).limit(limit)


@design.pattern(requests=1)
def following(user_id: str, limit: int = 50) -> Query[Follow]:
    """Whom a user follows."""
    return Follow.key.query(follower_id=user_id).limit(limit)


@design.pattern(requests=1)
def comment_by_id(comment_id: str) -> First[Comment]:
    """Get comment by ID."""
    return Comment.by_id.query(comment_id=comment_id).first()


@design.pattern(requests=1)
def comments_of_user(user_id: str, limit: int = 50) -> Query[Comment]:
    """User's comments, newest first."""
    return Comment.by_user.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def comments_of_post(post_id: str, limit: int = 50) -> Query[Comment]:
    """A post's comments, in order."""
    return Comment.key.query(post_id=post_id).limit(limit)


@design.pattern(requests=1)
def likes_of_user(user_id: str, limit: int = 50) -> Query[Like]:
    """User's liked posts, newest first."""
    return Like.by_user.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def likers_of_post(post_id: str, limit: int = 50) -> Query[Like]:
    """Who likes a post."""
    return Like.key.query(post_id=post_id).limit(limit)


@design.pattern(requests=1)
def like_of(post_id: str, user_id: str) -> Get[Like]:
    """Whether a user likes a post."""
    return get(Like.key(post_id=post_id, user_id=user_id))


@design.pattern(requests=1)
def blocks_of(user_id: str, limit: int = 50) -> Query[Block]:
    """Whom a user keeps away."""
    return Block.key.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def blockers_of(user_id: str, limit: int = 50) -> Query[Block]:
    """Who keeps a user away."""
    return Block.by_blocked.query(blocked_id=user_id).limit(limit)


@design.pattern(requests=1)
def notifications_of(user_id: str, limit: int = 50) -> Query[Notification]:
    """What happened to a user, newest first."""
    return Notification.key.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def inbox_of(user_id: str) -> Get[Inbox]:
    """How much of it a user has not read."""
    return get(Inbox.key(user_id=user_id))


@design.pattern(requests=1)
def sessions_of(user_id: str, limit: int = 50) -> Query[Session]:
    """Where a user is signed in."""
    return Session.key.query(user_id=user_id).limit(limit)


@design.pattern(requests=1)
def open_reports(limit: int = 50) -> Query[Report]:
    """What moderators should look at, by what it is about."""
    return Report.key.query().limit(limit)


@design.pattern(requests=1)
def reports_by(user_id: str, limit: int = 50) -> Query[Report]:
    """What a user reported, newest first."""
    return Report.by_user.query(user_id=user_id).descending().limit(limit)


@design.pattern(requests=1)
def reports_about(user_id: str, limit: int = 50) -> Query[Report]:
    """What is reported of a user, by what it is about."""
    return Report.by_author.query(author_id=user_id).limit(limit)


@design.pattern(requests=1)
def audit_of_month(month: datetime, limit: int = 50) -> Query[AuditEntry]:
    """What moderators did in the month of a time, newest first."""
    return AuditEntry.key.query(at=month).descending().limit(limit)
