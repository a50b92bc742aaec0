"""Consumers bring what follows the stream to where the records say."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Key, Name, Pointer, Timestamp, Ttl, Unique
from keyfold.errors import DeclarationError, InternalFailure, PlanError, RebuildNeeded
from keyfold.maintain import rebuild, repair, verify
from keyfold.streams import AsyncConsumer, Consumer, ConsumerOptions, resume
from keyfold.streams.lease import release
from keyfold.streams.record import parse
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine, ttl


def like_all(db: Db, social: Any, *users: str) -> None:
    for user in users:
        db.create(social.like(post_id="p", user_id=user))


def post(db: Db, social: Any) -> Any:
    return db.get(social.post.key(post_id="p"))


def titles(db: Db, social: Any) -> dict[str, str]:
    return {one.group_id: one.title for one in db.scan(social.pointer)}


def test_counters_and_pointers_follow_the_stream(db: Db, social: Any) -> None:
    db.create(social.post(post_id="p", title="Hello", group_ids={"a", "b"}))
    like_all(db, social, "ada", "bob")
    assert post(db, social).likes == 0
    Consumer(db).drain()
    assert post(db, social).likes == 2
    assert titles(db, social) == {"a": "Hello", "b": "Hello"}


def test_changed_and_removed_targets_are_followed(db: Db, social: Any) -> None:
    db.create(social.post(post_id="p", title="Hello", group_ids={"a", "b"}))
    consumer = Consumer(db)
    consumer.drain()
    db.update(social.post.key(post_id="p"), title="New", group_ids={"b", "c"})
    db.delete(social.like.key(post_id="p", user_id="nobody"))
    consumer.drain()
    assert titles(db, social) == {"b": "New", "c": "New"}
    db.delete(social.post.key(post_id="p"))
    consumer.drain()
    assert titles(db, social) == {}


def test_late_records_never_bring_back_what_is_gone(db: Db, social: Any) -> None:
    db.create(social.post(post_id="p", title="Hello", group_ids={"a", "b"}))
    db.update(social.post.key(post_id="p"), group_ids={"a"})
    db.delete(social.post.key(post_id="p"))
    Consumer(db).drain()
    assert titles(db, social) == {}


def test_a_new_consumer_goes_on_where_the_last_one_was(db: Db, social: Any) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    like_all(db, social, "ada")
    first = Consumer(db).drain()
    like_all(db, social, "bob")
    second = Consumer(db).drain()
    assert first.records > second.records
    assert second.repeated == 0
    assert post(db, social).likes == 2


def test_expired_items_are_counted_down_in_both_modes(
    db: Db, social: Any, engine: Engine, clock: ManualClock
) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    soon = db.context.now() + timedelta(seconds=10)
    db.create(social.like(post_id="p", user_id="ada", expires_at=soon))
    like_all(db, social, "bob")
    consumer = Consumer(db)
    consumer.drain()
    assert (post(db, social).likes, post(db, social).fast_likes) == (2, 2)
    clock.advance(11)
    assert ttl.sweep(engine._database) == 1
    consumer.drain()
    assert (post(db, social).likes, post(db, social).fast_likes) == (1, 1)
    assert verify(db).clean


def test_workers_share_shards_and_take_over_from_one_that_died(
    db: Db, social: Any, clock: ManualClock
) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    like_all(db, social, "ada")
    dying, heir = Consumer(db), Consumer(db)
    dying.run_once()
    like_all(db, social, "bob")
    assert heir.run_once().records == 0
    clock.advance(ConsumerOptions().lease_seconds + 1)
    heir.drain()
    assert post(db, social).likes == 2


def fast(social: Any, engine: Engine) -> tuple[Db, ManualClock]:
    """The design on a machine whose clock is an hour ahead."""
    ahead = ManualClock(ManualClock().now() + 3600)
    return social.design.open(EmbeddedClient(engine), clock=ahead), ahead


def test_a_dead_worker_whose_clock_was_ahead_blocks_nobody(
    db: Db, social: Any, engine: Engine, clock: ManualClock
) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    like_all(db, social, "ada")
    dead, heir = Consumer(fast(social, engine)[0]), Consumer(db)
    dead.run_once()
    like_all(db, social, "bob")
    heir.run_once()
    clock.advance(ConsumerOptions().lease_seconds + 1)
    heir.drain()
    assert post(db, social).likes == 2


def test_a_living_worker_whose_clock_is_ahead_keeps_its_shards(
    db: Db, social: Any, engine: Engine, clock: ManualClock
) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    other, ahead = fast(social, engine)
    alive, waiting = Consumer(other), Consumer(db)
    for _ in range(10):
        alive.run_once()
        like_all(db, social, f"user {clock.now()}")
        assert waiting.run_once().records == 0
        for each in (clock, ahead):
            each.advance(ConsumerOptions().lease_seconds / 2)


def test_status_does_not_say_that_a_dead_worker_whose_clock_was_ahead_lives(
    db: Db, social: Any, engine: Engine
) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    dead = Consumer(fast(social, engine)[0])
    dead.run_once()
    (shard,) = Consumer(db).status().shards
    assert (shard.owner, shard.unsure) == ("", dead.worker)


def test_dead_workers_whose_clocks_were_ahead_take_no_share(
    social: Any, clock: ManualClock
) -> None:
    with Engine.open(":memory:", clock=clock, stream_shards=4) as engine:
        db = social.design.open(EmbeddedClient(engine), clock=clock)
        db.create(social.post(post_id="p", title="Hello"))
        dead, heir = Consumer(fast(social, engine)[0]), Consumer(db)
        dead.run_once()
        for n in range(8):
            like_all(db, social, f"user {n}")
        for _ in range(5):
            heir.run_once()
            clock.advance(ConsumerOptions().lease_seconds / 2)
        heir.run_once()
        owners = {shard.owner for shard in heir.status().shards if not shard.finished}
        assert owners == {heir.worker}


def test_a_clock_that_is_set_back_does_not_stop_renewals(
    db: Db, social: Any, engine: Engine
) -> None:
    class SetBack(ManualClock):
        by = 0.0

        def now(self) -> float:
            return super().now() - self.by

    machine = SetBack()
    worker = Consumer(social.design.open(EmbeddedClient(engine), clock=machine))
    db.create(social.post(post_id="p", title="Hello"))
    worker.run_once()
    machine.by = 3600.0
    machine.advance(ConsumerOptions().lease_seconds)
    worker.run_once()
    (shard,) = worker.status().shards
    assert shard.owner == worker.worker


def test_a_worker_that_lost_its_lease_has_no_second_effect(
    db: Db, social: Any, clock: ManualClock
) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    slow, quick = Consumer(db), Consumer(db)
    slow.run_once()
    like_all(db, social, "ada")
    clock.advance(ConsumerOptions().lease_seconds + 1)
    quick.drain()
    slow.run_once()
    slow.drain()
    assert post(db, social).likes == 1


def test_status_tells_lag_and_owner(db: Db, social: Any, clock: ManualClock) -> None:
    consumer = Consumer(db)
    consumer.run_once()
    db.create(social.post(post_id="p", title="Hello"))
    clock.advance(7)
    now = consumer.status()
    assert (now.lag_seconds, now.shards[0].behind) == (7.0, True)
    assert now.shards[0].owner == consumer.worker
    assert consumer.run_once().lag_seconds == 7.0
    consumer.drain()
    now = consumer.status()
    assert (now.lag_seconds, now.shards[0].owner) == (0.0, "")


def test_being_away_for_longer_than_the_stream_keeps_records_asks_for_a_rebuild(
    db: Db, social: Any, clock: ManualClock
) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    like_all(db, social, "ada")
    Consumer(db).drain()
    like_all(db, social, "bob")
    clock.advance(25 * 3600)
    like_all(db, social, "cy")
    with pytest.raises(RebuildNeeded, match="keyfold rebuild"):
        Consumer(db).drain()
    assert Consumer(db).status().shards[0].lost
    with pytest.raises(RebuildNeeded):
        Consumer(db).drain()
    assert db.run(resume(db.context)) == 1
    assert rebuild(db, settle=Consumer(db).drain).clean
    assert post(db, social).likes == 3


def test_an_idle_day_is_no_loss(db: Db, social: Any, clock: ManualClock) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    Consumer(db).drain()
    for _ in range(30):
        clock.advance(3600)
        Consumer(db).drain()
    like_all(db, social, "ada")
    Consumer(db).drain()
    assert post(db, social).likes == 1


def test_run_reads_until_it_is_stopped(db: Db, social: Any) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    like_all(db, social, "ada")
    consumer = Consumer(db, options=ConsumerOptions(poll_seconds=0.01))
    counted = threading.Event()

    def watch(_: object) -> None:
        if post(db, social).likes == 1:
            counted.set()

    running = threading.Thread(
        target=lambda: consumer.run(threads=2, on_progress=watch), daemon=True
    )
    running.start()
    assert counted.wait(10)
    consumer.stop()
    running.join(10)
    assert not running.is_alive()
    assert consumer.status().shards[0].owner == ""


def test_the_async_consumer_does_the_same(social: Any) -> None:
    async def story() -> int:
        db = await social.design.open_async(":memory:")
        await db.create(social.post(post_id="p", title="Hello"))
        await db.create(social.like(post_id="p", user_id="ada"))
        consumer = AsyncConsumer(db, options=ConsumerOptions(poll_seconds=0.01))
        await consumer.drain()
        await db.create(social.like(post_id="p", user_id="bob"))
        running = asyncio.create_task(consumer.run())
        while (found := await db.get(social.post.key(post_id="p"))).likes < 2:
            await asyncio.sleep(0.01)
        consumer.stop()
        await running
        await db.close()
        return int(found.likes)

    assert asyncio.run(story()) == 2


def test_a_counter_whose_holder_is_gone_is_left_alone(db: Db, social: Any) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    like_all(db, social, "ada", "bob")
    db.delete(social.post.key(post_id="p"))
    outcome = Consumer(db).drain()
    assert outcome.dead == 0
    assert db.find(social.post.key(post_id="p")) is None


boxes = Design("boxes")
boxes_table = boxes.table("Boxes", stream="NEW_AND_OLD_IMAGES")


class Box(Entity, table=boxes_table):
    box_id: Id
    things: Annotated[int, Counter("Thing", sync="stream")] = 0
    key = Key("BOX#{box_id}", "BOX")


class Thing(Entity, table=boxes_table):
    thing_id: Id
    box_id: str
    key = Key("THING#{thing_id}", "THING")


def test_what_came_before_its_holder_is_missed_and_verification_says_so() -> None:
    with boxes.open(":memory:") as db:
        for number in range(2):
            db.create(Thing(thing_id=f"t{number}", box_id="here"))
        Consumer(db).drain()
        db.create(Box(box_id="here"))
        db.create(Thing(thing_id="t2", box_id="here"))
        Consumer(db).drain()
        assert db.get(Box.key(box_id="here")).things == 1
        report = verify(db)
        assert [one.structure for one in report.drifts] == ["counter Box.things"]
        repair(db, report)
        assert db.get(Box.key(box_id="here")).things == 3
        assert verify(db).clean


def test_an_item_that_moves_to_a_holder_that_is_gone_still_leaves_the_old_one() -> None:
    with boxes.open(":memory:") as db:
        db.create(Box(box_id="here"))
        for number in range(3):
            db.create(Thing(thing_id=f"t{number}", box_id="here"))
        Consumer(db).drain()
        for number in range(2):
            db.update(Thing.key(thing_id=f"t{number}"), box_id="nowhere")
        Consumer(db).drain()
        db.update(Thing.key(thing_id="t2"), box_id="nowhere")
        Consumer(db).drain()
        assert db.get(Box.key(box_id="here")).things == 0
        assert verify(db).clean


def test_structures_by_stream_need_a_stream_with_both_images() -> None:
    design = Design("blind")
    table = design.table("Blind", stream="KEYS_ONLY")

    class Parent(Entity, table=table):
        parent_id: Id
        key = Key("P#{parent_id}", "P")

    @design.on(Parent, "insert")
    def seen(old: object, new: object, work: object) -> None: ...

    with (
        design.open(":memory:") as db,
        pytest.raises(PlanError, match="stream='NEW_AND_OLD_IMAGES'"),
    ):
        Consumer(db)


def test_a_batch_has_as_many_records_as_a_stream_gives() -> None:
    with pytest.raises(PlanError, match="batch must be 1 to 1000"):
        ConsumerOptions(batch=5000)


def test_a_processor_for_an_unknown_kind_of_change_is_refused(social: Any) -> None:
    with pytest.raises(DeclarationError, match="unknown changes: born"):
        social.design.on(social.like, "born")(lambda old, new, work: None)


def test_two_processors_of_one_name_are_refused(social: Any) -> None:
    with pytest.raises(DeclarationError, match="the processor react twice"):
        social.design.on(social.like, name="react")(lambda old, new, work: None)


def test_processors_are_part_of_the_schema(social: Any) -> None:
    [described] = social.design.schema.consumers
    assert (described.name, described.events) == ("react", ("INSERT", "MODIFY", "REMOVE"))
    assert described.dead_letter


def test_workers_share_the_shards_of_a_stream(social: Any, clock: ManualClock) -> None:
    with Engine.open(":memory:", clock=clock, stream_shards=4) as engine:
        db = social.design.open(EmbeddedClient(engine), clock=clock)
        first, second = Consumer(db), Consumer(db)
        first.run_once()
        for _ in range(3):
            clock.advance(ConsumerOptions().lease_seconds / 3)
            second.run_once()
            first.run_once()
        owners = [shard.owner for shard in first.status().shards]
        assert sorted(map(owners.count, (first.worker, second.worker))) == [2, 2]

        for number in range(12):
            db.create(social.post(post_id=f"p{number}", title="Hello", group_ids={"a"}))
            db.create(social.like(post_id=f"p{number}", user_id="ada"))
        seen = first.run_once().records, second.run_once().records
        assert all(seen)
        second.close()
        clock.advance(ConsumerOptions().lease_seconds / 3)
        first.drain()
        assert {one.likes for one in db.scan(social.post)} == {1}
        assert len(list(db.scan(social.pointer))) == 12


def test_a_stream_that_was_turned_off_and_on_is_read_to_its_end_first(
    db: Db, social: Any, clock: ManualClock
) -> None:
    db.create(social.post(post_id="p", title="Hello"))
    Consumer(db).drain()
    like_all(db, social, "ada")
    for specification in (
        {"StreamEnabled": False},
        {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    ):
        clock.advance(1)
        request = {"TableName": "Social", "StreamSpecification": specification}
        db.client.call("UpdateTable", request)
    like_all(db, social, "bob")
    Consumer(db).drain()
    assert post(db, social).likes == 2
    assert [shard.finished for shard in Consumer(db).status().shards] == [True, False]


def test_expiry_takes_pointers_and_unique_values_with_it(clock: ManualClock) -> None:
    design = Design("expiring")
    table = design.table("Expiring", stream="NEW_AND_OLD_IMAGES", ttl="ttl")

    class Invite(Entity, table=table):
        invite_id: Id
        code: str
        group_id: str
        expires_at: Annotated[Timestamp | None, Ttl(), Name("ttl")] = None
        key = Key("INVITE#{invite_id}", "INVITE")
        one_code = Unique("code")

    class InvitePointer(Pointer[Invite], table=table):
        invite_id: Id
        group_id: str
        key = Key("GROUP#{group_id}", "INVITE#{invite_id}")

    with Engine.open(":memory:", clock=clock) as engine:
        db = design.open(EmbeddedClient(engine), clock=clock)
        soon = db.context.now() + timedelta(seconds=10)
        db.create(Invite(invite_id="i", code="X", group_id="g", expires_at=soon))
        db.create(Invite(invite_id="k", code="Y", group_id="g"))
        Consumer(db).drain()
        clock.advance(11)
        ttl.sweep(engine._database)
        Consumer(db).drain()
        assert [pointer.invite_id for pointer in db.scan(InvitePointer)] == ["k"]
        db.create(Invite(invite_id="j", code="X", group_id="g"))
        assert verify(db).clean


def test_a_drain_takes_every_free_shard_although_a_dead_worker_is_still_counted(
    social: Any, clock: ManualClock
) -> None:
    with Engine.open(":memory:", clock=clock, stream_shards=4) as engine:
        db = social.design.open(EmbeddedClient(engine), clock=clock)
        for number in range(12):
            db.create(social.post(post_id=f"p{number}", title="Hello", group_ids={"a"}))
        dead = Consumer(db)
        dead.run_once()
        for reader in list(dead._following.readers.values()):
            db.run(release(db.context, dead._following.group, reader.lease))
        Consumer(db).drain()
        assert len(list(db.scan(social.pointer))) == 12


def test_stopping_leaves_the_rest_of_a_batch_for_the_next_worker(db: Db, social: Any) -> None:
    seen: list[str] = []
    consumer = Consumer(db)

    def react(_: Any, new: Any, __: Any) -> None:
        seen.append(new.user_id)
        consumer.stop()

    social.react = react
    db.create(social.post(post_id="p", title="P"))
    for number in range(5):
        db.create(social.like(post_id="p", user_id=f"u{number}"))
    consumer.run()
    assert len(seen) == 1
    Consumer(db).drain()
    assert sorted(seen) == [f"u{number}" for number in range(5)]
    assert db.get(social.post.key(post_id="p")).likes == 5


class Recording(EmbeddedClient):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.sent: list[tuple[str, Any]] = []

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        self.sent.append((operation, request))
        return super().call(operation, request)


def test_what_a_batch_counts_is_one_transaction(social: Any, engine: Engine) -> None:
    client = Recording(engine)
    db = social.design.open(client)
    db.create(social.post(post_id="p", title="Hello"))
    Consumer(db).drain()
    like_all(db, social, "ada", "bob", "cy")
    client.sent.clear()
    Consumer(db).drain()
    counted = [name for name, request in client.sent if "POST#p" in str(request)]
    assert counted == ["TransactWriteItems"]
    assert post(db, social).likes == 3


def test_workers_read_what_they_know_of_each_other_consistently(
    social: Any, engine: Engine
) -> None:
    client = Recording(engine)
    db = social.design.open(client)
    db.create(social.post(post_id="p", title="Hello"))
    like_all(db, social, "ada")
    Consumer(db).drain()
    reads = [r for name, r in client.sent if name in ("Query", "GetItem")]
    support = [r for r in reads if r["TableName"] == "keyfold_streams"]
    assert support
    assert all(r["ConsistentRead"] for r in support)


def test_an_event_without_an_id_is_known_by_its_sequence_number(social: Any, db: Db) -> None:
    body = {"SequenceNumber": "17", "Keys": {}}
    (table,) = social.design.tables.values()
    assert parse(table, {"dynamodb": body}).event_id == "17"
    assert parse(table, {"eventID": "e", "dynamodb": body}).event_id == "e"


def test_before_the_first_consumer_nothing_waits(social: Any, engine: Engine) -> None:
    status = Consumer(social.design.open(EmbeddedClient(engine), create_tables=True)).status()
    assert (status.shards, status.dead_letters, status.waiting_events) == ((), 0, 0)


class Failing(EmbeddedClient):
    """Fails the first reads of leases."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.left = 20

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        if self.left and operation == "ListStreams":
            self.left -= 1
            raise InternalFailure("not now")
        return super().call(operation, request)


def test_a_backend_that_fails_for_long_does_not_end_a_consumer(
    social: Any, engine: Engine, options: ConsumerOptions
) -> None:
    client = Failing(engine)
    db = social.design.open(client)
    db.create(social.post(post_id="p", title="Hello"))
    like_all(db, social, "ada")
    consumer = Consumer(db, options=options)
    running = threading.Thread(target=consumer.run, daemon=True)
    running.start()
    counted = threading.Event()
    for _ in range(3000):
        if post(db, social).likes == 1:
            counted.set()
            break
        counted.wait(0.01)
    consumer.stop()
    running.join(30)
    assert counted.is_set()
    assert client.left == 0
