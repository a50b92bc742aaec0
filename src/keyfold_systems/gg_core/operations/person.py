"""A person's own data: all of it to take along, and leaving for good."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any, Final

from keyfold import Entity, Page, Query, create, update
from keyfold.api import Identity, Invalid, PageRequest, admin, itself, mutation, query
from keyfold.errors import AlreadyExists
from keyfold_systems.gg_core.departure import Departure, GroupPost
from keyfold_systems.gg_core.entities import (
    Activity,
    Award,
    Block,
    Follow,
    Goal,
    GroupMember,
    Quest,
    Task,
    User,
)
from keyfold_systems.gg_core.notices import Notice
from keyfold_systems.gg_core.operations.access import Part
from keyfold_systems.gg_core.oversight import Report
from keyfold_systems.gg_core.payloads import Exported
from keyfold_systems.gg_core.rooms import Message, RoomMark, UserRoom

Section = Callable[[str], Query[Any]]
SECTIONS: Final[dict[str, Section]] = {
    "following": lambda me: Follow.key.query(follower_id=me),
    "follower": lambda me: Follow.followers.query(followee_id=me),
    "block": lambda me: Block.key.query(user_id=me),
    "group": lambda me: GroupMember.by_user.query(user_id=me),
    "goal": lambda me: Goal.key.query(user_id=me),
    "quest": lambda me: Quest.key.query(user_id=me),
    "award": lambda me: Award.key.query(user_id=me),
    "activity": lambda me: Activity.key.query(actor_id=me),
    "group activity": lambda me: GroupPost.key.query(author_id=me),
    "room": lambda me: UserRoom.key.query(user_id=me),
    "message": lambda me: RoomMark.key.query(user_id=me),
    "notice": lambda me: Notice.key.query(user_id=me),
    "report": lambda me: Report.key.query(reporter_id=me),
}
"""What a person has here, after the profile; some lead on to more."""


class Persons(Part):
    """Taking one's data along, and leaving."""

    @query("/users/{user_id}/export", allow=itself("user_id") | admin)
    async def export_user(self, user_id: str, page: PageRequest) -> Page[Exported]:
        """All that is kept about somebody, in pages; where one breaks off, its cursor goes on."""
        if page.cursor is None:
            user = await self.db.get(User.key(id=user_id))
            return Page([_exported("profile", user)], _place(next(iter(SECTIONS)), None))
        kind, cursor = _read_place(page.cursor)
        found = await self.db.read(SECTIONS[kind](user_id).limit(page.limit), cursor=cursor)
        rows = [row for one in found for row in await self._with_more(kind, user_id, one)]
        if found.cursor is not None:
            return Page(rows, _place(kind, found.cursor))
        kinds = [*SECTIONS, None]
        following = kinds[kinds.index(kind) + 1]
        return Page(rows, None if following is None else _place(following, None))

    @mutation(
        "/users/{user_id}", name="deleteUser", method="DELETE", allow=itself("user_id") | admin
    )
    async def delete_user(self, user_id: str, caller: Identity) -> None:
        """Leave for good: from now on you write nothing, and all that you did here goes.

        It goes on by itself until nothing is left; asking again does no harm.
        """
        departure = Departure(user_id=user_id, asked_at=self.db.context.now())
        own = caller.id == user_id
        decided = [] if own else [self.audited(caller, "delete user", user_id)]
        try:
            await self.db.transact(
                update(User.key(id=user_id), suspended=True), create(departure), *decided
            )
        except AlreadyExists:
            return

    async def _with_more(self, kind: str, user_id: str, one: Entity) -> list[Exported]:
        """A thing with what belongs to it: a goal's tasks, what was written in a room."""
        if isinstance(one, Goal):
            tasks = Task.key.query(goal_id=one.goal_id)
            return [_exported(kind, one), *await self._all("task", tasks)]
        if isinstance(one, RoomMark):
            room = Message.key.query(room_id=one.room_id)
            return await self._all(kind, room.where(lambda m: m.user_id == user_id))
        if isinstance(one, GroupPost):
            post = await self.db.find(
                Activity.key(
                    actor_id=one.actor_id, activity_id=one.activity_id, created_at=one.created_at
                )
            )
            return [] if post is None else [_exported(kind, post)]
        return [_exported(kind, one)]

    async def _all(self, kind: str, wanted: Query[Any]) -> list[Exported]:
        return [_exported(kind, one) async for page in self.db.pages(wanted) for one in page]


def _exported(kind: str, item: Entity) -> Exported:
    return Exported(kind=kind, data=item.model_dump_json(by_alias=True, exclude_none=True))


def _place(kind: str, cursor: str | None) -> str:
    return urlsafe_b64encode(json.dumps([kind, cursor]).encode()).decode()


def _read_place(text: str) -> tuple[str, str | None]:
    try:
        kind, cursor = json.loads(urlsafe_b64decode(text.encode()))
        assert kind in SECTIONS
        assert cursor is None or isinstance(cursor, str)
    except (ValueError, AssertionError):
        raise Invalid("cursor", "it is not one that this list gave") from None
    return kind, cursor
