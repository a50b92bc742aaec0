"""A structure over a part of a partition leaves the rest of the partition alone."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import field_validator

from keyfold import (
    Copied,
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    Normalised,
    On,
    Pointer,
    Unique,
)
from keyfold.errors import PlanError, UniqueTaken
from keyfold.maintain import repair, verify
from keyfold.streams import Consumer
from keyfold.structures import Cascade, total

design = Design("parts")
table = design.table(
    "Parts", stream="NEW_AND_OLD_IMAGES", indexes=[Index("GSI1", "gsi1pk", "gsi1sk")]
)


class Team(Entity, table=table):
    org_id: Id
    team_id: Id
    name: str = ""
    members: Annotated[int, Counter("Member")] = 0
    spread: Annotated[int, Counter("Member", shards=2)] = 0
    key = Key("ORG#{org_id}", "TEAM#{team_id}")
    all_members = Cascade("Member")
    all_meetings = Cascade("Meeting")


class Meeting(Entity, table=table):
    """Its key has its team behind its day."""

    org_id: Id
    day: str
    team_id: Id
    key = Key("ORG#{org_id}", "MEETING#{day}#{team_id}")


class Member(Entity, table=table):
    org_id: Id
    team_id: Id
    user_id: Id
    email: str = ""
    desk: str | None = None
    floor: str | None = None
    team_name: Annotated[str, Copied("Team", "name")] = ""
    key = Key("ORG#{org_id}", "TEAM#{team_id}#MEMBER#{user_id}")
    one_each = Unique("email")
    one_place = Unique("desk", "floor")


class Article(Entity, table=table):
    article_id: Id
    title: str
    tags: set[str] = set()
    key = Key("ARTICLE#{article_id}", "ARTICLE")


class Named(Pointer[Article], table=table):
    """A copy in one spelling."""

    article_id: Id
    title: Annotated[str, Normalised(str.upper)]
    key = Key("NAMES", "ARTICLE#{article_id}")
    by_title = On("GSI1", "TITLE#{title}", "ARTICLE#{article_id}")


class Headline(Pointer[Article], table=table):
    """A copy that does not say whose it is."""

    title: str
    key = Key("HEADLINES", "{title}")


class Shouted(Pointer[Article], table=table, each="tags"):
    """A copy that changes what it takes."""

    tag: str
    article_id: Id
    title: str
    key = Key("TAG#{tag}", "ARTICLE#{article_id}")

    @field_validator("title", "tag")
    @classmethod
    def _loud(cls, value: str) -> str:
        return value.upper()


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as db:
        for team in ("a", "ab", "b"):
            db.create(Team(org_id="o", team_id=team, name=team))
            for user in ("ada", "bob"):
                email = f"{user}@{team}"
                db.create(Member(org_id="o", team_id=team, user_id=user, email=email))
        yield db


def members(db: Db) -> dict[str, str]:
    return {f"{one.team_id}/{one.user_id}": one.team_name for one in db.scan(Member)}


def test_a_team_takes_its_own_members_with_it(db: Db) -> None:
    db.delete(Team.key(org_id="o", team_id="a"))
    assert set(members(db)) == {"ab/ada", "ab/bob", "b/ada", "b/bob"}
    assert db.get(Team.key(org_id="o", team_id="ab")).members == 2


def test_a_team_takes_its_meetings_wherever_they_stand_among_others(db: Db) -> None:
    for day in ("mon", "tue"):
        for team in ("a", "ab", "b"):
            db.create(Meeting(org_id="o", day=day, team_id=team))
    db.delete(Team.key(org_id="o", team_id="a"))
    left = {(one.day, one.team_id) for one in db.scan(Meeting)}
    assert left == {(day, team) for day in ("mon", "tue") for team in ("ab", "b")}
    Consumer(db).drain()
    assert verify(db).drifts == []


def test_a_taken_value_names_its_field_and_its_holder(db: Db) -> None:
    with pytest.raises(UniqueTaken) as raised:
        db.create(Member(org_id="o", team_id="b", user_id="cy", email="ada@a"))
    assert raised.value.field == "email"
    db.update(Member.key(org_id="o", team_id="a", user_id="ada"), desk="1", floor="2")
    with pytest.raises(UniqueTaken) as both:
        db.update(Member.key(org_id="o", team_id="a", user_id="bob"), desk="1", floor="2")
    assert both.value.field == "desk"
    assert raised.value.holder == Member.key(org_id="o", team_id="a", user_id="ada").wire()


def test_nothing_is_looked_for_after_a_delete_that_a_stream_follows(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, str]] = []
    call = db.client.call

    def note(operation: str, request: Any) -> Any:
        sent.append((operation, str(request.get("ExpressionAttributeValues"))))
        return call(operation, request)

    monkeypatch.setattr(db.client, "call", note)
    db.delete(Team.key(org_id="o", team_id="a"))
    assert sent[-1][0] == "TransactWriteItems"
    assert any("TEAM#a#MEMBER#" in values for operation, values in sent if operation == "Query")


def test_a_number_that_moves_between_check_and_repair_is_not_changed_twice(db: Db) -> None:
    Consumer(db).drain()
    lost = Member.key(org_id="o", team_id="a", user_id="ada").wire()
    db.client.call("DeleteItem", {"TableName": "Parts", "Key": lost})
    report = verify(db, only="counter Team.spread")
    assert [(one.expected, one.found) for one in report.drifts] == [(1, 2)]
    db.create(Member(org_id="o", team_id="a", user_id="cy", email="cy@a"))
    repair(db, report)
    team = Team.key(org_id="o", team_id="a")
    assert db.run(total(db.context, team, "spread")) == Decimal(3)
    repair(db, verify(db, only="counter Team.spread"))
    assert db.run(total(db.context, team, "spread")) == Decimal(2)


def test_a_name_reaches_the_members_of_its_team(db: Db) -> None:
    Consumer(db).drain()
    db.update(Team.key(org_id="o", team_id="a"), name="first")
    Consumer(db).drain()
    found = members(db)
    assert {found["a/ada"], found["a/bob"]} == {"first"}
    assert {found["ab/ada"], found["b/ada"]} == {"ab", "b"}


def test_totals_are_of_one_team_sharded_or_not(db: Db) -> None:
    team = Team.key(org_id="o", team_id="a")
    assert db.run(total(db.context, team, "spread")) == Decimal(2)
    assert db.run(total(db.context, team, "members")) == Decimal(2)
    with pytest.raises(PlanError, match=r"Team\.name is not a counter"):
        db.run(total(db.context, team, "name"))


def test_the_claim_of_a_value_that_was_lost_is_made_again_for_its_holder(db: Db) -> None:
    items = db.client.call("Scan", {"TableName": "Parts"})["Items"]
    (claim,) = [one for one in items if one["PK"]["S"].endswith("#ada@a")]
    assert claim["type"] == {"S": "Unique"}
    key = {name: claim[name] for name in ("PK", "SK")}
    db.client.call("DeleteItem", {"TableName": "Parts", "Key": key})
    (drift,) = [one for one in verify(db).drifts if one.kind == "unique"]
    holder = Member.key(org_id="o", team_id="a", user_id="ada")
    assert (drift.expected, drift.found) == (holder.wire(), None)
    repair(db, verify(db))
    assert verify(db).drifts == []
    assert db.client.call("GetItem", {"TableName": "Parts", "Key": key})["Item"] == claim


def test_a_copy_of_nobody_knows_is_deleted_if_it_is_still_what_was_seen(db: Db) -> None:
    Consumer(db).drain()
    db.create(Article(article_id="1", title="news"))
    ghosts = [Headline(title="ghost"), Headline(title="spook")]
    for ghost in ghosts:
        item = Headline.__spec__.encode(ghost)
        db.client.call("PutItem", {"TableName": "Parts", "Item": item})
    report = verify(db)
    assert {(one.expected, one.subject) for one in report.drifts} == {(None, None)}
    assert len(report.drifts) == 2
    db.client.call("DeleteItem", {"TableName": "Parts", "Key": ghosts[1].ref().wire()})
    repair(db, report)
    assert [one.title for one in db.scan(Headline)] == ["news"]
    assert verify(db).drifts == []


def test_a_pointer_that_changes_its_values_is_kept_as_it_changes_them(db: Db) -> None:
    Consumer(db).drain()
    made = db.create(Article(article_id="1", title="news", tags={"x", "y"}))
    assert verify(db).drifts == []
    db.update(made.ref(), title="more", tags={"y", "z"})
    assert {(one.tag, one.title) for one in db.scan(Shouted)} == {("Y", "MORE"), ("Z", "MORE")}
    assert [one.title for one in db.read(Named.by_title.query(title="more"))] == ["MORE"]
    stored = db.client.call("Scan", {"TableName": "Parts"})["Items"]
    titles = [one["title"]["S"] for one in stored if one["type"]["S"] in ("Named", "Shouted")]
    assert titles == ["MORE"] * 3
    assert verify(db).drifts == []
    db.delete(made.ref())
    assert list(db.scan(Shouted)) == []


def test_a_number_whose_holder_is_gone_is_not_missed(db: Db) -> None:
    Consumer(db).drain()
    key = Team.key(org_id="o", team_id="a").wire()
    db.client.call("DeleteItem", {"TableName": "Parts", "Key": key})
    found = {(one.kind, one.structure, one.expected) for one in verify(db).drifts}
    assert found == {("orphan", "cascade Team.all_members", "Team(org_id='o', team_id='a')")}
