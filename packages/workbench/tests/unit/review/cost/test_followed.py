"""What the stream does after a write costs in the model what the engine charges for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any

import pytest

from keyfold import (
    Copied,
    Counter,
    Created,
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
    Updated,
    create,
)
from keyfold.design.file import loads
from keyfold.feeds import Feed, Flag
from keyfold.maintain import Cascade, Edge
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_workbench.cost import EntityLoad, Workload, bill
from keyfold_workbench.cost import loads as workload
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.feed_page import page
from keyfold_workbench.cost.workload import FeedLoad
from keyfold_workbench.cost.writes import write

from .town import Town

design = Design("town")
table = design.table(
    "town",
    stream="NEW_AND_OLD_IMAGES",
    ttl="ttl",
    indexes=[Index("ByOwner", "ownerPK", "ownerSK")],
)


class Street(Entity, table=table):
    street_id: str
    name: str
    houses: Annotated[int, Counter("House", sync="stream")] = 0
    key = Key("STREET#{street_id}", "STREET")
    homes = Cascade("House")


class House(Entity, table=table):
    street_id: str
    house_id: str
    street_name: Annotated[str, Copied("Street", "name")] = ""
    owner_id: str = ""
    text: str = ""
    key = Key("STREET#{street_id}", "HOUSE#{house_id}")
    by_owner = On("ByOwner", "OWNER#{owner_id}", "HOUSE#{house_id}")


class Notice(Entity, table=table):
    notice_id: str
    title: str
    text: str = ""
    wall_ids: tuple[str, ...] = ()
    expires_at: Annotated[Timestamp | None, Ttl()] = None
    key = Key("NOTICE#{notice_id}", "NOTICE")
    one_title = Unique("title")


class WallNotice(Pointer[Notice], table=table, each="wall_ids", sync="stream"):
    wall_id: str
    notice_id: str
    title: str
    key = Key("WALL#{wall_id}", "NOTICE#{notice_id}")


class Bell(Entity, table=table):
    bell_id: str
    rings: int = 0
    key = Key("BELL#{bell_id}", "BELL")


class Echo(Entity, table=table):
    bell_id: str
    key = Key("BELL#{bell_id}", "ECHO")


class Lamp(Entity, table=table):
    lamp_id: str
    key = Key("LAMP#{lamp_id}", "LAMP")


@design.on(Bell, "insert")
def answer(old: Bell | None, new: Bell | None, work: Any) -> Any:
    """A bell has an echo, and everybody hears of it."""
    assert new is not None
    work.emit("Rang", {"bell": new.bell_id})
    return create(Echo(bell_id=new.bell_id))


@design.on(Lamp, "insert")
def look(old: Lamp | None, new: Lamp | None, work: Any) -> None:
    """Nothing is done about a lamp."""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def town(clock: ManualClock) -> Any:
    with Engine.open(":memory:", clock=clock) as engine:
        yield Town(design, engine, clock)


def street(town: Town, houses: int) -> None:
    town.db.create(Street(street_id="s", name="High Street"))
    for number in range(houses):
        town.db.create(house(str(number)))
    town.settle()


def house(name: str) -> House:
    return House(
        street_id="s", house_id=name, street_name="High Street", owner_id="o", text="x" * 1500
    )


def test_a_counter_that_follows_the_stream_and_the_look_at_a_copied_field(town: Town) -> None:
    street(town, 1)
    paid = town.paid(lambda: town.db.create(house("new")))
    assert paid == town.modelled("create House", town.sizes())


def test_a_count_that_falls_looks_at_its_holder(town: Town) -> None:
    street(town, 2)
    loads = town.sizes()
    paid = town.paid(lambda: town.db.delete(House.key(street_id="s", house_id="1")))
    assert paid == town.modelled("delete House", loads)


def test_a_copied_field_goes_to_every_item_that_shows_it(town: Town) -> None:
    street(town, 3)
    paid = town.paid(lambda: town.db.update(Street.key(street_id="s"), name="Main Street"))
    assert paid == town.modelled("update Street (name)", town.sizes())


def test_a_new_origin_is_looked_at_and_has_no_copies_yet(town: Town) -> None:
    paid = town.paid(lambda: town.db.create(Street(street_id="s", name="High Street")))
    loads = town.sizes() | {"House": EntityLoad(items=0, bytes=100)}
    assert paid == town.modelled("create Street", loads)


def test_a_cascade_is_swept_after_its_transaction(town: Town) -> None:
    street(town, 3)
    loads = town.sizes()
    paid = town.paid(lambda: town.db.delete(Street.key(street_id="s")))
    assert paid == town.modelled("delete Street", loads)


def test_copies_that_follow_the_stream_are_guarded_by_a_check(town: Town) -> None:
    notice = Notice(notice_id="n", title="t", text="x" * 2000, wall_ids=("a", "b"))
    paid = town.paid(lambda: town.db.create(notice))
    loads = town.sizes(WallNotice={"copies": 2})
    assert paid == town.modelled("create Notice", loads)
    paid = town.paid(lambda: town.db.delete(Notice.key(notice_id="n")))
    assert paid == town.modelled("delete Notice", loads)


def test_an_expiry_is_free_but_what_follows_from_it_is_not(town: Town, clock: ManualClock) -> None:
    expires = town.db.context.now() + timedelta(hours=1)
    notice = Notice(notice_id="n", title="t", wall_ids=("a", "b"), expires_at=expires)
    town.db.create(notice)
    town.settle()
    loads = town.sizes(WallNotice={"copies": 2})

    def expire() -> None:
        clock.advance(7200)
        town.engine.sweep()

    reads, writes = town.paid(expire)
    assert (reads, writes) == town.modelled("expire Notice", loads)
    assert writes == {"town": 2 * (1 + 2) + 2 * (1 + 1)}  # guarded copies, and the unique value


def test_a_processor_pays_for_what_it_writes_and_announces(town: Town) -> None:
    reads, writes = town.paid(lambda: town.db.create(Bell(bell_id="b")))
    stated = "consumers:\n  answer: {writes: [create Echo], events: 1}\n"
    loads = town.sizes()
    modelled = town.modelled("create Bell", loads, stated)
    modelled[1]["keyfold_streams"] -= 1  # the event is still waiting for its sinks
    assert (reads, writes) == modelled


def test_a_processor_that_does_nothing_leaves_its_marker(town: Town) -> None:
    paid = town.paid(lambda: town.db.create(Lamp(lamp_id="l")))
    assert paid == town.modelled("create Lamp", town.sizes())
    assert paid == ({"keyfold_streams": 1}, {"town": 1, "keyfold_streams": 1})


def test_a_request_id_is_claimed_and_holds_the_result(town: Town) -> None:
    schema = design.schema
    stated = workload("writes:\n  create Lamp: {rate: 1, once: true}\n", schema)
    loads = {"Lamp": EntityLoad(items=1, bytes=50)}
    made = write(DesignNumbers(schema, Workload(loads, {}, stated.writes)), stated.writes[0])
    modelled = sum(p.units for p in made.parts if p.why == "request id")

    def once() -> None:
        town.db.once("r1", lambda: "done", result=str)

    assert town.paid(once)[1] == {"town": modelled}


# Feeds

social = Design("social")
places = social.table(
    "social",
    stream="NEW_AND_OLD_IMAGES",
    ttl="ttl",
    indexes=[Index("ByActor", "actorPK", "actorSK")],
)


class Post(Entity, table=places):
    actor_id: Id
    post_id: Id
    created_at: Timestamp
    text: str = ""
    key = Key("POSTS#{actor_id}", "TS#{created_at:iso}#{post_id}")


class Follow(Edge, table=places):
    reader_id: Id
    actor_id: Id
    created_at: Annotated[Timestamp | None, Created()] = None
    key = Key("READER#{reader_id}", "FOLLOWS#{actor_id}")
    followers = On("ByActor", "ACTOR#{actor_id}", "READER#{reader_id}")


class Item(Entity, table=places):
    reader_id: Id
    actor_id: Id
    post_id: Id
    created_at: Timestamp
    text: str = ""
    expires_at: Annotated[Timestamp | None, Ttl()] = None
    key = Key("FEED#{reader_id}", "TS#{created_at:iso}#{post_id}")


class Promotion(Entity, table=places):
    actor_id: Id
    enabled: bool
    updated_at: Annotated[Timestamp | None, Updated()] = None
    key = Key("PROMO#{actor_id}", "PROMO")


home = Feed(
    "home",
    activity=Post,
    edge=Follow,
    item=Item,
    push=Flag(Promotion, "enabled", since="updated_at"),
)


@pytest.fixture
def network(clock: ManualClock) -> Any:
    """Three readers follow the actor a, one of them b, too."""
    with Engine.open(":memory:", clock=clock) as engine:
        made = Town(social, engine, clock)
        for reader, actor in (("r1", "a"), ("r2", "a"), ("r3", "a"), ("r1", "b")):
            made.db.create(Follow(reader_id=reader, actor_id=actor))
        for actor in ("a", "b"):
            made.db.put(Promotion(actor_id=actor, enabled=False))
            made.db.create(post(made, actor, "first"))
        made.settle()
        yield made


def post(town: Town, actor: str, name: str) -> Post:
    town.clock.advance(1)
    return Post(actor_id=actor, post_id=name, created_at=town.db.context.now(), text="x" * 300)


def push(town: Town, actor: str) -> None:
    """Everybody who follows the actor gets copies."""
    town.db.put(Promotion(actor_id=actor, enabled=True))
    town.clock.advance(120)
    town.db.create(post(town, actor, "copied"))
    town.settle()


def test_a_post_of_a_pulled_source_is_written_once(network: Town) -> None:
    loads = network.sizes()
    paid = network.paid(lambda: network.db.create(post(network, "a", "second")))
    stated = "feeds:\n  home: {followers: 3, pushed: 0}\n"
    assert paid == network.modelled("create Post", loads, stated)


def test_a_post_of_a_flagged_source_is_copied_to_its_followers(network: Town) -> None:
    push(network, "a")
    loads = network.sizes()
    paid = network.paid(lambda: network.db.create(post(network, "a", "second")))
    stated = "feeds:\n  home: {followers: 3, pushed: 1}\n"
    assert paid == network.modelled("create Post", loads, stated)


def test_a_follow_and_an_unfollow_are_nothing_but_the_edge(network: Town) -> None:
    loads = network.sizes()
    stated = "feeds:\n  home: {followers: 3, pushed: 0}\n"
    follow = Follow(reader_id="r2", actor_id="b")
    paid = network.paid(lambda: network.db.create(follow))
    assert paid == network.modelled("create Follow", loads, stated)
    paid = network.paid(lambda: network.db.delete(follow))
    assert paid == network.modelled("delete Follow", loads, stated)


def test_a_removed_post_is_taken_out_of_every_feed(network: Town) -> None:
    push(network, "a")
    loads = network.sizes()
    gone = network.db.create(post(network, "a", "gone"))
    network.settle()
    paid = network.paid(lambda: network.db.delete(gone))
    stated = "feeds:\n  home: {followers: 3, pushed: 1}\n"
    assert paid == network.modelled("delete Post", loads, stated)


def test_a_page_reads_follows_flags_copies_and_what_is_pulled(network: Town) -> None:
    push(network, "a")
    network.clock.advance(home.ttl.total_seconds() - 60)
    for actor in ("a", "b"):
        network.db.create(post(network, actor, "recent"))
    network.settle()
    loads = network.sizes()
    loads["Item"] = replace(loads["Item"], distinct={"reader_id": 3})
    loads["Post"] = replace(loads["Post"], distinct={"actor_id": 2})
    stated = Workload(loads, feeds={"home": FeedLoad(page=20, sources=2, pushed=0.5)})
    found = page(DesignNumbers(social.schema, stated), social.schema.feeds[0])
    assert found is not None
    with network.db.work("page") as paid:
        home.page(network.db, "r1", limit=20)
    assert paid.total.read_units == found.units
    assert paid.total.requests == found.requests == 4


# What is paid beside requests


def test_recovery_and_backups_hold_the_table_and_not_its_global_indexes() -> None:
    stated = "entities:\n  Lamp: {items: 1000000, bytes: 900}\n"
    loads = {e.name: EntityLoad(items=0, bytes=100) for e in design.schema.entities}
    loads["Lamp"] = EntityLoad(items=1_000_000, bytes=900)
    assert workload(stated, design.schema).entities["Lamp"] == loads["Lamp"]
    made = bill(design.schema, Workload(loads, backups=7, recovery=True))
    held = 1_000_000 * 1000 / 2**30
    lines = {line.name: line.dollars for line in made.upkeep}
    assert lines["point-in-time recovery"] == pytest.approx(held * 0.20)
    assert lines["7 full backups"] == pytest.approx(7 * held * 0.10)
    without = bill(design.schema, Workload(loads, recovery=False))
    assert "point-in-time recovery" not in {line.name for line in without.upkeep}


DESCRIBED = """
design: described
tables: {T: {key: [PK, SK], stream: NEW_AND_OLD_IMAGES}}
entities:
  Order: {key: {PK: "ORDER#<orderId>", SK: O}, attributes: {orderId: id}}
  Audit: {key: {PK: "AUDIT#<orderId>", SK: A}, attributes: {orderId: id}}
