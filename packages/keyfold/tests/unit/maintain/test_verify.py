"""Verification finds every kind of drift, and repair puts it right."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest

from keyfold import (
    Copied,
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Pointer,
    Timestamp,
    Ttl,
    Unique,
    Version,
    add,
)
from keyfold.errors import PlanError, VerifyFailed
from keyfold.maintain import Drift, labels, plan, rebuild, repair, verify
from keyfold.maintain.repair import repairing
from keyfold.runtime.flow import Call, drive
from keyfold.structures import Cascade, Edge, Mirror, total
from keyfold_engine.clock import ManualClock

design = Design("verified")
table = design.table("Verified", indexes=[Index("GSI1", "gsi1pk", "gsi1sk")])


class Group(Entity, table=table):
    group_id: Id
    name: str
    members: Annotated[int, Counter("Membership")] = 0
    hot: Annotated[int, Counter("Membership", shards=3)] = 0
    key = Key("GROUP#{group_id}", "GROUP")
    memberships = Cascade("Membership")


class Membership(Entity, table=table):
    group_id: Id
    user_id: Id
    group_name: Annotated[str, Copied("Group", "name")]
    key = Key("GROUP#{group_id}", "MEMBER#{user_id}")
    by_user = On("GSI1", "USER#{user_id}", "GROUP#{group_id}")


class User(Entity, table=table):
    user_id: Id
    email: str
    nick: str | None = None
    joined: Annotated[int, Counter("Membership", via={"user_id": "user_id"})] = 0
    key = Key("USER#{user_id}", "USER")
    by_nick = On("GSI1", "NICK#{nick}", "USER", when="nick")
    one_email = Unique("email")


class Follow(Edge, table=table):
    follower_id: Id
    followee_id: Id
    key = Key("USER#{follower_id}", "FOLLOWS#{followee_id}")
    followers = Mirror("USER#{followee_id}", "FOLLOWER#{follower_id}")


class Hangout(Entity, table=table):
    hangout_id: Id
    title: str
    group_ids: set[str] = set()
    version: Annotated[int, Version()] = 0
    key = Key("EVENT#{hangout_id}", "METADATA")


class HangoutPointer(Pointer[Hangout], table=table, each="group_ids"):
    group_id: str
    hangout_id: Id
    title: str
    key = Key("GROUP#{group_id}", "HANGOUT#{hangout_id}")


class Joined(Entity, table=table):
    user_id: Id
    number: Annotated[int, Counter("Membership", creates=True)] = 0
    key = Key("USER#{user_id}", "COUNTER#JOINED")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(Group(group_id="g", name="Chess"))
        for user in ("ada", "bob"):
            opened.create(User(user_id=user, email=f"{user}@x", nick=user))
            opened.create(Membership(group_id="g", user_id=user, group_name="Chess"))
        opened.create(Follow(follower_id="ada", followee_id="bob"))
        opened.create(Hangout(hangout_id="h", title="Picnic", group_ids={"g", "k"}))
        yield opened


def wire_key(partition: str, sort: str) -> dict[str, Any]:
    return {"PK": {"S": partition}, "SK": {"S": sort}}


def put(db: Db, partition: str, sort: str, **attributes: Any) -> None:
    item = {**wire_key(partition, sort), **attributes}
    db.client.call("PutItem", {"TableName": "Verified", "Item": item})


def corrupt(db: Db, partition: str, sort: str, attribute: str, value: Any) -> None:
    """Write past keyfold: what a console or another program does."""
    request: dict[str, Any] = {
        "TableName": "Verified",
        "Key": wire_key(partition, sort),
        "UpdateExpression": "REMOVE #a" if value is None else "SET #a = :v",
        "ExpressionAttributeNames": {"#a": attribute},
    }
    if value is not None:
        request["ExpressionAttributeValues"] = {":v": value}
    db.client.call("UpdateItem", request)


def destroy(db: Db, partition: str, sort: str) -> None:
    db.client.call("DeleteItem", {"TableName": "Verified", "Key": wire_key(partition, sort)})


def only_drift(db: Db) -> Drift:
    report = verify(db)
    assert [str(d) for d in report.drifts[1:]] == []
    return report.drifts[0]


def repaired(db: Db) -> None:
    done = repair(db, verify(db))
    assert done.left == []
    assert verify(db).clean


def test_untouched_structures_are_clean(db: Db) -> None:
    report = verify(db)
    assert str(report) == f"{report.scanned} items, no drift"


def test_a_changed_pointer_is_found_and_overwritten(db: Db) -> None:
    corrupt(db, "GROUP#g", "HANGOUT#h", "title", {"S": "Wrong"})
    drift = only_drift(db)
    assert (drift.kind, drift.expected, drift.found) == (
        "pointer",
        {"title": {"S": "Picnic"}},
        {"title": {"S": "Wrong"}},
    )
    assert plan(drift) == "overwrite it with the expected values"
    repaired(db)
    assert db.get(HangoutPointer.key(group_id="g", hangout_id="h")).title == "Picnic"


def test_a_missing_pointer_is_found_and_written_anew(db: Db) -> None:
    destroy(db, "GROUP#k", "HANGOUT#h")
    assert only_drift(db).found is None
    repaired(db)


def test_a_pointer_that_nothing_expects_is_found_and_deleted(db: Db) -> None:
    put(
        db, "GROUP#z", "HANGOUT#h", type={"S": "HangoutPointer"}, groupId={"S": "z"},
        hangoutId={"S": "h"}, title={"S": "Picnic"},
    )  # fmt: skip
    assert only_drift(db).expected is None
    repaired(db)
    assert db.find(HangoutPointer.key(group_id="z", hangout_id="h")) is None


def test_a_pointer_of_a_canonical_that_is_gone_is_deleted(db: Db) -> None:
    destroy(db, "EVENT#h", "METADATA")
    assert verify(db).counts == {"pointer": 2}
    repaired(db)
    assert list(db.scan(HangoutPointer)) == []


def test_a_wrong_counter_is_found_and_set(db: Db) -> None:
    corrupt(db, "GROUP#g", "GROUP", "members", {"N": "7"})
    drift = only_drift(db)
    assert (drift.kind, drift.structure, drift.expected, drift.found) == (
        "counter",
        "counter Group.members",
        2,
        7,
    )
    repaired(db)
    assert db.get(Group.key(group_id="g")).members == 2


def test_a_counter_item_of_its_own_that_is_missing_is_made(db: Db) -> None:
    destroy(db, "USER#ada", "COUNTER#JOINED")
    assert only_drift(db).structure == "counter Joined.number"
    repaired(db)
    assert db.get(Joined.key(user_id="ada")).number == 1


def test_a_wrong_shard_of_a_counter_is_found_and_the_total_is_put_right(db: Db) -> None:
    shards = list(db.scan(design.entities["CounterShard"]))
    db.update(shards[0].ref(), amount=add(5))
    assert only_drift(db).structure == "counter Group.hot"
    repaired(db)
    assert db.run(total(db.context, Group.key(group_id="g"), "hot")) == 2


def test_a_half_written_index_key_is_found_and_rewritten(db: Db) -> None:
    corrupt(db, "GROUP#g", "MEMBER#ada", "gsi1pk", {"S": "USER#nobody"})
    drift = only_drift(db)
    assert (drift.kind, drift.expected) == ("index", {"gsi1pk": {"S": "USER#ada"}})
    repaired(db)
    found = db.read(Membership.by_user.query(user_id="ada"))
    assert [member.group_id for member in found] == ["g"]


def test_an_item_that_should_not_be_in_a_sparse_index_is_taken_out(db: Db) -> None:
    corrupt(db, "USER#ada", "USER", "nick", None)
    assert only_drift(db).expected == {"gsi1pk": None, "gsi1sk": None}
    repaired(db)
    assert db.read(User.by_nick.query(nick="ada")).items == []


def test_a_missing_marker_of_a_unique_value_is_written_anew(db: Db) -> None:
    destroy(db, "UNIQUE#User#email#ada@x", "UNIQUE")
    assert only_drift(db).kind == "unique"
    repaired(db)


def test_a_marker_that_nobody_holds_is_deleted(db: Db) -> None:
    put(
        db, "UNIQUE#User#email#old@x", "UNIQUE", type={"S": "Unique"},
        holder={"M": wire_key("USER#ada", "USER")},
    )  # fmt: skip
    assert only_drift(db).expected is None
    repaired(db)


def test_a_marker_held_by_an_item_that_is_gone_is_given_to_the_one_that_has_the_value(
    db: Db,
) -> None:
    corrupt(db, "UNIQUE#User#email#ada@x", "UNIQUE", "holder", {"M": wire_key("USER#x", "USER")})
    assert only_drift(db).kind == "unique"
    repaired(db)
    found = db.read(User.one_email(email="ada@x"))
    assert found is not None


def test_two_holders_of_one_unique_value_need_a_decision(db: Db) -> None:
    destroy(db, "UNIQUE#User#email#bob@x", "UNIQUE")
    corrupt(db, "USER#bob", "USER", "email", {"S": "ada@x"})
    drift = only_drift(db)
    assert drift.expected == "one holder"
    assert len(drift.found) == 2
    [(left, reason)] = repair(db, verify(db)).left
    assert left == drift
    assert "needs a decision" in reason
    with pytest.raises(VerifyFailed, match="drift remains"):
        rebuild(db)


def test_a_missing_side_of_an_edge_is_written_anew(db: Db) -> None:
    destroy(db, "USER#bob", "FOLLOWER#ada")
    assert only_drift(db).kind == "edge"
    repaired(db)
    assert len(db.read(Follow.followers.query(followee_id="bob"))) == 1


def test_a_stale_copied_field_is_found_and_updated(db: Db) -> None:
    corrupt(db, "GROUP#g", "MEMBER#bob", "groupName", {"S": "Old"})
    drift = only_drift(db)
    assert (drift.kind, drift.expected, drift.found) == ("copied", "Chess", "Old")
    repaired(db)


def test_items_of_a_parent_that_is_gone_are_swept(db: Db) -> None:
    destroy(db, "GROUP#g", "GROUP")
    assert "orphan" in verify(db).counts
    repaired(db)
    assert list(db.scan(Membership)) == []
    assert db.get(User.key(user_id="ada")).joined == 0


def test_an_undecodable_item_is_reported_and_left(db: Db) -> None:
    corrupt(db, "USER#ada", "USER", "email", {"N": "1"})
    report = verify(db)
    assert report.counts["undecodable"] == 1
    assert any("needs a decision" in reason for _, reason in repair(db, report).left)


def test_a_key_that_contradicts_its_fields_is_reported(db: Db) -> None:
    corrupt(db, "EVENT#h", "METADATA", "hangoutId", {"S": "other"})
    assert "key" in verify(db).counts


def test_a_counter_is_put_right_whoever_counted_between_verify_and_repair(db: Db) -> None:
    corrupt(db, "GROUP#g", "GROUP", "members", {"N": "7"})
    report = verify(db)
    db.create(User(user_id="cy", email="cy@x"))
    db.create(Membership(group_id="g", user_id="cy", group_name="Chess"))
    done = repair(db, report)
    assert (done.fixed, done.left) == (1, [])
    assert db.get(Group.key(group_id="g")).members == 3


def test_a_fix_is_refused_when_somebody_writes_between_verify_and_repair(db: Db) -> None:
    shards = list(db.scan(design.entities["CounterShard"]))
    db.update(shards[0].ref(), amount=add(5))
    report = verify(db)
    db.create(User(user_id="cy", email="cy@x"))
    db.create(Membership(group_id="g", user_id="cy", group_name="Chess"))
    [(_, reason)] = repair(db, report).left
    assert "it was changed in the meantime" in reason
    repaired(db)
    assert db.run(total(db.context, Group.key(group_id="g"), "hot")) == 3


def test_a_copied_field_is_not_counted_as_fixed_when_its_write_was_refused(db: Db) -> None:
    corrupt(db, "GROUP#g", "MEMBER#bob", "groupName", {"S": "Old"})
    report = verify(db)

    def meddling(one: Call) -> dict[str, Any]:
        if one.operation == "TransactWriteItems":
            destroy(db, "GROUP#g", "MEMBER#bob")
        return db.client.call(one.operation, one.request)

    done = drive(repairing(db.context, report.drifts), meddling)
    assert done.fixed == 0
    [(_, reason)] = done.left
    assert "in the meantime" in reason


def test_repair_of_a_pointer_uses_the_present_canonical_not_the_reported_one(db: Db) -> None:
    corrupt(db, "GROUP#g", "HANGOUT#h", "title", {"S": "Wrong"})
    report = verify(db)
    db.update(Hangout.key(hangout_id="h"), title="Swim")
    repair(db, report)
    assert db.get(HangoutPointer.key(group_id="g", hangout_id="h")).title == "Swim"


def test_verify_can_look_at_some_structures_only(db: Db) -> None:
    corrupt(db, "GROUP#g", "GROUP", "members", {"N": "7"})
    assert verify(db, only=["pointer HangoutPointer"]).clean
    assert verify(db, only=["counter Group.members"]).counts == {"counter": 1}


def test_an_unknown_structure_is_refused_with_the_known_ones(db: Db) -> None:
    with pytest.raises(PlanError, match="has no pointer Nothing; it has index, "):
        verify(db, only=["pointer Nothing"])
    assert "unique User.email" in labels(db.context)


def test_a_report_counts_all_drift_but_keeps_only_some(db: Db) -> None:
    for number in range(5):
        db.create(Hangout(hangout_id=f"x{number}", title="T", group_ids={"g"}))
        destroy(db, "GROUP#g", f"HANGOUT#x{number}")
    report = verify(db, limit=2)
    assert (len(report.drifts), report.counts["pointer"], report.truncated) == (2, 5, True)


def test_rebuild_makes_everything_right_in_rounds(db: Db) -> None:
    corrupt(db, "GROUP#g", "GROUP", "members", {"N": "7"})
    destroy(db, "GROUP#k", "HANGOUT#h")
    corrupt(db, "GROUP#g", "MEMBER#ada", "gsi1pk", {"S": "USER#nobody"})
    assert rebuild(db).clean
    assert verify(db).clean


def test_progress_is_told_while_scanning(db: Db) -> None:
    seen: list[int] = []
    report = verify(db, progress=seen.append)
    assert seen[-1] == report.scanned


def test_the_number_of_a_holder_that_is_over_is_no_drift() -> None:
    fading = Design("fading")
    where = fading.table("Fading", ttl="ttl")

    class Story(Entity, table=where):
        story_id: Id
        claps: Annotated[int, Counter("Clap")] = 0
        expires_at: Annotated[Timestamp | None, Ttl()] = None
        key = Key("STORY#{story_id}", "STORY")

    class Clap(Entity, table=where):
        story_id: Id
        user_id: Id
        key = Key("STORY#{story_id}", "CLAP#{user_id}")

    clock = ManualClock(1_000_000.0)
    with fading.open(":memory:", clock=clock) as db:
        soon = datetime.fromtimestamp(clock.now() + 60, UTC)
        db.create(Story(story_id="s", expires_at=soon))
        db.create(Clap(story_id="s", user_id="ada"))
        spoilt = {
            "TableName": "Fading",
            "Key": {"PK": {"S": "STORY#s"}, "SK": {"S": "STORY"}},
            "UpdateExpression": "SET claps = :n",
            "ExpressionAttributeValues": {":n": {"N": "7"}},
        }
        db.client.call("UpdateItem", spoilt)
        assert [one.structure for one in verify(db).drifts] == ["counter Story.claps"]
        clock.advance(61)
        assert verify(db).clean


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        ({"S": "a"}, "a"),
        ({"PK": {"S": "A#1"}, "SK": {"N": "7"}}, "{PK: A#1, SK: 7}"),
        (7, "7"),
    ],
)
def test_a_drift_shows_values_without_the_notation_of_items(value: Any, text: str) -> None:
    shown = str(Drift("pointer", "pointer P", "t", {"PK": {"S": "A"}}, value, None))
    assert shown == f"pointer P: t PK=A: expected {text}, found nothing"
