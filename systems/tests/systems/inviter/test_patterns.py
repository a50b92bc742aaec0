"""Every access pattern of Inviter: exactly the requests that it makes, and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import (
    Answer,
    Group,
    GroupHangout,
    GroupInvitation,
    Hangout,
    Membership,
    NoticeKind,
    Notification,
    Response,
    User,
    UserHangout,
)
from keyfold_systems.inviter.oversight import trail
from keyfold_systems.inviter.patterns import (
    answers_of,
    group_by_id,
    group_feed,
    group_upcoming,
    groups_of_user,
    hangout_by_id,
    hosted_by,
    invitations_of_group,
    invitations_of_user,
    members_of_group,
    membership,
    next_of_group,
    notifications_of,
    people_named,
    responses_to,
    user_by_id,
    user_upcoming,
)
from tests.systems.conftest import Recorder
from tests.systems.patterns import Request, Row, get_item, oversight_rows, query

from .conftest import NOW

TABLE = "InviterTable"
BEGINS = "#0 = :0 AND begins_with(#1, :1)"
SINCE = "#0 = :0 AND #1 >= :1"
EARLIEST = NOW - timedelta(days=14)


@pytest.fixture
def client(everywhere: Recorder) -> Recorder:
    return everywhere


def item(partition: str, sort: str) -> Request:
    return get_item(TABLE, partition, sort)


def in_table(partition: str, prefix: str, **more: Any) -> Request:
    values = [{"S": partition}, {"S": prefix}]
    return query(TABLE, BEGINS, ["PK", "SK"], values, Limit=50, **more)


def of_user(partition: str, prefix: str, limit: int = 50, **more: Any) -> Request:
    values = [{"S": partition}, {"S": prefix}]
    names = ["gsi1pk", "gsi1sk"]
    return query(TABLE, BEGINS, names, values, IndexName="UserGroupIndex", Limit=limit, **more)


NEWEST_FIRST = {"ScanIndexForward": False}


def by_time(partition: str, since: datetime, limit: int, *, running: bool) -> Request:
    names = ["gsi1pk", "startTimestamp"]
    values: list[dict[str, Any]] = [{"S": partition}, {"N": str(int(since.timestamp() * 1000))}]
    more: dict[str, Any] = {"IndexName": "EntityTimeIndex", "Limit": limit}
    if running:
        names.append("endsAt")
        values.append({"S": "2031-08-09T12:00:00.000000Z"})
        more["FilterExpression"] = "#2 > :2"
    return query(TABLE, SINCE, names, values, **more)


@dataclass
class World:
    """What is stored, as it is read back: two groups, three hangouts of which one is over."""

    ada: User
    group: Group
    in_runners: list[Membership]
    of_ada: list[Membership]
    answers: list[Response]
    hangouts: dict[str, Hangout]
    in_group: dict[str, GroupHangout]
    for_ada: dict[str, UserHangout]
    invitation: GroupInvitation
    notes: list[Notification]


@pytest.fixture
async def world(db: AsyncDb) -> World:
    await db.create(User(user_id="ada", name="Ada", initial="a", found_as="ada"))
    await db.create(User(user_id="ben", name="Ben", initial="b", found_as="ben"))
    for group_id in ("r", "s"):
        await db.create(Group(group_id=group_id, name=group_id, owner_id="ada"))
    joined = [("r", "ada"), ("r", "ben"), ("s", "ada")]
    members = [
        await db.create(Membership(group_id=g, user_id=u, group_name=g, user_name=u.title()))
        for g, u in joined
    ]
    plans: list[tuple[str, int, set[str], set[str]]] = [
        ("over", -48, {"r"}, set()),
        ("running", -1, {"r"}, {"ada"}),
        ("soon", 24, {"r", "s"}, set()),
        ("today", 3, set(), {"ada"}),
    ]
    for hangout_id, hours, groups, users in plans:
        starts = NOW + timedelta(hours=hours)
        ends = starts + timedelta(hours=2)
        await db.create(
            Hangout(
                hangout_id=hangout_id,
                host_id="ben",
                title=hangout_id.title(),
                starts_at=starts,
                ends_at=ends,
                group_ids=groups,
                user_ids=users,
            )
        )
    answers = [
        await db.put(Response(hangout_id="soon", user_id="ada", answer=Answer.GOING)),
        await db.put(Response(hangout_id="soon", user_id="ben", answer=Answer.MAYBE)),
    ]
    invitation = await db.create(
        GroupInvitation(
            group_id="s",
            user_id="ben",
            group_name="s",
            user_name="Ben",
            invited_by="ada",
            invited_by_name="Ada",
        )
    )
    notes = [
        await db.create(
            Notification(user_id="ada", note_id=one, kind=NoticeKind.INVITED, title="Soon")
        )
        for one in ("1", "2")
    ]
    names = [plan[0] for plan in plans]
    in_group = [GroupHangout.key(group_id="r", hangout_id=one) for one in names[:3]]
    for_ada = [UserHangout.key(user_id="ada", hangout_id=one) for one in ("running", "today")]
    return World(
        await db.get(User.key(user_id="ada")),
        await db.get(Group.key(group_id="r")),
        members[:2],
        [members[0], members[2]],
        answers,
        {one: await db.get(Hangout.key(hangout_id=one)) for one in names},
        {one.hangout_id: one for one in await db.get_many(in_group) if one},
        {one.hangout_id: one for one in await db.get_many(for_ada) if one},
        invitation,
        notes,
    )


ROWS: dict[str, Row[World]] = {
    **oversight_rows(TABLE, trail, NOW),
    "user_by_id": Row(
        lambda db: user_by_id(db, "ada"), [item("USER#ada", "METADATA")], lambda w: w.ada
    ),
    "people_named": Row(
        lambda db: people_named(db, "a", "ad"),
        [of_user("PEOPLE#a", "ad", 20)],
        lambda w: [w.ada],
    ),
    "invitations_of_group": Row(
        lambda db: invitations_of_group(db, "s"),
        [in_table("GROUP#s", "INVITED#")],
        lambda w: [w.invitation],
    ),
    "invitations_of_user": Row(
        lambda db: invitations_of_user(db, "ben"),
        [of_user("USER#ben", "INVITED#")],
        lambda w: [w.invitation],
    ),
    "notifications_of": Row(
        lambda db: notifications_of(db, "ada"),
        [
            query(
                TABLE,
                BEGINS,
                ["PK", "SK", "ttl"],
                [{"S": "USER#ada"}, {"S": "NOTE#"}, {"N": str(int(NOW.timestamp()))}],
                FilterExpression="(attribute_not_exists(#2) OR #2 > :2)",
                Limit=50,
                **NEWEST_FIRST,
            )
        ],
        lambda w: w.notes[::-1],
    ),
    "group_by_id": Row(
        lambda db: group_by_id(db, "r"), [item("GROUP#r", "METADATA")], lambda w: w.group
    ),
    "membership": Row(
        lambda db: membership(db, "r", "ben"),
        [item("GROUP#r", "USER#ben")],
        lambda w: w.in_runners[1],
    ),
    "members_of_group": Row(
        lambda db: members_of_group(db, "r"),
        [in_table("GROUP#r", "USER#")],
        lambda w: w.in_runners,
    ),
    "groups_of_user": Row(
        lambda db: groups_of_user(db, "ada"),
        [of_user("USER#ada", "GROUP#", 200)],
        lambda w: w.of_ada,
    ),
    "group_feed": Row(
        lambda db: group_feed(db, "r"),
        [in_table("GROUP#r", "HANGOUT#", **NEWEST_FIRST)],
        lambda w: [w.in_group[one] for one in ("soon", "running", "over")],
    ),
    "group_upcoming": Row(
        lambda db: group_upcoming(db, "r", EARLIEST, NOW),
        [by_time("GROUP#r", EARLIEST, 50, running=True)],
        lambda w: [w.in_group[one] for one in ("running", "soon")],
    ),
    # One more of each than the page has, so that the merged page knows whether more follow.
    "user_upcoming": Row(
        lambda db: user_upcoming(db, "ada", ["r", "s"], EARLIEST, NOW),
        [by_time(one, EARLIEST, 51, running=True) for one in ("GROUP#r", "GROUP#s", "USER#ada")],
        lambda w: [w.in_group["running"], w.for_ada["today"], w.in_group["soon"]],
    ),
    "hangout_by_id": Row(
        lambda db: hangout_by_id(db, "soon"),
        [item("EVENT#soon", "METADATA")],
        lambda w: w.hangouts["soon"],
    ),
    "responses_to": Row(
        lambda db: responses_to(db, "soon"),
        [in_table("EVENT#soon", "RESPONSE#")],
        lambda w: w.answers,
    ),
    "hosted_by": Row(
        lambda db: hosted_by(db, "ben"),
        [of_user("USER#ben", "HOSTED#", **NEWEST_FIRST)],
        lambda w: [w.hangouts[one] for one in ("today", "soon", "running", "over")],
    ),
    "answers_of": Row(
        lambda db: answers_of(db, "ada"),
        [of_user("USER#ada", "RESPONSE#")],
        lambda w: w.answers[:1],
    ),
    "next_of_group": Row(
        lambda db: next_of_group(db, "r", NOW),
        [by_time("GROUP#r", NOW, 1, running=False)],
        lambda w: w.in_group["soon"],
    ),
}


def test_every_pattern_of_the_design_is_here() -> None:
    assert {one.name for one in design.schema.patterns} == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
async def test_a_pattern_makes_exactly_this_request_and_gives_this_answer(
    name: str, world: World, db: AsyncDb, client: Recorder
) -> None:
    await ROWS[name].check(world, db, client)
