"""Users and groups that go: all that is theirs first, in steps, then they themselves.

A request takes as many steps as it can; the stream takes the others, one for each change of the
`Removal`. A step asks what is there, so any number of them may be done by anybody, again or at
once. An index may show things late: the counters of a user tell whether something is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from keyfold import AsyncDb, Page, add, delete, get, get_many, put, remove, update
from keyfold.errors import ConditionFailed, IndexBehind, NotFound
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.inviter.entities import (
    Group,
    GroupHangout,
    GroupInvitation,
    Hangout,
    Membership,
    Notification,
    Removal,
    Response,
    User,
    UserHangout,
    design,
)
from keyfold_systems.inviter.oversight import trail

SOME = 20
"""How many things one step takes."""


class Reader(Protocol):
    """What a step reads with: a database, or the delivery of a change."""

    async def read(self, wanted: Any, *, cursor: str | None = None) -> Any: ...


@design.on(Removal, "insert", "modify")
async def go_on(old: Removal | None, new: Removal, delivery: Delivery) -> Sequence[Intent]:  # noqa: ARG001
    """Takes the next step of a removal."""
    if await delivery.find(new.ref()) is None:
        return []
    some = await step(delivery, new)
    if some:
        return [*some, update(new.ref(), steps=add(1))]
    return await end(delivery, new)


def begin(removal: Removal) -> list[Intent]:
    """Mark who goes: nothing new is made for them from now on, and the stream takes the steps.

    Who owns groups stays until these are handed over or closed.
    """
    id = removal.removed_id
    if removal.kind == "group":
        return [update(Group.key(group_id=id), closing=True), put(removal)]
    user = User.key(user_id=id)
    return [update(user, leaving=True, where=lambda u: u.owned_groups == 0), put(removal)]


async def finish(db: AsyncDb, removal: Removal) -> None:
    """Take all the steps that can be taken now."""
    while some := await step(db, removal):
        done = 0
        for one in some:
            try:
                await db.transact(one)
                done += 1
            except (NotFound, ConditionFailed):
                continue  # somebody else was faster
        if not done:
            return  # the stream goes on
    try:
        await db.transact(*(await end(db, removal)))
    except (NotFound, ConditionFailed, IndexBehind):
        return  # the stream has ended it, or will


async def step(db: Reader, removal: Removal) -> list[Intent]:
    """The next things to go, those that a list shows before those that nobody sees."""
    id = removal.removed_id
    if removal.kind == "group":
        return await _of_group(db, id)
    hosted = await _there(db, Hangout.by_host.query(host_id=id), 1)
    if hosted:
        # Alone: with all its pointers it fills a transaction.
        return [delete(one.ref()) for one in hosted]
    if some := await _uninvited(db, id):
        return some
    for query in (
        Membership.by_user.query(user_id=id),
        GroupInvitation.by_user.query(user_id=id),
        Response.by_user.query(user_id=id),
        Notification.key.query(user_id=id).consistent(),
        Notification.by_actor.query(actor_id=id),
        trail.reported_by(id).consistent(),
    ):
        if found := await _there(db, query, SOME):
            return [delete(one.ref()) for one in found]
    # A group that they handed over is still there, and so is what was reported of it.
    return [
        update(one.ref(), owner_id=None) if one.kind == "group" else delete(one.ref())
        for one in await _there(db, trail.reports_about(id).consistent(), SOME)
    ]


async def end(db: Reader, removal: Removal) -> list[Intent]:
    """The last step; refused while something is left that an index does not show yet."""
    over = delete(removal.ref())
    id = removal.removed_id
    if removal.kind == "group":
        return [delete(Group.key(group_id=id)), over]
    user: User | None = await db.read(get(User.key(user_id=id)))
    if user is None:
        return [over]
    if user.groups or user.hosting or user.answers:
        raise IndexBehind(f"UserGroupIndex does not show all that is left of {user.ref()}")
    return [delete(user.ref(), where=_nothing_left), over]


def _nothing_left(user: Any) -> Any:
    return user.leaving & (user.groups == 0) & (user.hosting == 0) & (user.answers == 0)


async def _of_group(db: Reader, id: str) -> list[Intent]:
    pointers = GroupHangout.key.query(group_id=id).consistent()
    if held := await _there(db, pointers, SOME, lambda one: id in one.group_ids):
        return [update(one.ref(), group_ids=remove({id})) for one in held]
    for query in (Membership.key.query(group_id=id), GroupInvitation.key.query(group_id=id)):
        if found := await _there(db, query.consistent(), SOME):
            return [delete(one.ref()) for one in found]
    return []


async def _uninvited(db: Reader, id: str) -> list[Intent]:
    """Invitations by name taken back."""
    pointers = UserHangout.key.query(user_id=id).consistent()
    held = await _there(db, pointers, SOME, lambda one: id in one.user_ids)
    return [update(one.ref(), user_ids=remove({id})) for one in held]


async def _there(
    db: Reader, query: Any, most: int, wanted: Callable[[Any], bool] | None = None
) -> list[Any]:
    """Items of a query that are there indeed: an index shows for a while what is gone.

    Where something is wanted of them, it is the hangouts that the items lead to.
    """
    cursor: str | None = None
    while True:
        page: Page[Any] = await db.read(query.limit(most), cursor=cursor)
        keys = [
            one.ref() if wanted is None else Hangout.key(hangout_id=one.hangout_id) for one in page
        ]
        found = await db.read(get_many(*keys)) if keys else []
        there = [one for one in found if one is not None and (wanted is None or wanted(one))]
        cursor = page.cursor
        if there or cursor is None:
            return there
