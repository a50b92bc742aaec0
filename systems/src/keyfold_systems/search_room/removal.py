"""People who leave for good: everything of theirs goes, in steps, then they themselves.

The request takes all the steps it can; the stream takes the others, one for each change of the
`Removal`. A step asks what is there, so any number of them may be done by anybody, again or at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from keyfold import (
    AsyncDb,
    Query,
    Ref,
    add,
    check,
    clear,
    contains,
    delete,
    get,
    missing,
    put,
    remove,
    update,
)
from keyfold_web import Conflict
from keyfold.errors import ConditionFailed, NotFound
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.search_room.entities import (
    Activity,
    AskedRoom,
    CombinedCriteria,
    FormerRoom,
    Invitation,
    InvitationLink,
    Listing,
    Member,
    Notification,
    Person,
    Removal,
    Role,
    Room,
    UserCriteria,
    UserInvitation,
    UserRoom,
    design,
)
from keyfold_systems.search_room.oversight import Report

SOME = 20
"""How many things one step takes."""
ATTEMPTS = 5
NOBODY = "nobody"
"""Who did what somebody did who is not here any more."""


class Reader(Protocol):
    """What a step reads with: a database, or the delivery of a change."""

    async def read(self, wanted: Any, *, cursor: str | None = None) -> Any: ...


@design.on(Removal, "insert", "modify")
async def go_on(_: Removal | None, new: Removal, delivery: Delivery) -> Sequence[Intent]:
    """Takes the next step of a removal."""
    if await delivery.find(new.ref()) is None:
        return []
    some = await step(delivery, new)
    return [*some, update(new.ref(), steps=add(1))] if some else _end(new)


async def finish(db: AsyncDb, removal: Removal) -> None:
    """Take all the steps that there are."""
    missed = 0
    while some := await step(db, removal):
        try:
            await db.transact(*some)
            missed = 0
        except (NotFound, ConditionFailed):
            missed += 1  # somebody else was faster
        if missed == ATTEMPTS:
            return  # the stream goes on
    await db.transact(*_end(removal))


def staying(user_id: str) -> list[Intent]:
    """Somebody has a profile and is not leaving: who leaves for good leaves nothing new behind."""
    leaving = Removal.key(user_id=user_id)
    return [
        check(Person.key(user_id=user_id)),
        check(leaving, where=lambda r: missing(r.user_id)),
    ]


async def stays(db: AsyncDb, user_id: str) -> bool:
    """Whether somebody has a profile and is not leaving for good."""
    refs = Person.key(user_id=user_id), Removal.key(user_id=user_id)
    person, removal = await db.get_many(list[Ref[Any]](refs))
    return person is not None and removal is None


def no_profile() -> Conflict:
    return Conflict("You have no profile any more; sign in again.", code="NO_PROFILE")


def _end(removal: Removal) -> list[Intent]:
    return [delete(removal.ref()), delete(Person.key(user_id=removal.user_id))]


async def step(db: Reader, removal: Removal) -> list[Intent]:
    """The next things to go, in one transaction; empty where nothing of theirs is left."""
    user_id = removal.user_id
    if some := await _leaving(db, removal):
        return some
    if invited := await _invitations(db, user_id):
        return [delete(one.ref()) for one in invited]
    for rooms in (FormerRoom.key.query(user_id=user_id), AskedRoom.key.query(user_id=user_id)):
        found = await _some(db, rooms)
        for one in found:
            if some := await _in_room(db, one.room_id, user_id):
                return some
        if found:
            return [delete(one.ref()) for one in found]
    if told := await _some(db, Notification.key.query(user_id=user_id)):
        return [delete(one.ref()) for one in told]
    return [_forget_report(one, user_id) for one in await _some(db, _reports(user_id))]


async def _invitations(db: Reader, user_id: str) -> list[Invitation]:
    """Some that they have. One that has expired is gone, and its entry with the next sweep."""
    found: list[Invitation] = []
    cursor: str | None = None
    entries = UserInvitation.key.query(user_id=user_id).consistent().limit(SOME)
    while True:
        page = await db.read(entries, cursor=cursor)
        for entry in page.items:
            wanted = get(Invitation.key(room_id=entry.room_id, user_id=user_id))
            if (invitation := await db.read(wanted)) is not None:
                found.append(invitation)
        cursor = page.cursor
        if found or cursor is None:
            return found


async def _leaving(db: Reader, removal: Removal) -> list[Intent]:
    """Out of one room: it is handed over to who is there longest, or goes where nobody is left."""
    user_id = removal.user_id
    for entry in await _some(db, UserRoom.key.query(user_id=user_id)):
        members = await _some(db, Member.key.query(room_id=entry.room_id), most=100)
        others = sorted((m for m in members if m.user_id != user_id), key=lambda m: m.joined_at)
        if not others:
            return [delete(Room.key(room_id=entry.room_id))]
        if not any(one.role == Role.OWNER for one in others):
            return [update(others[0].ref(), role=Role.OWNER)]
        assert removal.requested_at is not None, "it is stored"
        trace = FormerRoom(user_id=user_id, room_id=entry.room_id, left_at=removal.requested_at)
        left: list[Intent] = [
            put(trace),
            delete(Member.key(room_id=entry.room_id, user_id=user_id)),
        ]
        return [*left, another_owner(entry.room_id)] if entry.role == Role.OWNER else left
    return []


async def _in_room(db: Reader, room_id: str, user_id: str) -> list[Intent]:
    """What they said, looked for, saw and did in a room that they are not in any more, or never."""
    room: Room | None = await db.read(get(Room.key(room_id=room_id)))
    if room is None:
        return []
    if room.created_by_user_id == user_id:
        return [update(room.ref(), created_by_user_id=NOBODY)]
    criteria = UserCriteria.key.query(room_id=room_id, user_id=user_id)
    links = InvitationLink.key.query(room_id=room_id).where(lambda x: x.invited_by == user_id)
    theirs: tuple[Query[Any], ...] = (criteria, links, activities_of(room_id, user_id))
    for query in theirs:
        if found := await _some(db, query):
            return [delete(one.ref()) for one in found]
    for marked, forget in _FORGOTTEN:
        if found := await _some(db, marked(room_id, user_id)):
            return [forget(one, user_id) for one in found]
    for one in await _some(db, Member.key.query(room_id=room_id), most=100):
        told = Notification.key.query(user_id=one.user_id)
        mine = told.where(lambda n: (n.sender_id == user_id) | (n.about == user_id))
        if found := await _some(db, mine):
            return [delete(each.ref()) for each in found]
    return []


def another_owner(room_id: str) -> Intent:
    """The last owner of a room stays one."""
    return check(Room.key(room_id=room_id), where=lambda r: r.owner_count > 1)


def activities_of(room_id: str, user_id: str) -> Query[Activity]:
    """What somebody did in a room, and what others did that is about them."""
    activities = Activity.key.query(room_id=room_id)
    return activities.where(lambda x: (x.sender_id == user_id) | (x.about == user_id))


def _listings(room_id: str, user_id: str) -> Query[Listing]:
    return Listing.key.query(room_id=room_id).where(lambda x: concerns(x, user_id))


def concerns(listing: Any, user_id: str) -> Any:
    """Recorded: somebody added a listing, saw it or voted on it."""
    people = (listing.seen_by, listing.liked_by, listing.disliked_by)
    seen, liked, disliked = (contains(one, user_id) for one in people)
    return (listing.added_by == user_id) | seen | liked | disliked


def _forget_listing(listing: Listing, user_id: str) -> Intent:
    gone = remove({user_id})
    changes: dict[str, Any] = {"seen_by": gone, "liked_by": gone, "disliked_by": gone}
    if listing.added_by == user_id:
        changes["added_by"] = clear
    return update(listing.ref(), **changes)


def _combined(room_id: str, user_id: str) -> Query[CombinedCriteria]:
    query = CombinedCriteria.key.query(room_id=room_id)
    return query.where(lambda x: contains(x.from_user_ids, user_id))


def _forget_combined(combined: CombinedCriteria, user_id: str) -> Intent:
    """What was combined of several stays; what was theirs alone goes."""
    others = [one for one in combined.from_user_ids if one != user_id]
    if not others:
        return delete(combined.ref())
    return update(combined.ref(), from_user_ids=others)


def _invitations_by(room_id: str, user_id: str) -> Query[Invitation]:
    return Invitation.key.query(room_id=room_id).where(lambda x: x.invited_by == user_id)


def _forget_sender(invitation: Invitation, _: str) -> Intent:
    return update(invitation.ref(), invited_by=NOBODY)


def _reports(user_id: str) -> Query[Report]:
    query = Report.key.query()
    return query.where(lambda r: (r.reporter_id == user_id) | (r.owner_id == user_id))


def _forget_report(report: Report, user_id: str) -> Intent:
    """What others reported of theirs still waits for a moderator; they themselves are gone."""
    if report.reporter_id == user_id or report.subject_id == user_id:
        return delete(report.ref())
    return update(report.ref(), owner_id=NOBODY)


_FORGOTTEN: tuple[tuple[Callable[[str, str], Query[Any]], Callable[[Any, str], Intent]], ...] = (
    (_listings, _forget_listing),
    (_combined, _forget_combined),
    (_invitations_by, _forget_sender),
)


async def _some(db: Reader, query: Query[Any], most: int = SOME) -> list[Any]:
    """The first items of a query, as they are now."""
    cursor: str | None = None
    wanted = query.consistent().limit(most)
    while True:
        page = await db.read(wanted, cursor=cursor)
        cursor = page.cursor
        if page.items or cursor is None:
            return list(page.items)
