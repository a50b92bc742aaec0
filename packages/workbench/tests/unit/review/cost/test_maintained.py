"""Copies, counters and markers cost in the model what a running design pays for them."""

from __future__ import annotations

from collections import Counter as Counted
from typing import Annotated, Any

import pytest

from keyfold import Counter, Design, Entity, Index, Key, On, Pointer, Unique
from keyfold.design.shorthand import effect
from keyfold.maintain import Cascade
from keyfold.structures import Average, Edge, Latest, Mirror
from keyfold_engine.values.size import item_size
from keyfold_workbench.cost import EntityLoad, Workload
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.workload import WriteLoad
from keyfold_workbench.cost.writes import write

design = Design("clubs")
table = design.table("clubs", indexes=[Index("ByTag", "tagPK", "tagSK")])


class Club(Entity, table=table):
    club_id: str
    name: str
    tag: str
    text: str = ""
    city_ids: tuple[str, ...] = ()
    members: Annotated[int, Counter("Member", via={"club_id": "club_id"})] = 0
    key = Key("CLUB#{club_id}", "CLUB")
    by_tag = On("ByTag", "TAG#{tag}", "CLUB#{club_id}")
    one_name = Unique("name")


class CityClub(Pointer[Club], table=table, each="city_ids", sync="transaction"):
    city_id: str
    club_id: str
    name: str
    members: int = 0
    key = Key("CITY#{city_id}", "CLUB#{club_id}")


class Member(Entity, table=table):
    club_id: str
    user_id: str
    note: str = ""
    key = Key("CLUB#{club_id}", "MEMBER#{user_id}")


class Room(Entity, table=table):
    room_id: str
    text: str = ""
    key = Key("ROOM#{room_id}", "ROOM")


class House(Entity, table=table):
    house_id: str
    key = Key("HOUSE#{house_id}", "HOUSE")
    windows = Cascade("Window")


class Window(Entity, table=table):
    house_id: str
    number: str
    glass: str = ""
    key = Key("HOUSE#{house_id}", "WINDOW#{number}")


class Fan(Edge, table=table):
    user_id: str
    club_id: str
    key = Key("USER#{user_id}", "FAN#{club_id}")
    fans = Mirror("CLUB#{club_id}", "FAN#{user_id}")


class Site(Entity, table=table):
    site_id: str
    visits: Annotated[int, Counter("Visit", shards=4)] = 0
    key = Key("SITE#{site_id}", "SITE")
    all_visits = Cascade("Visit", through="by_site")


class Visit(Entity, table=table):
    visit_id: str
    site_id: str
    key = Key("VISIT#{visit_id}", "VISIT")
    by_site = On("ByTag", "SITE#{site_id}", "VISIT#{visit_id}")


class Auction(Entity, table=table):
    auction_id: str
    best_id: str | None = None
    best_amount: int | None = None
    moves: int = 0
    offered: Annotated[int, Counter("Bid", sums="amount")] = 0
    bids: Annotated[int, Counter("Bid")] = 0
    key = Key("AUCTION#{auction_id}", "AUCTION")
    best = Latest(
        "Bid",
        by="amount",
        shows={"best_id": "bid_id", "best_amount": "amount"},
        moves="moves",
        through="by_amount",
    )
    mean = Average("offered", "bids")


class Bid(Entity, table=table):
    auction_id: str
    bid_id: str
    amount: int
    key = Key("AUCTION#{auction_id}", "BID#{bid_id}")
    by_amount = On("ByTag", "BIDS#{auction_id}", "{amount:08d}#{bid_id}")


CLUB = Club(club_id="c1", name="chess", tag="games", text="x" * 1500, city_ids=("a", "b"))


@pytest.fixture
def db() -> Any:
    with design.open(":memory:") as opened:
        yield opened


def paid(db: Any, call: Any) -> float:
    db.meter.usage.clear()
    db.meter.measuring = True
    call()
    db.meter.measuring = False
    return float(sum(usage.write_units for usage in db.meter.usage.values()))