consumers:
  audit: {table: T, entities: [Order], events: [INSERT], does: [put Audit]}
"""


def test_what_a_described_consumer_writes_is_priced_without_items_of_keyfolds_own() -> None:
    schema = loads(DESCRIBED)
    made = bill(schema, workload("writes: {create Order: {rate: 1}}\n", schema))
    (line,) = made.writes
    told = [(part.entity, part.units, part.why, part.streamed) for part in line.write.parts]
    assert told == [("Order", 1, "item", False), ("Audit", 1, "processor", True)]


def test_what_is_created_with_a_time_to_live_expires_free_of_charge() -> None:
    stated = workload("writes:\n  create Notice: {rate: 2}\n", design.schema)
    made = bill(design.schema, stated)
    expiry = next(line for line in made.upkeep if line.name == "expiry")
    assert expiry.dollars == 0
    assert any("2 Notice expire per second" in sentence for sentence in made.assumptions)


def test_a_bill_is_the_sum_of_its_lines() -> None:
    made = bill(design.schema, Workload())
    purposes = sum(line.dollars for line in made.purposes)
    assert purposes == pytest.approx(made.writes_dollars)
    paths = sum(line.on_demand for line in made.paths)
    assert paths == pytest.approx(made.reads_dollars + made.writes_dollars)
    parts = made.reads_dollars + made.writes_dollars + made.storage_dollars + made.upkeep_dollars
    assert made.dollars == pytest.approx(parts)
