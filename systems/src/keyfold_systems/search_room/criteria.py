"""What members look for, how it becomes one, and how well it fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from keyfold import Entity, Page, check, create, new_ulid, put, update
from keyfold_web import Conflict, Identity, Missing, PageRequest, mutation, query
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold.runtime import Intent
from keyfold_systems.search_room.access import member, reader
from keyfold_systems.search_room.combination import Combination, Mode, combine
from keyfold_systems.search_room.entities import (
    SUPERSEDED_CRITERIA_DAYS,
    Activity,
    CombinedCriteria,
    Compatibility,
    LatestCriteria,
    Member,
    UserCriteria,
)
from keyfold_systems.search_room.fit import fit
from keyfold_systems.search_room.listings import ListingOperations
from keyfold_systems.search_room.patterns import (
    all_users_criteria,
    combined_criteria,
    compatibility_history,
    latest_compatibility,
    user_criteria_history,
)
from keyfold_systems.search_room.payloads import NewCriteria, RoomWishes
from keyfold_systems.search_room.people import named, names_of
from keyfold_systems.search_room.wishes import Voice

ATTEMPTS = 5
MOST_NAMED = 20
"""How many criteria an activity names."""


class CriteriaOperations(ListingOperations):
    """Criteria of one, of all, and their score."""

    @mutation(
        "/rooms/{room_id}/criteria",
        allow=member,
        status=201,
        example={"input": {"criteria": {"price": {"max": 2500}, "location": ["Bern"]}}},
    )
    async def save_criteria(
        self, room_id: str, input: NewCriteria, caller: Identity
    ) -> UserCriteria:
        """Say what you look for now; what you said before is kept for a while."""
        said = UserCriteria(
            room_id=room_id,
            user_id=caller.id,
            timestamp=self._now(),
            criteria_id=new_ulid(),
            criteria=input.criteria,
            weights=input.weights,
            source=input.source,
        )
        latest = LatestCriteria.model_validate(said.model_dump(exclude={"expires_at"}))
        note = self._activity(room_id, "CriteriaSaved", caller.id, ", ".join(input.criteria))
        for _ in range(ATTEMPTS):
            before = await self.db.find(latest.ref())
            if before is None:
                replaces: list[Intent] = [create(latest)]
            elif (before.timestamp, before.criteria_id) < (said.timestamp, said.criteria_id):
                replaces = [_replaced(before, latest), self._superseded(before)]
            else:
                said = said.model_copy(update={"expires_at": self._end_of_superseded()})
                replaces = []
            try:
                written = await self._written(
                    room_id, caller, create(said), create(note), *replaces
                )
            except (AlreadyExists, ConditionFailed):
                continue  # they said something else at the same time
            made: UserCriteria = written[0]
            return made
        raise Conflict("Your criteria change all the time; try again.", code="BUSY")

    @query("/rooms/{room_id}/criteria", allow=reader)
    async def criteria(self, room_id: str) -> list[LatestCriteria]:
        """What everybody looks for now."""
        found = await all_users_criteria(self.db, room_id)
        return await named(self.db, found.items, user_name="user_id")

    @query("/rooms/{room_id}/wishes", allow=reader)
    async def wishes(self, room_id: str) -> RoomWishes:
        """All that a room looks for at one glance; what was not computed yet is null."""
        combined = await combined_criteria(self.db, room_id)
        return RoomWishes(
            criteria=await self.criteria(room_id),
            combined=None if combined is None else await self._with_names(combined),
            compatibility=await latest_compatibility(self.db, room_id),
        )

    @query("/rooms/{room_id}/criteria/{user_id}", allow=member)
    async def criteria_history(
        self, room_id: str, user_id: str, page: PageRequest
    ) -> Page[UserCriteria]:
        """What somebody looked for, newest first."""
        history = user_criteria_history.after(page.cursor)
        return await history(self.db, room_id, user_id, limit=page.limit)

    @mutation(
        "/rooms/{room_id}/combined-criteria",
        allow=member,
        status=201,
        example={"mode": "mixed"},
    )
    async def combine_criteria(
        self, room_id: str, mode: Mode, caller: Identity
    ) -> CombinedCriteria:
        """Merge what everybody looks for."""

        def computed(criteria: list[LatestCriteria]) -> list[Activity | CombinedCriteria]:
            found = combine(_voices(criteria), mode)
            combined = CombinedCriteria(
                room_id=room_id,
                timestamp=self._now(),
                combined_id=new_ulid(),
                criteria=found.wishes,
                weights=found.weights,
                from_user_ids=[one.user_id for one in criteria],
                combine_mode=mode,
            )
            outcome = _outcome(found, mode)
            return [combined, self._activity(room_id, "CriteriaCombined", caller.id, outcome)]

        made: CombinedCriteria = await self._of_members(room_id, caller, computed)
        return await self._with_names(made)

    @query("/rooms/{room_id}/combined-criteria", allow=reader)
    async def combined(self, room_id: str) -> CombinedCriteria:
        """What the room looks for, as last merged."""
        found = await combined_criteria(self.db, room_id)
        if found is None:
            raise Missing("Nothing has been combined yet.")
        return await self._with_names(found)

    @mutation("/rooms/{room_id}/compatibility", allow=member, status=201)
    async def compute_compatibility(self, room_id: str, caller: Identity) -> Compatibility:
        """Compute how well the members' wishes fit."""

        def computed(criteria: list[LatestCriteria]) -> list[Activity | Compatibility]:
            found = fit(_voices(criteria))
            if found is None:
                raise Conflict(
                    "No two of you state the same criterion, so there is nothing to compare yet.",
                    code="NOTHING_TO_COMPARE",
                )
            snapshot = Compatibility(
                room_id=room_id,
                timestamp=self._now(),
                compatibility_id=new_ulid(),
                score_percent=found.percent,
                level=found.level,
                comment=found.comment,
                criteria_refs=[one.criteria_id for one in criteria],
            )
            outcome = f"{found.percent}% ({found.level})"
            return [snapshot, self._activity(room_id, "CompatibilityComputed", caller.id, outcome)]

        made: Compatibility = await self._of_members(room_id, caller, computed)
        return made

    @query("/rooms/{room_id}/compatibility", allow=reader)
    async def compatibility(self, room_id: str) -> Compatibility:
        """The latest score."""
        found = await latest_compatibility(self.db, room_id)
        if found is None:
            raise Missing("Nothing has been computed yet.")
        return found

    @query("/rooms/{room_id}/compatibility/history", allow=member)
    async def compatibility_history(self, room_id: str, page: PageRequest) -> Page[Compatibility]:
        """Scores over time, newest first."""
        history = compatibility_history.after(page.cursor)
        return await history(self.db, room_id, limit=page.limit)

    async def _of_members(
        self,
        room_id: str,
        caller: Identity,
        computed: Callable[[list[LatestCriteria]], Sequence[Entity]],
    ) -> Any:
        """What is computed of everybody's criteria, stored if all of them are still in the room."""
        for _ in range(ATTEMPTS):
            criteria = (await all_users_criteria(self.db, room_id)).items
            if not criteria:
                raise Conflict("Nobody has said what they look for.", code="NO_CRITERIA")
            others = [one.user_id for one in criteria if one.user_id != caller.id]
            there = [check(Member.key(room_id=room_id, user_id=one)) for one in others]
            try:
                made = await self._written(
                    room_id, caller, *map(create, computed(criteria)), *there
                )
            except NotFound:
                continue  # somebody left at the same time
            return made[0]
        raise Conflict("The members change all the time; try again.", code="BUSY")

    async def _with_names(self, combined: CombinedCriteria) -> CombinedCriteria:
        names = await names_of(self.db, set(combined.from_user_ids))
        shown = [names.get(one, "") for one in combined.from_user_ids]
        return combined.model_copy(update={"from_user_names": shown})

    def _superseded(self, latest: LatestCriteria) -> Intent:
        """The entry of the history that was the latest one expires from now on."""
        entry = UserCriteria.key(
            room_id=latest.room_id,
            user_id=latest.user_id,
            timestamp=latest.timestamp,
            criteria_id=latest.criteria_id,
        )
        return update(entry, expires_at=self._end_of_superseded())

    def _end_of_superseded(self) -> datetime:
        return self._now() + timedelta(days=SUPERSEDED_CRITERIA_DAYS)


def _outcome(found: Combination, mode: Mode) -> str:
    if not found.conflicts:
        return mode
    named, more = found.conflicts[:MOST_NAMED], len(found.conflicts) - MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"{mode} (nothing suits everybody: {', '.join(named)}{rest})"


def _voices(criteria: list[LatestCriteria]) -> list[Voice]:
    return [Voice(one.user_id, one.criteria, one.weights) for one in criteria]


def _replaced(before: LatestCriteria, latest: LatestCriteria) -> Intent:
    return put(latest, where=lambda c: c.criteria_id == before.criteria_id)
