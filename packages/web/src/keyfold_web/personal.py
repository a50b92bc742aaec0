"""A person's own data: exported whole, and deleted, both some at a time so that they can go on.

A service says what belongs to a person, and gets both operations:

    class Inviter(PersonalData, Service):
        personal = (
            Belonging("profile", lambda id: User.key(user_id=id)),
            Belonging("memberships", lambda id: Membership.by_user.query(user_id=id)),
            Belonging("hangouts", lambda id: Hangout.by_host.query(host_id=id), leave=cancel),
            Belonging(
                "goals",
                lambda id: Goal.key.query(user_id=id),
                inside=(Belonging("tasks", lambda goal: Task.key.query(goal_id=goal.goal_id)),),
            ),
        )

Things go in this order: begin with what makes new ones impossible.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pydantic import NonNegativeInt, TypeAdapter

from keyfold_web.identity import Identity
from keyfold_web.links import MediaStore, upload_folder
from keyfold_web.names import Payload
from keyfold_web.operation import mutation, query
from keyfold_web.page_request import PageRequest
from keyfold_web.rules import admin, itself
from keyfold.design import Entity, Page
from keyfold.design.address import Ref
from keyfold.design.read import Read
from keyfold.errors import CursorRefused, NotFound
from keyfold.runtime import AsyncDb

AT_ONCE: Final = 100
"""The number of things that one call deletes."""

READS_AT_ONCE: Final = 25
"""The number of reads after which a page of an export ends, full or not."""

Leave = Callable[[Any, Any, Identity], Awaitable[None]]


@dataclass(frozen=True)
class Belonging:
    """One kind of thing that belongs to a person."""

    name: str
    """Its name in the export."""
    find: Callable[[Any], Ref[Any] | Read[Page[Any]]]
    """The key of the one thing, or a query of all, by the person's id.

    Inside another kind it receives that other thing.
    """
    leave: Leave | None = None
    """What happens to a thing when its person leaves: `leave(service, thing, caller)`.

    Afterwards `find` must no longer return it. None deletes it.
    """
    kept: bool = False
    """Exported, but kept when the person leaves: something else removes it, or it must stay."""
    inside: Sequence[Belonging] = ()
    """What is exported after each of these; deleted with them or by their cascades."""
    listed: bool = True
    """Whether it is exported itself; if not, only what is inside is."""


Place = list[tuple[NonNegativeInt, str | None, str]]
"""From the outermost kind inwards: the kind, the cursor before the next thing, and its mark."""
_PLACE: Final = TypeAdapter(Place)


class PersonalItem(Payload):
    """Something that belongs to a person."""

    kind: str
    item: dict[str, Any]


class Departure(Payload):
    """The progress of a deletion."""

    done: bool
    removed: int
    """Things that this call removed."""


class PersonalData:
    """The operations of a service whose `personal` lists what belongs to a person."""

    personal: ClassVar[Sequence[Belonging]] = ()
    media: MediaStore | None
    db: AsyncDb

    @query("/people/{user_id}/data", allow=itself("user_id") | admin)
    async def personal_data(self, user_id: str, page: PageRequest) -> Page[PersonalItem]:
        """Everything that belongs to a person, page by page.

        A page may be empty before the last: continue while there is a cursor.
        """
        place: Place | None = _read_place(page.cursor)
        items: list[PersonalItem] = []
        for _ in range(READS_AT_ONCE):
            if place is None or len(items) >= page.limit:
                break
            some, place = await self._step(self.personal, user_id, place, page.limit - len(items))
            items += some
        return Page(items, None if place is None else _cursor(place))

    @mutation("/people/{user_id}/data", method="DELETE", allow=itself("user_id") | admin)
    async def delete_personal_data(self, user_id: str, caller: Identity) -> Departure:
        """Delete what belongs to a person in steps: call it until it is done.

        An interrupted call is harmless; the next one continues, with its own idempotency key.
        """
        # First, since a person without a profile may not be able to call again.
        await self.delete_uploads(user_id)
        removed = 0
        async for one, thing in self.belongings(user_id):
            if removed == AT_ONCE:
                return Departure(done=False, removed=removed)
            if one.leave is not None:
                await one.leave(self, thing, caller)
            else:
                await self._delete(thing)
            removed += 1
        return Departure(done=removed == 0, removed=removed)

    async def delete_uploads(self, user_id: str) -> None:
        """Delete what is in a person's upload folder."""
        if self.media is not None:
            await self.media.delete_folder(upload_folder(user_id))

    async def _step(
        self, kinds: Sequence[Belonging], owner: Any, place: Place, limit: int
    ) -> tuple[list[PersonalItem], Place | None]:
        """Some things, possibly none, and where to continue."""
        (index, cursor, mark), *deeper = place
        if index >= len(kinds):
            raise CursorRefused("the cursor belongs to another export; start again without one")
        one = kinds[index]
        after: Place | None = [(index + 1, None, "")] if index + 1 < len(kinds) else None
        if not one.listed and not one.inside:
            return [], after
        # Things that contain others come one by one, each before its contents.
        found, following = await self._page_of(one, owner, 1 if one.inside else limit, cursor)
        if following is not None:
            after = [(index, following, "")]
        if not one.inside or not found:
            return [_export_item(one, each) for each in found], after
        (thing,) = found
        here = (index, cursor, _mark(thing))
        if not deeper or mark != here[2]:
            return [_export_item(one, thing)] if one.listed else [], [here, (0, None, "")]
        items, onward = await self._step(one.inside, thing, deeper, limit)
        return items, after if onward is None else [here, *onward]

    async def belongings(self, user_id: str) -> AsyncIterator[tuple[Belonging, Any]]:
        """Everything that is deleted when a person leaves."""
        for one in self.personal:
            cursor: str | None = None
            while not one.kept:
                found, cursor = await self._page_of(one, user_id, AT_ONCE, cursor)
                for thing in found:
                    yield one, thing
                if cursor is None:
                    break

    async def _delete(self, thing: Entity) -> None:
        try:
            await self.db.delete(thing.ref())
        except NotFound:
            return

    async def _page_of(
        self, one: Belonging, user_id: str, limit: int, cursor: str | None
    ) -> tuple[list[Any], str | None]:
        wanted = one.find(user_id)
        if isinstance(wanted, Ref):
            item = await self.db.find(wanted)
            return ([] if item is None else [item]), None
        page = await self.db.read(wanted, cursor=cursor, limit=limit)
        return list(page.items), page.cursor


def _export_item(one: Belonging, item: Entity) -> PersonalItem:
    return PersonalItem(kind=one.name, item=item.model_dump(mode="json", by_alias=True))


def _mark(thing: Entity) -> str:
    """Distinguishes a thing from its successor if it is deleted before the next page."""
    return hashlib.sha256(repr(thing.ref()).encode()).hexdigest()[:16]


def _cursor(place: Place) -> str:
    return urlsafe_b64encode(_PLACE.dump_json(place)).decode()


def _read_place(cursor: str | None) -> Place:
    if cursor is None:
        return [(0, None, "")]
    try:
        place = _PLACE.validate_json(urlsafe_b64decode(cursor.encode()))
    except ValueError:
        place = []
    if not place:
        raise CursorRefused("this is not an export cursor; start again without one")
    return place
