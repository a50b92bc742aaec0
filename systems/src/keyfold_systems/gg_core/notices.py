"""What people are told about: a list for each of them, kept from the stream."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from keyfold import Counter, Entity, Id, Key, On, Timestamp, Ttl, missing, put
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.gg_core import notices_types as typed
from keyfold_systems.gg_core.entities import Activity, Follow, GroupMember, design, table
from keyfold_systems.gg_core.goals import Quest
from keyfold_systems.gg_core.oversight import Report

NOTICE_DAYS: Final = 90
NoticeKind = Literal[
    "followed",
    "commented",
    "role_changed",
    "quest_completed",
    "quest_cancelled",
    "report_handled",
    "removed",
]


class Notice(typed.Notice, Entity, table=table):
    """Something that concerns a user, read or not."""

    user_id: Id
    notice_id: Id
    kind: NoticeKind
    from_id: Id | None = None
    """Who did it."""
    subject_id: Id | None = None
    """What it is about: a group, a quest, the post that was commented on."""
    text: str = ""
    created_at: Timestamp
    read_at: Timestamp | None = None
    expires_at: Annotated[Timestamp | None, Ttl(days=NOTICE_DAYS, after="created_at")] = None

    key = Key("USER#{user_id}", "NOTICE#{created_at:iso}#{notice_id}")
    by_sender = On(
        "GSI1",
        "USER#{from_id}",
        "TOLD#{created_at:iso}#{notice_id}",
        when="from_id",
    )


class UnreadCounter(typed.UnreadCounter, Entity, table=table):
    """How many notices a user has not read."""

    user_id: Id
    count: Annotated[
        int,
        Counter("Notice", where=lambda n: missing(n.read_at), sync="stream", creates=True),
    ] = 0

    key = Key("USER#{user_id}", "COUNTER#UNREAD")


@design.on(Follow, "insert", name="tell_followee")
def tell_followee(_: None, new: Follow, delivery: Delivery) -> Intent:
    """Who is followed is told by whom."""
    return _notice(delivery, new.followee_id, "followed", from_id=new.follower_id)


@design.on(Activity, "insert", name="tell_author")
async def tell_author(_: None, new: Activity, delivery: Delivery) -> list[Intent]:
    """Who wrote something is told of comments by others."""
    if new.post_id is None or new.post_actor_id is None or new.post_created_at is None:
        return []
    post = await delivery.find(
        Activity.key(
            actor_id=new.post_actor_id, activity_id=new.post_id, created_at=new.post_created_at
        )
    )
    if post is None or post.author_id == new.author_id:
        return []
    said = new.preview_text[:200]
    told = _notice(delivery, post.author_id, "commented", new.author_id, new.post_id, said)
    return [told]


@design.on(GroupMember, "modify", name="tell_member")
def tell_member(old: GroupMember, new: GroupMember, delivery: Delivery) -> list[Intent]:
    """Who gets another role in a group is told which."""
    if new.role == old.role:
        return []
    said = f"{new.group_name}: {new.role.value}"
    return [_notice(delivery, new.user_id, "role_changed", None, new.group_id, said)]


@design.on(Report, "modify", name="tell_reporter")
def tell_reporter(old: Report, new: Report, delivery: Delivery) -> list[Intent]:
    """Who reported something is told what became of it."""
    if new.status == old.status:
        return []
    about = None if new.subject_type == "user" else new.subject_id
    return [_notice(delivery, new.reporter_id, "report_handled", None, about, new.status)]


@design.on(Quest, "modify", name="tell_of_quest")
def tell_of_quest(old: Quest, new: Quest, delivery: Delivery) -> list[Intent]:
    """A quest that is won is told of, and one that can no longer be."""
    if new.status == old.status:
        return []
    if new.status == "completed":
        said = f"{new.title}: {new.reward_xp} XP"
        return [_notice(delivery, new.user_id, "quest_completed", None, new.id, said)]
    if new.lost_link is None:
        return []
    return [_notice(delivery, new.user_id, "quest_cancelled", None, new.id, new.title)]


def _notice(
    delivery: Delivery,
    user_id: str,
    kind: NoticeKind,
    from_id: str | None = None,
    subject_id: str | None = None,
    text: str = "",
) -> Intent:
    return put(
        Notice(
            user_id=user_id,
            notice_id=delivery.record.event_id,
            kind=kind,
            from_id=from_id,
            subject_id=subject_id,
            text=text,
            created_at=delivery.db.context.now(),
        )
    )
