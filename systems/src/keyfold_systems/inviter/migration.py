"""A table from before becomes this design's: what lists show now is filled into what is there.

`migration` puts each host on their own list, spells names for the search, and brings copies,
pointers and counters to what the design asks for: a field that is new on a pointer is filled on
every old one. `ground` then says of old answers which invitation they were given to.
"""

from __future__ import annotations

from typing import Any

from keyfold import AsyncDb
from keyfold.errors import NotFound
from keyfold.migrations import (
    Migration,
    Rewrite,
    add_attribute,
    fill_indexes,
    recount,
    restore,
)
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import Hangout, Response, User, table
from keyfold_systems.inviter.operations.access import group_of
from keyfold_systems.inviter.spelling import spelt


def with_host(item: dict[str, Any]) -> dict[str, Any]:
    """A hangout on whose list its host is too."""
    if not item["PK"]["S"].startswith("EVENT#") or item["SK"]["S"] != "METADATA":
        return item
    users = {*item.get("userIds", {}).get("SS", ()), item["hostId"]["S"]}
    return {**item, "userIds": {"SS": sorted(users)}}


def without_host(item: dict[str, Any]) -> dict[str, Any]:
    if not item["PK"]["S"].startswith("EVENT#") or item["SK"]["S"] != "METADATA":
        return item
    users = {*item.get("userIds", {}).get("SS", ())} - {item["hostId"]["S"]}
    rest = {name: value for name, value in item.items() if name != "userIds"}
    return {**rest, "userIds": {"SS": sorted(users)}} if users else rest


migration = Migration(
    "inviter-lists",
    [
        Rewrite("put hosts on their own lists", table.name, with_host, without_host),
        add_attribute(User, "foundAs", lambda user: spelt(user["name"])["found_as"]),
        add_attribute(User, "initial", lambda user: spelt(user["name"])["initial"]),
        fill_indexes(User),
        restore(
            design,
            "copied Hangout.host_name",
            "copied Response.user_name",
            "pointer GroupHangout",
            "pointer UserHangout",
        ),
        recount(design),
    ],
    description="Names on hangouts, answers and pointers; hosts on their own lists; people found.",
)


async def ground(db: AsyncDb) -> int:
    """Tell old answers their invitation, and delete those that have none; gives how many it saw.

    It can be repeated at any time.
    """
    seen = 0
    async for one in db.scan(Response):
        if one.group_id is not None or one.guest_id is not None:
            continue
        seen += 1
        hangout = await db.find(Hangout.key(hangout_id=one.hangout_id))
        group_id = None if hangout is None else await group_of(db, hangout, one.user_id)
        invited = hangout is not None and one.user_id in hangout.user_ids
        try:
            if group_id is not None:
                await db.update(one.ref(), group_id=group_id)
            elif invited:
                await db.update(one.ref(), guest_id=one.user_id)
            else:
                await db.delete(one.ref())
        except NotFound:
            continue  # taken back meanwhile
    return seen
