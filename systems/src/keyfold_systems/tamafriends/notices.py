"""Notifications, kept by the stream: a follow, a like or a comment tells whom it is about.

What is taken back takes its notification along. Its key follows from what it tells of, so that
nobody is told twice, whatever is delivered again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from keyfold import Entity, delete, put, update
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.tamafriends.addresses import block_addresses, stamp
from keyfold_systems.tamafriends.entities import (
    Comment,
    Follow,
    Like,
    Notification,
    UserProfile,
    design,
)

EXCERPT = 120


@design.on(Follow, "insert", "remove", name="notify_followed")
async def notify_followed(
    old: Follow | None, new: Follow | None, delivery: Delivery
) -> list[Intent]:
    """Somebody is followed."""
    edge = new or old
    assert edge is not None, "a change has an item before or after"
    assert edge.created_at is not None, "a follow is stamped when it is made"
    told = _notice(
        "follow", edge.followee_id, edge.follower_id, edge.created_at, f"follow-{edge.follower_id}"
    )
    return await _keep(told, new, delivery)


@design.on(Like, "insert", "remove", name="notify_liked")
async def notify_liked(old: Like | None, new: Like | None, delivery: Delivery) -> list[Intent]:
    """Somebody's post is liked."""
    like = new or old
    assert like is not None, "a change has an item before or after"
    told = _notice(
        "like",
        like.post_user_id,
        like.user_id,
        like.created_at,
        f"like-{like.user_id}-{like.post_id}",
        post_id=like.post_id,
    )
    return await _keep(told, new, delivery)


@design.on(Comment, name="notify_commented")
async def notify_commented(
    old: Comment | None, new: Comment | None, delivery: Delivery
) -> list[Intent]:
    """Something is said about somebody's post."""
    said = new or old
    assert said is not None, "a change has an item before or after"
    if old is not None and new is not None and old.text == new.text:
        return []
    told = _notice(
        "comment",
        said.post_user_id,
        said.user_id,
        said.created_at,
        f"comment-{said.comment_id}",
        post_id=said.post_id,
        comment_id=said.comment_id,
        text=said.text[:EXCERPT],
    )
    return await _keep(told, new, delivery)


@design.on(Notification, "insert", name="settle_late_notice")
async def settle_late_notice(_: None, new: Notification, delivery: Delivery) -> list[Intent]:
    """One that comes after its reader left goes; after a block, which hides it, it is read."""
    if await delivery.find(UserProfile.key(user_id=new.user_id)) is None:
        return [delete(new.ref())]
    blocks = block_addresses(new.user_id, new.actor_id or new.user_id)
    apart = [block for block in blocks if await delivery.find(block) is not None]
    if not apart or await delivery.find(new.ref()) is None:
        return []
    return [update(new.ref(), state="read")]


def _notice(
    kind: Any, user_id: str, actor_id: str, at: datetime, name: str, **more: Any
) -> Notification:
    return Notification(
        user_id=user_id,
        notification_id=f"{stamp(at)}-{name}",
        kind=kind,
        actor_id=actor_id,
        created_at=at,
        **more,
    )


async def _keep(told: Notification, new: Entity | None, delivery: Delivery) -> list[Intent]:
    """Tell what is there, take back what is not; nobody is told of what they did themselves."""
    if told.user_id == told.actor_id:
        return []
    if new is None or await delivery.find(new.ref()) is None:
        return [delete(told.ref())]
    known = await delivery.find(told.ref())
    return [put(told if known is None else known.model_copy(update={"text": told.text}))]
