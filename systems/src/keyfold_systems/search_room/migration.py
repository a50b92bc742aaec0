"""The document's migration: a table from before its indexes and its TTL becomes this design's.

`migration` adds both indexes online, one after the other, gives their keys to the listings that
were there, and enables `ttl` last. What the document leaves out is done on the way: seen-by lists
become sets, duplicates are found by their unique markers, memberships get what their lists show.

`histories` brings criteria and scores under keys that tell records of one instant apart.
`open_criteria` gives criteria and weights the document's open shape; until it has run, both are
read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import model_validator

from keyfold import Design, Entity, Id, Key
from keyfold.migrations import (
    CreateIndex,
    EnableStream,
    EnableTtl,
    Migration,
    Rewrite,
    add_attribute,
    fill_indexes,
    move,
    rebuild,
    recount,
)
from keyfold_systems.search_room import migration_types as typed
from keyfold_systems.search_room.combination import Mode
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import (
    CombinedCriteria,
    Compatibility,
    Listing,
    Moment,
    UserCriteria,
    table,
)
from keyfold_systems.search_room.fit import Level
from keyfold_systems.search_room.shape import WIRE, Shaped, open_shape, opened, stored_flat
from keyfold_systems.search_room.wishes import Weights, Wishes

NAME = table.name
FIRST = "0"
"""The id of a record from before: one instant had one."""

before = Design("search_room_before", description="Histories as the document has them.")
old_table = before.table(NAME, ttl="ttl", type_attribute="entityType")


class UserCriteriaBefore(typed.UserCriteriaBefore, Entity, table=old_table):
    """What one member looked for, told apart by the moment alone."""

    room_id: Id
    user_id: Id
    timestamp: Moment
    criteria: Wishes
    weights: Weights = {}
    source: Literal["manual", "ai_proposed"] = "manual"

    key = Key("ROOM#{room_id}", "CRITERIA#{user_id}#{timestamp:iso_ms}")
    in_the_open_shape = model_validator(mode="before")(opened)


class CombinedCriteriaBefore(typed.CombinedCriteriaBefore, Entity, table=old_table):
    """What a room looked for, told apart by the moment alone."""

    room_id: Id
    timestamp: Moment
    criteria: Wishes
    weights: Weights = {}
    from_user_ids: list[str] = []
    combine_mode: Mode

    key = Key("ROOM#{room_id}", "CRITERIA_COMBINED#{timestamp:iso_ms}")
    in_the_open_shape = model_validator(mode="before")(opened)


class CompatibilityBefore(typed.CompatibilityBefore, Entity, table=old_table):
    """A score, told apart by the moment alone."""

    room_id: Id
    timestamp: Moment
    score_percent: int
    level: Level
    comment: str
    criteria_refs: list[str] = []

    key = Key("ROOM#{room_id}", "COMPATIBILITY#{timestamp:iso_ms}")


def user_criteria(old: UserCriteriaBefore) -> UserCriteria:
    return UserCriteria(criteria_id=FIRST, **dict(old))


def user_criteria_back(new: UserCriteria) -> UserCriteriaBefore:
    return UserCriteriaBefore.model_validate(new.model_dump(exclude={"criteria_id", "expires_at"}))


def combined(old: CombinedCriteriaBefore) -> CombinedCriteria:
    return CombinedCriteria(combined_id=FIRST, **dict(old))


def combined_back(new: CombinedCriteria) -> CombinedCriteriaBefore:
    return CombinedCriteriaBefore.model_validate(
        new.model_dump(exclude={"combined_id", "expires_at"})
    )


def compatibility(old: CompatibilityBefore) -> Compatibility:
    return Compatibility(compatibility_id=FIRST, **dict(old))


def compatibility_back(new: Compatibility) -> CompatibilityBefore:
    return CompatibilityBefore.model_validate(
        new.model_dump(exclude={"compatibility_id", "expires_at"})
    )


def seen_by_set(item: dict[str, Any]) -> dict[str, Any]:
    """A list of people as a set; DynamoDB has no empty ones."""
    seen = item.get("seenBy", {})
    if "L" not in seen:
        return item
    people = sorted({one["S"] for one in seen["L"]})
    rest = {name: value for name, value in item.items() if name != "seenBy"}
    return {**rest, "seenBy": {"SS": people}} if people else rest


def seen_by_list(item: dict[str, Any]) -> dict[str, Any]:
    seen = item.get("seenBy", {})
    if "SS" not in seen:
        return item
    return {**item, "seenBy": {"L": [{"S": one} for one in seen["SS"]]}}


def first_version(item: dict[str, Any]) -> int | None:
    """Rooms and listings are edited by several people, so their edits are counted."""
    edited = item["SK"] == "ROOM" or item["SK"].startswith("LISTING#")
    return 1 if edited else None


def unknown_name(item: dict[str, Any]) -> str | None:
    """The place of the room's name in a membership; `keyfold repair` fills it in."""
    in_a_room = item["PK"].startswith("ROOM#") and item["SK"].startswith("MEMBER#")
    of_a_user = item["PK"].startswith("USER#") and item["SK"].startswith("ROOM#")
    return "" if in_a_room or of_a_user else None


def opened_item(item: dict[str, Any]) -> dict[str, Any]:
    """Criteria as they are stored, in the open shape."""
    return _reshaped(item, lambda criteria, weights: open_shape(criteria, weights, WIRE))


def flat_item(item: dict[str, Any]) -> dict[str, Any]:
    return _reshaped(item, stored_flat)


def _reshaped(
    item: dict[str, Any], shape: Callable[[dict[str, Any], dict[str, Any]], Shaped]
) -> dict[str, Any]:
    criteria, weights = item.get("criteria", {}), item.get("weights", {})
    if not item["SK"]["S"].startswith("CRITERIA") or "M" not in criteria:
        return item
    made, weighed = shape(criteria["M"], weights.get("M", {}))
    kept = {"weights": {"M": weighed}} if "M" in weights else {}
    return {**item, "criteria": {"M": made}, **kept}


migration = Migration(
    "search-room-indexes",
    [
        *(CreateIndex(NAME, index) for index in table.schema.indexes),
        EnableStream(NAME),
        Rewrite("turn the lists seenBy into sets", NAME, seen_by_set, seen_by_list),
        add_attribute(NAME, "version", first_version),
        add_attribute(NAME, "roomName", unknown_name),
        fill_indexes(Listing),
        rebuild(Listing),
        recount(design),
        EnableTtl(NAME, "ttl"),
    ],
    description="Both indexes with their keys on all listings, then expiry.",
)

histories = Migration(
    "search-room-histories",
    [
        move(UserCriteriaBefore, UserCriteria, forward=user_criteria, backward=user_criteria_back),
        move(CombinedCriteriaBefore, CombinedCriteria, forward=combined, backward=combined_back),
        move(
            CompatibilityBefore,
            Compatibility,
            forward=compatibility,
            backward=compatibility_back,
        ),
    ],
    description="An id in the key of each record of a history.",
)

open_criteria = Migration(
    "search-room-open-criteria",
    [Rewrite("open the shape of criteria", NAME, opened_item, flat_item)],
    description="Criteria and weights under the names that people give them.",
)