def modelled(db: Any, name: str) -> float:
    found = effect(name)
    assert found is not None
    sizes: dict[str, int] = {}
    counts: Counted[str] = Counted()
    for item in db.client.call("Scan", {"TableName": "clubs"})["Items"]:
        kind = item.get("type", {"S": ""})["S"]
        sizes[kind] = item_size(item)
        counts[kind] += 1
    loads = {
        entity: EntityLoad(
            items=counts[entity], bytes=size, copies=2 if entity == "CityClub" else None
        )
        for entity, size in sizes.items()
        if entity in design.schema.by_entity
    }
    load = WriteLoad(name, (found,), rate=1)
    return write(DesignNumbers(design.schema, Workload(loads, {}, (load,))), load).units


def test_a_create_pays_for_its_item_index_entry_copies_and_marker(db: Any) -> None:
    units = paid(db, lambda: db.create(CLUB))
    assert units == modelled(db, "create Club")


def test_a_plain_item_is_one_write(db: Any) -> None:
    units = paid(db, lambda: db.create(Room(room_id="r", text="x" * 3000)))
    assert units == modelled(db, "create Room") == 3


def test_a_counted_item_pays_for_the_counter_and_the_copies_that_show_it(db: Any) -> None:
    db.create(CLUB)
    units = paid(db, lambda: db.create(Member(club_id="c1", user_id="u")))
    assert units == modelled(db, "create Member")


def test_an_update_that_no_copy_shows_leaves_the_copies_alone(db: Any) -> None:
    db.create(CLUB)
    units = paid(db, lambda: db.update(Club.key(club_id="c1"), text="y" * 1500))
    assert units == modelled(db, "update Club (text)")


def test_an_update_of_a_member_does_not_count(db: Any) -> None:
    db.create(CLUB)
    db.create(Member(club_id="c1", user_id="u"))
    member = Member.key(club_id="c1", user_id="u")
    units = paid(db, lambda: db.update(member, note="n"))
    assert units == modelled(db, "update Member (note)")


def test_a_delete_pays_for_everything_that_goes(db: Any) -> None:
    db.create(CLUB)
    expected = modelled(db, "delete Club")
    assert paid(db, lambda: db.delete(Club.key(club_id="c1"))) == expected


def test_a_delete_pays_for_what_it_cascades_to(db: Any) -> None:
    db.create(House(house_id="h"))
    for number in range(3):
        db.create(Window(house_id="h", number=str(number), glass="x" * 1500))
    expected = modelled(db, "delete House")
    assert paid(db, lambda: db.delete(House.key(house_id="h"))) == expected == 2 + 3 * 4


def test_an_edge_pays_for_its_mirror(db: Any) -> None:
    units = paid(db, lambda: db.create(Fan(user_id="u", club_id="c")))
    assert units == modelled(db, "create Fan")
    expected = modelled(db, "delete Fan")
    assert paid(db, lambda: db.delete(Fan.key(user_id="u", club_id="c"))) == expected


def test_a_unique_value_that_changes_moves_its_marker(db: Any) -> None:
    db.create(CLUB)
    units = paid(db, lambda: db.update(Club.key(club_id="c1"), name="check"))
    assert units == modelled(db, "update Club (name)")


def test_a_sharded_counter_and_a_need_are_paid_with_the_counted_item(db: Any) -> None:
    db.create(Site(site_id="s"))
    units = paid(db, lambda: db.create(Visit(visit_id="v", site_id="s")))
    assert units == modelled(db, "create Visit")


def test_a_cascade_over_an_index_pays_for_its_items_and_their_entries(db: Any) -> None:
    # Several visits may draw one shard, so that only one has a certain price.
    db.create(Site(site_id="s"))
    db.create(Visit(visit_id="v", site_id="s"))
    expected = modelled(db, "delete Site")
    assert paid(db, lambda: db.delete(Site.key(site_id="s"))) == expected


def test_a_candidate_pays_for_the_owner_that_shows_the_best(db: Any) -> None:
    db.create(Auction(auction_id="a"))
    units = paid(db, lambda: db.create(Bid(auction_id="a", bid_id="b", amount=5)))
    assert units == modelled(db, "create Bid")
    assert db.get(Auction.key(auction_id="a")).best_amount == 5
