"""The domain events of TamaFriends: each change that others may care about, announced once."""

from __future__ import annotations

from typing import Any

from keyfold import Entity
from keyfold.streams import Delivery
from keyfold_systems.tamafriends.entities import (
    Block,
    Comment,
    Follow,
    Like,
    Post,
    Report,
    UserProfile,
    design,
)
from keyfold_systems.tamafriends.oversight import AuditEntry

SHOWN = ("handle", "display_name", "bio", "picture", "role")


@design.on(UserProfile)
def announce_user(old: UserProfile | None, new: UserProfile | None, delivery: Delivery) -> None:
    """Announces UserJoined, UserChanged and UserLeft."""
    if new is None:
        _emit(delivery, "UserLeft", old, "user_id")
    elif old is None:
        _emit(delivery, "UserJoined", new, "user_id", "handle")
    elif any(getattr(old, name) != getattr(new, name) for name in SHOWN):
        _emit(delivery, "UserChanged", new, "user_id", "handle")


@design.on(Post)
def announce_post(old: Post | None, new: Post | None, delivery: Delivery) -> None:
    """Announces PostCreated, PostEdited, PostDeleted and PostExpired."""
    ids = ("user_id", "post_id")
    if new is None:
        _emit(delivery, "PostExpired" if delivery.expired else "PostDeleted", old, *ids)
    elif old is None:
        _emit(delivery, "PostCreated", new, *ids)
    elif old.text != new.text:
        _emit(delivery, "PostEdited", new, *ids)


@design.on(Comment)
def announce_comment(old: Comment | None, new: Comment | None, delivery: Delivery) -> None:
    """Announces CommentAdded, CommentEdited and CommentDeleted."""
    ids = ("post_id", "comment_id", "user_id", "post_user_id")
    if new is None:
        _emit(delivery, "CommentDeleted", old, *ids)
    elif old is None:
        _emit(delivery, "CommentAdded", new, *ids)
    elif old.text != new.text:
        _emit(delivery, "CommentEdited", new, *ids)


@design.on(Like, "insert", "remove")
def announce_like(old: Like | None, new: Like | None, delivery: Delivery) -> None:
    """Announces PostLiked and PostUnliked."""
    event = "PostUnliked" if new is None else "PostLiked"
    _emit(delivery, event, new or old, "post_id", "user_id", "post_user_id")


@design.on(Follow, "insert", "remove")
def announce_follow(old: Follow | None, new: Follow | None, delivery: Delivery) -> None:
    """Announces UserFollowed and UserUnfollowed."""
    event = "UserUnfollowed" if new is None else "UserFollowed"
    _emit(delivery, event, new or old, "follower_id", "followee_id")


@design.on(Block, "insert", "remove")
def announce_block(old: Block | None, new: Block | None, delivery: Delivery) -> None:
    """Announces UserBlocked and UserUnblocked."""
    event = "UserUnblocked" if new is None else "UserBlocked"
    _emit(delivery, event, new or old, "user_id", "blocked_id")


@design.on(Report, "insert")
def announce_report(_: None, new: Report, delivery: Delivery) -> None:
    """Announces ContentReported; the report's own key would tell who reported."""
    about = f"{new.kind} {new.target_id}"
    _emit(delivery, "ContentReported", new, "kind", "target_id", "reason", key=about)


@design.on(AuditEntry, "insert")
def announce_decision(_: None, new: AuditEntry, delivery: Delivery) -> None:
    """Announces ModeratorDecided."""
    _emit(delivery, "ModeratorDecided", new, "action", "subject", "by")


def _emit(delivery: Delivery, event: str, item: Entity | None, *fields: str, key: str = "") -> None:
    assert item is not None, "a change has an item before or after"
    payload: dict[str, Any] = item.model_dump(mode="json", by_alias=True, include=set(fields))
    delivery.emit(event, payload, key=key)
