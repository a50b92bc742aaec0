"""Every access pattern of Search Room: exactly the request that it makes, and its answer."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import Any

import pytest

from keyfold import AsyncDb, Entity
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import (
    Activity,
    CombinedCriteria,
    Compatibility,
    FormerRoom,
    Invitation,
    InvitationLink,
    LatestCriteria,
    Listing,
    Member,
    Notification,
    Person,
    Role,
    Room,
    UserCriteria,
    UserInvitation,
    UserRoom,
)
from keyfold_systems.search_room.oversight import trail
from keyfold_systems.search_room.patterns import (
    activities_after,
    all_users_criteria,
    combined_criteria,
    compatibility_history,
    former_rooms,
    invitation,
    invitation_link,
    latest_compatibility,
    latest_user_criteria,
    listing_by_external_id,
    listing_by_id,
    listings_by_status,
    membership,
    notifications,
    people,
    person,
    room_activities,
    room_by_id,
    room_invitations,
    room_links,
    room_listings,
    room_members,
    room_with_members,
    rooms_by_id,
    unread_notifications,
    user_criteria_history,
    user_invitations,
    user_rooms,
)
from keyfold_systems.search_room.status import Status
from tests.systems.conftest import Recorder
from tests.systems.patterns import Request, Row, get_item, oversight_rows, query

from .conftest import NOW

TABLE = "search-room"
BEGINS = "#0 = :0 AND begins_with(#1, :1)"
EQUAL = "#0 = :0 AND #1 = :1"
BETWEEN = "#0 = :0 AND #1 BETWEEN :1 AND :2"
LAST = "\U0010ffff"
SECONDS = {"N": str(int(NOW.timestamp()))}
World = dict[str, list[Any]]


@pytest.fixture
def client(everywhere: Recorder) -> Recorder:
    return everywhere


def item(sort: str) -> Request:
    return get_item(TABLE, "ROOM#r", sort)


def begins(partition: str, prefix: str, limit: int, **more: Any) -> Request:
    values = [{"S": partition}, {"S": prefix}]
    return query(TABLE, BEGINS, ["PK", "SK"], values, Limit=limit, **more)


def batch_get(*keys: tuple[str, str]) -> Request:
    wanted = [{"PK": {"S": partition}, "SK": {"S": sort}} for partition, sort in keys]
    return "BatchGetItem", {"RequestItems": {TABLE: {"Keys": wanted, "ConsistentRead": True}}}


def unexpired(prefix: str, limit: int, partition: str = "ROOM#r", **more: Any) -> Request:
    """What has expired is left out, deleted or not."""
    return query(
        TABLE,
        BEGINS,
        ["PK", "SK", "ttl"],
        [{"S": partition}, {"S": prefix}, SECONDS],
        FilterExpression="(attribute_not_exists(#2) OR #2 > :2)",
        Limit=limit,
        **more,
    )


@pytest.fixture
async def world(db: AsyncDb) -> World:
    """What is stored, as it is read back, by entity and in the order of keys."""
    of_room: dict[str, Any] = {"room_id": "r"}
    flat: dict[str, Any] = {**of_room, "source_brand": "homegate", "title": "Flat"}
    room = Room(room_id="r", name="Ours", created_by_user_id="mia", search_type="rent")
    moments = [NOW - timedelta(days=2), NOW, NOW + timedelta(seconds=1)]
    stored: list[Entity] = [
        Person(user_id="jonas", name="Jonas"),
        Person(user_id="mia", name="Mia"),
        room,
        Room(room_id="s", name="Other", created_by_user_id="mia", search_type="buy"),
        Member(**of_room, user_id="jonas", room_name="Ours"),
        Member(**of_room, user_id="mia", role=Role.OWNER, room_name="Ours"),
        Member(room_id="s", user_id="mia", role=Role.OWNER, room_name="Other"),
        *(
            Invitation(**of_room, user_id=who, room_name="Ours", invited_by="mia", invited_at=NOW)
            for who in ("ines", "paul")
        ),
        *(
            InvitationLink(
                **of_room, link_id=link, room_name="Ours", invited_by="mia", invited_at=NOW
            )
            for link in ("x", "y")
        ),
        FormerRoom(user_id="mia", room_id="t", left_at=NOW),
        Listing(**flat, listing_id="k", external_id="7"),
        Listing(**flat, listing_id="l", external_id="8"),
        Listing(**{**flat, "room_id": "s"}, listing_id="m", external_id="7"),
        *(
            UserCriteria(**of_room, user_id=who, timestamp=at, criteria_id="c", criteria={})
            for who in ("mia", "miako")
            for at in moments
        ),
        *(
            LatestCriteria(**of_room, user_id=who, timestamp=NOW, criteria_id="c", criteria={})
            for who in ("jonas", "mia")
        ),
        *(
            CombinedCriteria(
                **of_room, timestamp=at, combined_id="c", criteria={}, combine_mode="all"
            )
            for at in moments
        ),
        *(
            Activity(
                **of_room,
                created_at=at,
                activity_id="a",
                type="ChatMessage",
                sender_type="user",
                sender_id="mia",
            )
            for at in (NOW - timedelta(days=91), *moments)
        ),
        *(
            Notification(
                **of_room,
                user_id="mia",
                created_at=at,
                activity_id="a",
                type="ChatMessage",
                sender_id="jonas",
                is_read=at == NOW,
            )
            for at in moments
        ),
        *(
            Compatibility(
                **of_room,
                timestamp=at,
                compatibility_id="c",
                score_percent=50,
                level="medium",
                comment="So so.",
            )
            for at in moments
        ),
    ]
    for one in stored:
        await db.create(one)
    await db.update(Listing.key(room_id="r", listing_id="k"), status=Status.SEEN)
    found: World = defaultdict(list)
    entities: set[type[Entity]] = {*map(type, stored), UserRoom, UserInvitation}
    for entity in entities:
        found[entity.__name__] = [one async for one in db.scan(entity)]
        found[entity.__name__].sort(key=lambda one: [str(x) for x in one.ref().wire().values()])
    return found


NEWEST: dict[str, Any] = {"ScanIndexForward": False}
ROWS: dict[str, Row[World]] = {
    **oversight_rows(TABLE, trail, NOW),
    "room_by_id": Row(lambda db: room_by_id(db, "r"), [item("ROOM")], lambda w: w["Room"][0]),
    "room_members": Row(
        lambda db: room_members(db, "r"),
        [begins("ROOM#r", "MEMBER#", 30)],
        lambda w: w["Member"][:2],
    ),
    "user_rooms": Row(
        lambda db: user_rooms(db, "mia"),
        [begins("USER#mia", "ROOM#", 50)],
        lambda w: [one for one in w["UserRoom"] if one.user_id == "mia"],
    ),
    "rooms_by_id": Row(
        lambda db: rooms_by_id(db, ["r", "none", "s"]),
        [batch_get(("ROOM#r", "ROOM"), ("ROOM#none", "ROOM"), ("ROOM#s", "ROOM"))],
        lambda w: [w["Room"][0], None, w["Room"][1]],
    ),
    "former_rooms": Row(
        lambda db: former_rooms(db, "mia"),
        [begins("USER#mia", "LEFT#", 50)],
        lambda w: w["FormerRoom"],
    ),
    "person": Row(
        lambda db: person(db, "mia"),
        [get_item(TABLE, "USER#mia", "PROFILE")],
        lambda w: w["Person"][1],
    ),
    "people": Row(
        lambda db: people(db, ["mia", "none"]),
        [batch_get(("USER#mia", "PROFILE"), ("USER#none", "PROFILE"))],
        lambda w: [w["Person"][1], None],
    ),
    "notifications": Row(
        lambda db: notifications(db, "mia"),
        [unexpired("NOTIFICATION#", 50, "USER#mia", **NEWEST)],
        lambda w: w["Notification"][::-1],
    ),
    "unread_notifications": Row(
        lambda db: unread_notifications(db, "mia"),
        [
            query(
                TABLE,
                BEGINS,
                ["PK", "SK", "ttl", "isRead"],
                [{"S": "USER#mia"}, {"S": "NOTIFICATION#"}, SECONDS, {"BOOL": False}],
                FilterExpression="(attribute_not_exists(#2) OR #2 > :2) AND #3 = :3",
                Limit=50,
                **NEWEST,
            )
        ],
        lambda w: w["Notification"][::-2],
    ),
    "invitation_link": Row(
        lambda db: invitation_link(db, "r", "y"),
        [item("LINK#y")],
        lambda w: w["InvitationLink"][1],
    ),
    "room_links": Row(
        lambda db: room_links(db, "r"),
        [unexpired("LINK#", 20)],
        lambda w: w["InvitationLink"],
    ),
    "membership": Row(
        lambda db: membership(db, "r", "mia"), [item("MEMBER#mia")], lambda w: w["Member"][1]
    ),
    "room_with_members": Row(
        lambda db: room_with_members(db, "r"),
        [
            query(
                TABLE,
                BETWEEN,
                ["PK", "SK"],
                [{"S": "ROOM#r"}, {"S": "MEMBER#"}, {"S": "ROOM"}],
                Limit=31,
            )
        ],
        lambda w: [*w["Member"][:2], w["Room"][0]],
    ),
    "invitation": Row(
        lambda db: invitation(db, "r", "ines"),
        [item("INVITATION#ines")],
        lambda w: w["Invitation"][0],
    ),
    "room_invitations": Row(
        lambda db: room_invitations(db, "r"),
        [unexpired("INVITATION#", 50)],
        lambda w: w["Invitation"],
    ),
    "user_invitations": Row(
        lambda db: user_invitations(db, "ines"),
        [
            query(
                TABLE,
                BEGINS,
                ["PK", "SK", "ttl", "status"],
                [{"S": "USER#ines"}, {"S": "INVITATION#"}, SECONDS, {"S": "pending"}],
                FilterExpression="(attribute_not_exists(#2) OR #2 > :2) AND #3 = :3",
                Limit=50,
            )
        ],
        lambda w: w["UserInvitation"][:1],
    ),
    "listing_by_id": Row(
        lambda db: listing_by_id(db, "r", "l"), [item("LISTING#l")], lambda w: w["Listing"][1]
    ),
    "room_listings": Row(
        lambda db: room_listings(db, "r"),
        [begins("ROOM#r", "LISTING#", 50)],
        lambda w: w["Listing"][:2],
    ),
    "listings_by_status": Row(
        lambda db: listings_by_status(db, "r", Status.SEEN),
        [
            query(
                TABLE,
                BEGINS,
                ["GSI2PK", "GSI2SK"],
                [{"S": "ROOM#r"}, {"S": "STATUS#SEEN#"}],
                IndexName="StatusIndex",
                Limit=50,
            )
        ],
        lambda w: w["Listing"][:1],
    ),
    "listing_by_external_id": Row(
        lambda db: listing_by_external_id(db, "r", "homegate", "7"),
        [
            query(
                TABLE,
                EQUAL,
                ["GSI1PK", "GSI1SK"],
                [{"S": "SOURCE#homegate#7"}, {"S": "ROOM#r"}],
                IndexName="ExternalIdIndex",
                Limit=1,
            )
        ],
        lambda w: w["Listing"][0],
    ),
    "latest_user_criteria": Row(
        lambda db: latest_user_criteria(db, "r", "mia"),
        [item("CRITERIA_LATEST#mia")],
        lambda w: w["LatestCriteria"][1],
    ),
    "user_criteria_history": Row(
        lambda db: user_criteria_history(db, "r", "mia"),
        [unexpired("CRITERIA#mia#", 20, **NEWEST)],
        lambda w: w["UserCriteria"][2::-1],
    ),
    "all_users_criteria": Row(
        lambda db: all_users_criteria(db, "r"),
        [begins("ROOM#r", "CRITERIA_LATEST#", 30, ConsistentRead=True)],
        lambda w: w["LatestCriteria"],
    ),
    "combined_criteria": Row(
        lambda db: combined_criteria(db, "r"),
        [unexpired("CRITERIA_COMBINED#", 1, **NEWEST)],
        lambda w: w["CombinedCriteria"][-1],
    ),
    "room_activities": Row(
        lambda db: room_activities(db, "r"),
        [unexpired("ACTIVITY#", 50, **NEWEST)],
        lambda w: w["Activity"][::-1],
    ),
    "activities_after": Row(
        lambda db: activities_after(db, "r", NOW),
        [
            query(
                TABLE,
                BETWEEN,
                ["PK", "SK", "ttl"],
                [
                    {"S": "ROOM#r"},
                    {"S": f"ACTIVITY#2031-05-01T12:00:00.000Z#{LAST}"},
                    {"S": f"ACTIVITY#{LAST}"},
                    SECONDS,
                ],
                FilterExpression="(attribute_not_exists(#2) OR #2 > :3)",
                Limit=50,
            )
        ],
        lambda w: w["Activity"][-1:],
    ),
    "latest_compatibility": Row(
        lambda db: latest_compatibility(db, "r"),
        [unexpired("COMPATIBILITY#", 1, **NEWEST)],
        lambda w: w["Compatibility"][-1],
    ),
    "compatibility_history": Row(
        lambda db: compatibility_history(db, "r"),
        [unexpired("COMPATIBILITY#", 20, **NEWEST)],
        lambda w: w["Compatibility"][::-1],
    ),
}


def test_every_pattern_of_the_design_is_here() -> None:
    assert {one.name for one in design.schema.patterns} == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
async def test_a_pattern_makes_exactly_this_request_and_gives_this_answer(
    name: str, world: World, db: AsyncDb, client: Recorder
) -> None:
    await ROWS[name].check(world, db, client)
