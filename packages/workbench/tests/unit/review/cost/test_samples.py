"""What a hand-made model of the write path got wrong: each write costs what the engine charges."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from keyfold import Copied, Counter, Design, Entity, Index, Key, On, Pointer
from keyfold.conditions import exists
from keyfold.design.file import loads as design_file
from keyfold.maintain import Cascade
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_workbench.cost import EntityLoad, Workload, bill
from keyfold_workbench.cost import loads as workload
from keyfold_workbench.cost.sample_run import touches

from .town import Town

design = Design("fair")
table = design.table(
    "fair",
    stream="NEW_AND_OLD_IMAGES",
    indexes=[Index("Inverted", "SK", "PK"), Index("ByState", "statePK", "stateSK")],
)


class Stand(Entity, table=table):
    stand_id: str
    name: str
    state: str = "free"
    booked_by: str | None = None
    street_ids: tuple[str, ...] = ()
    going: Annotated[int, Counter("Visit", where=lambda v: v.answer == "going", sync="stream")] = 0
    maybe: Annotated[int, Counter("Visit", where=lambda v: v.answer == "maybe", sync="stream")] = 0
    key = Key("STAND#{stand_id}", "STAND")
    free = On("ByState", "FREE", "{stand_id}", when=lambda s: s.state == "free")
    taken = On("ByState", "TAKEN", "{stand_id}", when=lambda s: s.state == "taken")
    visits = Cascade("Visit", sync="stream")


class StreetStand(Pointer[Stand], table=table, each="street_ids", overflow="stream"):
    street_id: str
    stand_id: str
    name: str
    key = Key("STREET#{street_id}", "STAND#{stand_id}")
    visits = Cascade("Visit", sync="stream")


class Visit(Entity, table=table):
    stand_id: str
    visit_id: str
    street_id: str
    answer: str
    stand_name: Annotated[str, Copied("Stand", "name")] = ""
    stand_state: Annotated[str, Copied("Stand", "state")] = "free"
    key = Key("STAND#{stand_id}", "VISIT#{visit_id}")


class Ticket(Entity, table=table):
    ticket_id: str
    scanned_at: str | None = None
    key = Key("TICKET#{ticket_id}", "TICKET")
    scanned = On("ByState", "SCANNED", "{scanned_at}", when=lambda t: exists(t.scanned_at))


CALLED: list[str] = []


@design.on(Ticket, "insert")
def tell(old: Ticket | None, new: Ticket | None, work: Any) -> None:
    """Somebody outside is told."""
    CALLED.append("told")


@pytest.fixture
def fair() -> Any:
    clock = ManualClock()
    with Engine.open(":memory:", clock=clock) as engine:
        made = Town(design, engine, clock)
        made.db.create(STAND)
        made.settle()
        yield made


STAND = Stand(stand_id="s", name="Lace", street_ids=("a",))
SHARES = {"share": {"ByState": 1.0}}
ONE: dict[str, dict[str, Any]] = {"StreetStand": {"copies": 1}, "Stand": SHARES, "Ticket": SHARES}


def visit(number: int) -> Visit:
    return Visit(
        stand_id="s", visit_id=str(number), street_id="a", answer="going", stand_name="Lace"
    )


def test_an_index_over_the_tables_own_key_has_every_item(fair: Town) -> None:
    paid = fair.paid(lambda: fair.db.create(Ticket(ticket_id="t", scanned_at="9")))
    assert paid == fair.modelled("create Ticket", fair.sizes(**ONE))
    assert paid[1]["fair.Inverted"] == 1


def test_an_item_that_enters_an_index_is_written_there_once(fair: Town) -> None:
    fair.db.create(Ticket(ticket_id="t"))
    paid = fair.paid(lambda: fair.db.update(Ticket.key(ticket_id="t"), scanned_at="9"))
    assert paid == fair.modelled("update Ticket (scanned_at)", fair.sizes(**ONE))
    assert paid[1]["fair.ByState"] == 1


def test_placements_that_exclude_each_other_are_one_entry_which_moves(fair: Town) -> None:
    paid = fair.paid(lambda: fair.db.update(Stand.key(stand_id="s"), state="taken"))
    loads = fair.sizes(**ONE) | {"Visit": EntityLoad(items=0, bytes=100)}
    assert paid == fair.modelled("update Stand (state)", loads)
    assert paid[1]["fair.ByState"] == 2


def test_of_counters_that_exclude_each_other_one_moves(fair: Town) -> None:
    paid = fair.paid(lambda: fair.db.create(visit(1)))
    assert paid == fair.modelled("create Visit", fair.sizes(**ONE))
    assert paid[1]["keyfold_streams"] == 2


def test_copies_that_may_overflow_are_looked_at_by_the_stream(fair: Town) -> None:
    paid = fair.paid(lambda: fair.db.update(Stand.key(stand_id="s"), name="Lamp"))
    loads = fair.sizes(**ONE) | {"Visit": EntityLoad(items=0, bytes=100)}
    assert paid == fair.modelled("update Stand (name)", loads)


def test_what_an_item_and_its_copies_cascade_to_is_deleted_once(fair: Town) -> None:
    for number in range(3):
        fair.db.create(visit(number))
    fair.settle()
    loads = fair.sizes(**ONE)
    paid = fair.paid(lambda: fair.db.delete(Stand.key(stand_id="s")))
    modelled = fair.modelled("delete Stand", loads)
    assert paid[1]["fair"] == modelled[1]["fair"]


def test_several_copied_fields_go_to_the_same_items(fair: Town) -> None:
    for number in range(3):
        fair.db.create(visit(number))
    fair.settle()
    loads = fair.sizes(**ONE)
    stand = Stand.key(stand_id="s")
    paid = fair.paid(lambda: fair.db.update(stand, name="Lamp", state="taken"))
    assert paid == fair.modelled("update Stand (name, state)", loads)


def test_a_processor_is_not_called_to_price_its_writes() -> None:
    stated = "writes:\n  create Ticket: {rate: 1}\nconsumers:\n  tell: {events: 2}\n"
    CALLED.clear()
    made = bill(design.schema, workload(stated, design.schema))
    (line,) = made.writes
    assert not CALLED
    assert sum(part.units for part in line.write.parts if part.why == "outbox") == 2 * (2 + 1)


def test_a_price_does_not_depend_on_what_was_priced_before() -> None:
    first = bill(design.schema, Workload())
    touches.cache_clear()
    assert bill(design.schema, Workload()) == first


def test_what_cannot_be_made_is_priced_without_and_the_report_says_so() -> None:
    schema = design_file("""
design: clubs
tables: {clubs: {key: [PK, SK]}}
entities:
  Club: {key: {PK: CLUB#<city>, SK: <club_id>}, attributes: {members: number}}
  Member: {key: {PK: MEMBER#<member_id>, SK: M}}
counters:
  m: {counts: Member, target: Club, attribute: members, via: [member_id], sync: transaction}
""")
    made = bill(schema, workload("writes:\n  create Member: {rate: 1}\n", schema))
    assert [line.write.units for line in made.writes] == [1]
    assert any("create Member is priced without what follows" in one for one in made.assumptions)
