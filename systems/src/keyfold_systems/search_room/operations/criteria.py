"""Criteria of each member, of all, and how well they fit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from keyfold import (
    Entity,
    Page,
    create,
)
from keyfold.errors import AlreadyExists
from keyfold_systems.search_room import patterns
from keyfold_systems.search_room.combination import Mode, combine
from keyfold_systems.search_room.entities import (
    CombinedCriteria,
    Compatibility,
    UserCriteria,
)
from keyfold_systems.search_room.fit import fit
from keyfold_systems.search_room.operations.listings import ListingOperations
from keyfold_systems.search_room.operations.rooms import member
from keyfold_systems.search_room.views import (
    NewCriteria,
    RoomWishes,
    show_criteria,
)
from keyfold_systems.search_room.wishes import Voice
from keyfold_web import (
    Conflict,
    Identity,
    PageRequest,
    mutation,
    query,
)

ATTEMPTS = 20
MOST_NAMED = 20
"""How many conflicts an activity names."""
E = TypeVar("E", bound=Entity)


class CriteriaOperations(ListingOperations):
    """Criteria and compatibility."""

    @mutation("/rooms/{room_id}/criteria", allow=member, status=201)
    async def save_criteria(
        self, room_id: str, input: NewCriteria, caller: Identity
    ) -> UserCriteria:
        """Save your criteria; earlier ones stay in your history."""

        def criteria_at(at: datetime) -> UserCriteria:
            return UserCriteria(room_id=room_id, user_id=caller.id, timestamp=at, **dict(input))

        text = ", ".join(input.criteria)
        return await self._dated(caller, room_id, criteria_at, "CriteriaSaved", text)

    @query("/rooms/{room_id}/wishes", allow=member)
    async def wishes(self, room_id: str) -> RoomWishes:
        """The latest criteria of every member, the combined ones, and how well they fit."""
        return RoomWishes(
            criteria=await show_criteria(self.db, await self._latest(room_id)),
            combined=await patterns.combined_criteria(self.db, room_id),
            compatibility=await patterns.latest_compatibility(self.db, room_id),
        )

    @query("/rooms/{room_id}/criteria/{user_id}", allow=member)
    async def criteria_history(
        self, room_id: str, user_id: str, page: PageRequest
    ) -> Page[UserCriteria]:
        """A member's criteria over time, newest first."""
        return await page.read(self.db, patterns.criteria_of_user, room_id, user_id)

    @mutation("/rooms/{room_id}/combined-criteria", allow=member, status=201)
    async def combine_criteria(
        self, room_id: str, combine_mode: Mode, caller: Identity
    ) -> CombinedCriteria:
        """Combine the criteria of all members."""
        latest = await self._stated(room_id)
        found = combine([_voice(one) for one in latest], combine_mode)

        def combined(at: datetime) -> CombinedCriteria:
            return CombinedCriteria(
                room_id=room_id,
                timestamp=at,
                criteria=found.wishes,
                weights=found.weights,
                from_user_ids=[one.user_id for one in latest],
                combine_mode=combine_mode,
            )

        named, more = found.conflicts[:MOST_NAMED], len(found.conflicts) - MOST_NAMED
        rest = f" and {more} more" if more > 0 else ""
        open_ = f" (nothing suits everybody: {', '.join(named)}{rest})" if named else ""
        said = f"{combine_mode}{open_}"
        return await self._dated(caller, room_id, combined, "CriteriaCombined", said)

    # Compatibility

    @mutation("/rooms/{room_id}/compatibility", allow=member, status=201)
    async def compute_compatibility(self, room_id: str, caller: Identity) -> Compatibility:
        """Compute how well the criteria of the members fit."""
        latest = await self._stated(room_id)
        found = fit([_voice(one) for one in latest])
        if found is None:
            raise Conflict(
                "No two of you state the same criterion, so there is nothing to compare yet.",
                code="NOTHING_TO_COMPARE",
            )

        def snapshot(at: datetime) -> Compatibility:
            return Compatibility(
                room_id=room_id,
                timestamp=at,
                score_percent=found.percent,
                level=found.level,
                comment=found.comment,
                criteria_refs=[one.ref().wire()["SK"]["S"] for one in latest],
            )

        said = f"{found.percent}% ({found.level})"
        return await self._dated(caller, room_id, snapshot, "CompatibilityComputed", said)

    @query("/rooms/{room_id}/compatibility", allow=member)
    async def compatibility(self, room_id: str, page: PageRequest) -> Page[Compatibility]:
        """Scores over time, newest first."""
        return await page.read(self.db, patterns.compatibility_history, room_id)

    # What several of them need

    async def _latest(self, room_id: str) -> list[UserCriteria]:
        """The latest criteria of each who is still a member."""
        latest: dict[str, UserCriteria] = {}
        async for page in patterns.all_criteria.pages(self.db, room_id):
            latest |= {one.user_id: one for one in page}
        there = {one.user_id for one in await patterns.room_members(self.db, room_id)}
        return [one for user_id, one in sorted(latest.items()) if user_id in there]

    async def _stated(self, room_id: str) -> list[UserCriteria]:
        found = await self._latest(room_id)
        if not found:
            raise Conflict("Nobody has said what they look for.", code="NO_CRITERIA")
        return found

    async def _dated(
        self,
        caller: Identity,
        room_id: str,
        made_at: Callable[[datetime], E],
        kind: str,
        said: str,
    ) -> E:
        """A record under its timestamp; where there is one of that millisecond, under the next."""
        at = self._now()
        for _ in range(ATTEMPTS):
            new = made_at(at)
            note = self._note(room_id, kind, caller, said)
            try:
                made: E = (await self._written(caller, room_id, create(new), create(note)))[0]
            except AlreadyExists:
                at += timedelta(milliseconds=1)
                continue
            return made
        raise Conflict("The room changes all the time; try again.", code="BUSY")


def _voice(one: UserCriteria) -> Voice:
    return Voice(one.user_id, one.criteria, one.weights)
