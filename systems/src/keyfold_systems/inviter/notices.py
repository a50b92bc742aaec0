"""Notifications out of changes: to whom they go, and how they reach many.

A few are written with the event that they tell of. To a whole group, or to all who come, goes a
`Mailing`, which the stream delivers some at a time: each part with the place that it reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from keyfold import create, delete, get_many, new_ulid, update
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.inviter.entities import (
    Answer,
    Group,
    GroupInvitation,
    Hangout,
    Mailing,
    Membership,
    NoticeKind,
    Notification,
    Response,
    User,
    design,
)

AT_ONCE = 30
"""Notifications of one transaction; each moves its reader's number of unread ones."""
PLANNED = ("title", "place", "starts_at", "ends_at")


async def of_hangout(old: Hangout | None, new: Hangout | None, delivery: Delivery) -> list[Intent]:
    """New guests learn of it; those who come learn of changes."""
    if new is None or (old is not None and _notable(old) == _notable(new)):
        return []
    if new.ends_at <= delivery.record.at:
        return []  # nobody can come any more
    note_id = new_ulid()
    before = (set[str](), set[str]()) if old is None else (old.group_ids, old.user_ids)
    told = await _to(
        delivery,
        new.user_ids - before[1] - {new.host_id},
        note_id=note_id,
        kind=NoticeKind.INVITED,
        **_about(new),
    )
    mailings = [
        _mailing(new, NoticeKind.INVITED, note_id, group_id)
        for group_id in sorted(new.group_ids - before[0])
    ]
    if old is not None and (kind := _changed(old, new)) is not None:
        mailings.append(_mailing(new, kind, new_ulid()))
    return [*told, *map(create, mailings)]


async def of_answer(old: Response | None, new: Response, delivery: Delivery) -> list[Intent]:
    """The host learns who comes."""
    if old is not None and old.answer == new.answer:
        return []
    hangout = await delivery.find(Hangout.key(hangout_id=new.hangout_id))
    if hangout is None or hangout.host_id == new.user_id or hangout.ends_at <= delivery.record.at:
        return []
    about = _about(hangout) | {"actor_id": new.user_id}
    kind = NoticeKind.ANSWERED
    return await _to(delivery, [hangout.host_id], kind=kind, answer=new.answer, **about)


async def of_group(old: Group | None, new: Group | None, delivery: Delivery) -> list[Intent]:
    """A new owner learns of it."""
    if old is None or new is None or old.owner_id == new.owner_id:
        return []
    return await _to(
        delivery,
        [new.owner_id],
        kind=NoticeKind.GROUP_HANDED_OVER,
        title=new.name,
        group_id=new.group_id,
        actor_id=old.owner_id,
    )


async def of_membership(new: Membership | None, delivery: Delivery) -> list[Intent]:
    """The owner learns who joined."""
    group = None if new is None else await delivery.find(Group.key(group_id=new.group_id))
    if new is None or group is None or group.owner_id == new.user_id:
        return []
    return await _to(
        delivery,
        [group.owner_id],
        kind=NoticeKind.GROUP_JOINED,
        title=group.name,
        group_id=group.group_id,
        actor_id=new.user_id,
    )


async def of_invitation(new: GroupInvitation | None, delivery: Delivery) -> list[Intent]:
    """Who is asked into a group learns of it."""
    if new is None:
        return []
    return await _to(
        delivery,
        [new.user_id],
        kind=NoticeKind.GROUP_INVITED,
        title=new.group_name,
        group_id=new.group_id,
        actor_id=new.invited_by,
    )


@design.on(Mailing, "insert", "modify")
async def deliver(old: Mailing | None, new: Mailing, delivery: Delivery) -> Sequence[Intent]:  # noqa: ARG001
    """Delivers the next part of a mailing."""
    mailing = await delivery.find(new.ref())
    if mailing is None:
        return []
    hangout = await delivery.find(Hangout.key(hangout_id=mailing.hangout_id))
    if hangout is None:
        return [delete(mailing.ref())]
    people, last = await _audience(mailing, hangout, delivery)
    told = await _to(
        delivery,
        people,
        note_id=mailing.note_id,
        kind=mailing.kind,
        **_about(hangout) | {"group_id": mailing.group_id},
    )
    return [*told, delete(mailing.ref()) if last is None else update(mailing.ref(), after=last)]


async def _audience(
    mailing: Mailing, hangout: Hangout, delivery: Delivery
) -> tuple[list[str], str | None]:
    """The next people, and the last of them where more follow."""
    if mailing.group_id is not None:
        members = Membership.key.query(group_id=mailing.group_id)
        some = members if mailing.after is None else members.after(user_id=mailing.after)
        page = await delivery.read(some.limit(AT_ONCE).consistent())
        # Who was invited by name, and the host, know already.
        people = [one.user_id for one in page if one.user_id not in hangout.user_ids]
        return people, page[-1].user_id if page.cursor else None
    answers = Response.key.query(hangout_id=mailing.hangout_id)
    rest = answers if mailing.after is None else answers.after(user_id=mailing.after)
    given = await delivery.read(rest.limit(AT_ONCE).consistent())
    coming = [one for one in given if one.answer != Answer.NOT_GOING]
    people = [one.user_id for one in coming if one.user_id != hangout.host_id]
    return people, given[-1].user_id if given.cursor else None


async def _to(
    delivery: Delivery, people: Iterable[str], *, note_id: str | None = None, **notice: Any
) -> list[Intent]:
    """One notification for each of these who is there and does not have it yet.

    Nobody is told about somebody who left: their name would stay behind.
    """
    ids = sorted(people)
    if not ids:
        return []
    note_id = note_id or new_ulid()
    keys = [User.key(user_id=one) for one in (notice["actor_id"], *ids)]
    actor, *users = await delivery.read(get_many(*keys))
    if actor is None or actor.leaving:
        return []
    notes = [Notification.key(user_id=one, note_id=note_id) for one in ids]
    known = await delivery.read(get_many(*notes))
    return [
        create(Notification(user_id=user.user_id, note_id=note_id, **notice))
        for user, has in zip(users, known, strict=True)
        if user is not None and not user.leaving and has is None
    ]


def _about(hangout: Hangout) -> dict[str, Any]:
    return {
        "title": hangout.title,
        "hangout_id": hangout.hangout_id,
        "actor_id": hangout.host_id,
    }


def _mailing(
    hangout: Hangout, kind: NoticeKind, note_id: str, group_id: str | None = None
) -> Mailing:
    return Mailing(
        mailing_id=new_ulid(),
        note_id=note_id,
        kind=kind,
        hangout_id=hangout.hangout_id,
        group_id=group_id,
    )


def _notable(hangout: Hangout) -> tuple[Any, ...]:
    plan = tuple(getattr(hangout, name) for name in PLANNED)
    return (*plan, hangout.cancelled, hangout.group_ids, hangout.user_ids)


def _changed(old: Hangout, new: Hangout) -> NoticeKind | None:
    if old.cancelled != new.cancelled:
        return NoticeKind.CANCELLED if new.cancelled else NoticeKind.REINSTATED
    moved = any(getattr(old, name) != getattr(new, name) for name in PLANNED)
    return NoticeKind.CHANGED if moved and not new.cancelled else None
