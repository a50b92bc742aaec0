"""A person's own data: exported whole, and deleted, both some at a time so that they can go on.

A service says what belongs to a person, and gets both operations:

    class Inviter(PersonalData, Service):
        personal = (
            Belonging("profile", lambda id: User.key(user_id=id)),
            Belonging("memberships", lambda id: Membership.by_user.query(user_id=id)),
            Belonging("hangouts", lambda id: Hangout.by_host.query(host_id=id), leave=cancel),
        )

Things go in this order: begin with what makes new ones impossible.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from keyfold.api.names import Payload
from keyfold.api.operation import mutation, query
from keyfold.api.page_request import PageRequest
from keyfold.api.rules import admin, itself
from keyfold.design import Entity, Page
from keyfold.design.address import Ref
from keyfold.design.read import Read
from keyfold.errors import CursorRefused, NotFound
from keyfold.runtime import AsyncDb

AT_ONCE: Final = 100
"""Things that one call deletes."""

Leave = Callable[[Any, Any, str], Awaitable[None]]


@dataclass(frozen=True)
class Belonging:
    """One kind of thing that belongs to a person."""

    name: str
    """What it is called in the export."""
    find: Callable[[str], Ref[Any] | Read[Page[Any]]]
    """The key of the one thing, or a query of all, by the person's id."""
    leave: Leave | None = None
    """What happens to a thing when its person leaves: `leave(service, thing, user_id)`.

    Afterwards `find` must not give it any more. None deletes it.
    """
    kept: bool = False
    """It is exported, and stays when the person leaves: something else removes it, or must not."""


class PersonalItem(Payload):
    """Something that belongs to a person."""

    kind: str
    item: dict[str, Any]


class Departure(Payload):
    """How far a deletion is."""

    done: bool
    removed: int
    """Things that this call removed."""


class PersonalData:
    """The operations of a service whose `personal` says what belongs to a person."""

    personal: ClassVar[Sequence[Belonging]] = ()
    db: AsyncDb

    @query("/people/{user_id}/data", allow=itself("user_id") | admin)
    async def personal_data(self, user_id: str, page: PageRequest) -> Page[PersonalItem]:
        """Everything that belongs to a person, page by page.

        A page may be empty before the last: go on as long as there is a cursor.
        """
        kinds = self.personal
        at, inner = _place(page.cursor, len(kinds))
        if at == len(kinds):
            return Page([], None)
        one = kinds[at]
        found, following = await self._found(one, user_id, page.limit, inner)
        items = [PersonalItem(kind=one.name, item=_exported(each)) for each in found]
        if following is not None:
            return Page(items, f"{at}.{following}")
        return Page(items, f"{at + 1}." if at + 1 < len(kinds) else None)

    @mutation("/people/{user_id}/data", method="DELETE", allow=itself("user_id") | admin)
    async def delete_personal_data(self, user_id: str) -> Departure:
        """Delete what belongs to a person, some at a time: call it until it is done.

        A call that breaks off is no harm; the next one goes on, under a key of its own.
        """
        removed = 0
        async for one, thing in self._things(user_id):
            if removed == AT_ONCE:
                return Departure(done=False, removed=removed)
            if one.leave is not None:
                await one.leave(self, thing, user_id)
            else:
                await self._delete(thing)
            removed += 1
        return Departure(done=removed == 0, removed=removed)

    async def _things(self, user_id: str) -> AsyncIterator[tuple[Belonging, Any]]:
        for one in self.personal:
            cursor: str | None = None
            while not one.kept:
                found, cursor = await self._found(one, user_id, AT_ONCE, cursor)
                for thing in found:
                    yield one, thing
                if cursor is None:
                    break

    async def _delete(self, thing: Entity) -> None:
        try:
            await self.db.delete(thing.ref())
        except NotFound:
            return

    async def _found(
        self, one: Belonging, user_id: str, limit: int, cursor: str | None
    ) -> tuple[list[Any], str | None]:
        wanted = one.find(user_id)
        if isinstance(wanted, Ref):
            item = await self.db.find(wanted)
            return ([] if item is None else [item]), None
        page = await self.db.read(wanted, cursor=cursor, limit=limit)
        return list(page.items), page.cursor


def _place(cursor: str | None, kinds: int) -> tuple[int, str | None]:
    """Where the page before ended: the kind, and the cursor within it."""
    if cursor is None:
        return 0, None
    number, _, inner = cursor.partition(".")
    if not number.isdecimal() or len(number) > 4 or int(number) > kinds:
        raise CursorRefused("the cursor is not one of an export")
    return int(number), inner or None


def _exported(item: Entity) -> dict[str, Any]:
    return item.model_dump(mode="json", by_alias=True)
