"""The newest, largest and smallest of many, shown on their owner; averages."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Index, Key, On, Version, create, delete, update
from keyfold.design import file
from keyfold.errors import DeclarationError, KeyfoldError, PlanError, TransactionConflict
from keyfold.maintain import plan, rebuild, repair, verify
from keyfold.migrations import Backend, Migrator, load
from keyfold.migrations.plan import draft
from keyfold.review.docs import document
from keyfold.review.docs.markdown import markdown
from keyfold.streams import Consumer
from keyfold.structures import Average, Cascade, Extreme, Latest
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

design = Design("extremes")
table = design.table(
    "Extremes", stream="NEW_AND_OLD_IMAGES", indexes=[Index("GSI1", "gsi1pk", "gsi1sk")]
)
SHOWS = {"last_id": "message_id", "last_text": "text", "last_sent": "sent"}
FIRST = {"first_id": "message_id", "first_sent": "sent"}
LATE = {"late_id": "message_id", "late_text": "text", "late_sent": "sent"}


class Room(Entity, table=table):
    room_id: Id
    title: str = ""
    version: Annotated[int, Version()] = 0
    last_id: str | None = None
    last_text: str | None = None
    last_sent: int | None = None
    moves: int = 0
    first_id: str | None = None
    first_sent: int | None = None
    first_moves: int = 0
    late_id: str | None = None
    late_text: str | None = None
    late_sent: int | None = None
    late_moves: int = 0
    total: Annotated[int, Counter("Message", sums="sent")] = 0
    messages: Annotated[int, Counter("Message")] = 0
    key = Key("ROOM#{room_id}", "ROOM")
    last = Latest("Message", by="sent", shows=SHOWS, moves="moves", through="by_time")
    first = Extreme("Message", by="sent", shows=FIRST, moves="first_moves", smallest=True)
    late = Latest("Message", by="sent", shows=LATE, moves="late_moves", sync="stream")
    all_messages = Cascade("Message")
    mean = Average("total", "messages")


class Message(Entity, table=table):
    room_id: Id
    message_id: Id
    sent: int
    text: str = ""
    key = Key("ROOM#{room_id}", "MESSAGE#{message_id}")
    by_time = On("GSI1", "ROOM#{room_id}", "{sent:06d}#{message_id}")


class Meddling(EmbeddedClient):
    """Lets somebody else write between the plan of a transaction and its commit."""

    def __init__(self) -> None:
        super().__init__(Engine.open(":memory:"))
        self.meddle: Callable[[], object] | None = None
        self.queries = 0

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.queries += operation == "Query"
        if operation == "TransactWriteItems" and self.meddle is not None:
            meddle, self.meddle = self.meddle, None
            meddle()
        return super().call(operation, request)


def message(name: str, sent: int, text: str = "") -> Message:
    return Message(room_id="r", message_id=name, sent=sent, text=text)


def shown(db: Db, prefix: str = "last") -> tuple[int, str] | None:
    room: Any = db.get(Room.key(room_id="r"))
    sent = getattr(room, f"{prefix}_sent")
    return None if sent is None else (sent, getattr(room, f"{prefix}_id"))


def wanted(db: Db, *, least: bool = False) -> tuple[int, str] | None:
    found = sorted((one.sent, one.message_id) for one in db.scan(Message))
    return found[0 if least else -1] if found else None


def opened() -> Any:
    return design.open(Meddling())


def test_the_newest_is_shown_and_the_next_when_it_goes() -> None:
    with opened() as db:
        db.create(Room(room_id="r"))
        db.create(message("a", 1, "one"))
        db.create(message("b", 5, "five"))
        db.create(message("c", 3, "three"))
        room = db.get(Room.key(room_id="r"))
        assert (room.last_id, room.last_text, room.last_sent) == ("b", "five", 5)
        assert (room.first_id, room.mean) == ("a", Decimal(3))
        db.update(Message.key(room_id="r", message_id="b"), text="fünf")
        assert db.get(Room.key(room_id="r")).last_text == "fünf"
        db.update(Message.key(room_id="r", message_id="b"), sent=2)
        assert shown(db) == (3, "c")
        db.delete(Message.key(room_id="r", message_id="c"))
        assert shown(db) == (2, "b")
        db.transact(
            delete(Message.key(room_id="r", message_id="b")),
            delete(Message.key(room_id="r", message_id="a")),
        )
        assert (shown(db), db.get(Room.key(room_id="r")).mean) == (None, None)


def test_only_what_takes_away_the_shown_one_looks_for_another() -> None:
    client = Meddling()
    with design.open(client) as db:
        db.create(Room(room_id="r"))
        client.queries = 0
        db.create(message("a", 1))
        db.create(message("b", 5))
        db.create(message("c", 3))
        db.delete(Message.key(room_id="r", message_id="c"))
        assert client.queries == 0
        db.delete(Message.key(room_id="r", message_id="b"))
        assert client.queries == 1


def test_several_candidates_in_one_transaction_are_one_change_of_the_owner() -> None:
    with opened() as db:
        db.create(Room(room_id="r"))
        db.transact(
            *(create(message(name, sent)) for name, sent in zip("abc", (4, 9, 2), strict=True))
        )
        assert (shown(db), shown(db, "first")) == ((9, "b"), (2, "c"))
        db.transact(
            delete(Message.key(room_id="r", message_id="b")),
            update(Message.key(room_id="r", message_id="c"), sent=7),
            create(message("d", 5)),
        )
        assert shown(db) == wanted(db) == (7, "c")
        assert shown(db, "first") == wanted(db, least=True) == (4, "a")


def test_a_message_that_comes_while_the_newest_is_deleted_is_shown() -> None:
    client = Meddling()
    with design.open(client) as db:
        db.create(Room(room_id="r"))
        db.create(message("a", 5))
        client.meddle = lambda: db.create(message("b", 1, "hi"))
        db.delete(Message.key(room_id="r", message_id="a"))
        assert shown(db) == wanted(db) == (1, "b")


@pytest.mark.parametrize("seed", range(12))
def test_any_history_shows_the_best_by_transaction_and_by_stream(seed: int) -> None:
    draw, client = random.Random(seed), Meddling()
    with design.open(client) as db:
        consumer = Consumer(db)
        db.create(Room(room_id="r"))

        def some_write() -> None:
            one = message(draw.choice("abcd"), draw.randrange(4), str(draw.random()))
            try:
                writes: list[Callable[[], object]] = [
                    lambda: db.create(one),
                    lambda: db.put(one),
                    lambda: db.delete(one.ref()),
                    lambda: db.update(one.ref(), sent=one.sent),
                    lambda: db.update(one.ref(), text=one.text),
                    lambda: db.update(Room.key(room_id="r"), title=one.text),
                ]
                draw.choice(writes)()
            except TransactionConflict:
                raise
            except KeyfoldError:
                return  # there is one already, or none

        for _ in range(15):
            if draw.random() < 0.5:
                client.meddle = some_write
            some_write()
            client.meddle = None
            assert shown(db) == wanted(db)
            assert shown(db, "first") == wanted(db, least=True)
        consumer.drain()
        assert shown(db, "late") == wanted(db)
        assert verify(db, settle=consumer.catch_up).clean


def test_what_is_shown_wrongly_is_found_repaired_and_rebuilt() -> None:
    with opened() as db:
        db.create(Room(room_id="r"))
        db.create(message("a", 1))
        db.create(message("b", 5))
        Consumer(db).drain()
        assert verify(db).clean

        def corrupt() -> None:
            db.client.call(
                "UpdateItem",
                {
                    "TableName": "Extremes",
                    "Key": Room.key(room_id="r").wire(),
                    "UpdateExpression": "SET lastId = :i, lastSent = :s REMOVE firstId, firstSent",
                    "ExpressionAttributeValues": {":i": {"S": "a"}, ":s": {"N": "1"}},
                },
            )

        corrupt()
        report = verify(db)
        assert sorted(d.structure for d in report.drifts) == [
            "extreme Room.first",
            "latest Room.last",
        ]
        assert repair(db, report).fixed == 2
        assert verify(db).clean
        corrupt()
        rebuild(db)
        assert verify(db).clean
        assert (shown(db), shown(db, "first")) == ((5, "b"), (1, "a"))


def test_what_is_shown_of_nothing_is_taken_away_and_its_owner_stays() -> None:
    with opened() as db:
        db.create(Room(room_id="r"))
        db.create(message("a", 1))
        Consumer(db).drain()
        key = message("a", 1).ref().wire()
        db.client.call("DeleteItem", {"TableName": "Extremes", "Key": key})
        report = verify(db)
        assert {plan(drift) for drift in report.drifts} == {"set it to the expected value"}
        repair(db, report)
        assert verify(db).clean
        assert shown(db) is None


def test_nobody_else_writes_what_is_shown() -> None:
    with opened() as db:
        db.create(Room(room_id="r"))
        db.create(message("a", 1))
        with pytest.raises(PlanError, match="last_id"):
            db.update(Room.key(room_id="r"), last_id="x")
        db.put(Room(room_id="r", title="new"))
        assert shown(db) == (1, "a")
        db.delete(Room.key(room_id="r"))
        assert verify(db).clean


def test_the_record_says_what_is_kept() -> None:
    (record,) = [one for one in design.schema.follows if one.name == "latest Room.last"]
    assert (record.fact, record.target, record.found) == ("best", "Room", "GSI1")


def _declared(**owner: Any) -> None:
    other = Design("wrong")
    place = other.table("Wrong")

    class Owner(Entity, table=place):
        owner_id: Id
        shown: int | None = None
        total: Annotated[int, Counter("Item", sums="rank")] = 0
        count: Annotated[int, Counter("Item")] = 0
        text: str = ""
        tags: set[str] = set()
        moves: int = 0
        key = Key("OWNER#{owner_id}", "OWNER")
        declared = owner["declared"]

    class Item(Entity, table=place):
        owner_id: Id
        item_id: Id
        rank: int
        tags: set[str] = set()
        key = Key("OWNER#{owner_id}", "ITEM#{item_id}")

    other.complete()


def test_ranks_compare_as_numbers_whatever_their_sign_and_digits() -> None:
    other = Design("ranks")
    place = other.table("Ranks")

    class Site(Entity, table=place):
        site_id: Id
        high: Decimal | None = None
        high_id: str | None = None
        highs: int = 0
        slow: timedelta | None = None
        slow_id: str | None = None
        slows: int = 0
        key = Key("SITE#{site_id}", "SITE")
        highest = Extreme(
            "Reading", by="rank", shows={"high": "rank", "high_id": "reading_id"}, moves="highs"
        )
        slowest = Extreme(
            "Reading", by="took", shows={"slow": "took", "slow_id": "reading_id"}, moves="slows"
        )

    class Reading(Entity, table=place):
        site_id: Id
        reading_id: Id
        rank: Decimal
        took: timedelta
        key = Key("SITE#{site_id}", "READING#{reading_id}")

    near = "-0.123456789012345678901234567890123456"
    ranks = [
        "-9e100",
        "-20",
        "-3",
        "-2.5",
        f"{near}78",
        f"{near}77",
        "1e-20",
        "2e-20",
        "1e9",
        "9e100",
    ]
    for order in (ranks, ranks[::-1]):
        with other.open(":memory:") as db:
            db.create(Site(site_id="s"))
            for place_of, rank in enumerate(order):
                took = timedelta(seconds=ranks.index(rank) * 7)
                name = f"r{len(ranks) - place_of}"
                db.create(Reading(site_id="s", reading_id=name, rank=Decimal(rank), took=took))
            for rank in ranks[::-1]:
                site: Any = db.get(Site.key(site_id="s"))
                assert site.high == Decimal(rank)
                assert site.slow == timedelta(seconds=ranks.index(rank) * 7)
                assert verify(db).drifts == []
                db.delete(Reading.key(site_id="s", reading_id=site.high_id))


ORDERS = [
    "{name}",
    "{name}#{book_id}",
    "{name:lower}#{book_id}",
    "{at:%Y-%m}#{book_id}",
    "{at:iso_s}",
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("smallest", [False, True])
def test_the_best_is_found_whatever_the_order_of_its_index_says(order: str, smallest: bool) -> None:
    other = Design("orders")
    place = other.table("Orders", indexes=[Index("GSI1", "gsi1pk", "gsi1sk")])
    by = "at" if "at" in order else "name"
    kind: Any = datetime if by == "at" else str

    class Shelf(Entity, table=place):
        shelf_id: Id
        best: kind | None = None
        best_id: str | None = None
        moves: int = 0
        key = Key("SHELF#{shelf_id}", "SHELF")
        shown = Extreme(
            "Book",
            by=by,
            shows={"best": by, "best_id": "book_id"},
            moves="moves",
            through="by_order",
            smallest=smallest,
        )

    class Book(Entity, table=place):
        shelf_id: Id
        book_id: Id
        name: str
        at: datetime
        tags: list[str] = []
        key = Key("BOOK#{book_id}", "BOOK")
        by_order = On("GSI1", "SHELF#{shelf_id}", order)

    names = ["C", "B", "a", "ab", "ab!", "D", "b", "c", "Ä"]
    start = datetime(2026, 1, 30, tzinfo=UTC)
    random.seed(order)
    with other.open(":memory:") as db:
        db.create(Shelf(shelf_id="s"))
        books = [
            Book(
                shelf_id="s",
                book_id=str(n),
                name=name,
                at=start + timedelta(hours=17 * n, milliseconds=n),
            )
            for n, name in enumerate(names)
        ]
        for book in random.sample(books, len(books)):
            db.create(book)
        while books:
            best = (min if smallest else max)(books, key=lambda one: getattr(one, by))
            shelf: Any = db.get(Shelf.key(shelf_id="s"))
            assert (shelf.best, shelf.best_id) == (getattr(best, by), best.book_id)
            assert verify(db).drifts == []
            db.delete(best.ref())
            books.remove(best)
        shelf = db.get(Shelf.key(shelf_id="s"))
        assert (shelf.best, shelf.best_id) == (None, None)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (lambda: Latest("Item", by="rank", shows={"nothing": "rank"}, moves="count"), "no field"),
        (
            lambda: Latest("Item", by="rank", shows={"shown": "rank"}, moves="text"),
            "must be an int",
        ),
        (lambda: Latest("Item", by="rank", shows={"shown": "rank"}, moves="count"), "must show"),
        (
            lambda: Latest(
                "Item", by="tags", shows={"tags": "tags", "text": "item_id"}, moves="moves"
            ),
            "tags of Item is of kind string_set, which has no order",
        ),
        (lambda: Average("text", "count"), "is not a counter"),
        (lambda: Average("count", "total"), "must be a sum"),
    ],
)
def test_a_declaration_that_cannot_be_kept_is_refused(declared: Any, words: str) -> None:
    with pytest.raises(DeclarationError, match=words):
        _declared(declared=declared())


def test_a_design_file_says_and_gives_back_what_is_kept() -> None:
    text = file.dumps(design.schema)
    again = file.loads(text, file="extremes.yaml")
    kept = [one for one in design.schema.follows if one.kind in ("latest", "extreme", "average")]
    assert len(kept) >= 3
    assert [one for one in again.follows if one.kind in ("latest", "extreme", "average")] == kept


def test_documents_know_what_is_kept() -> None:
    text = markdown(document(design.schema), pictures="pictures")
    assert "`lastText`" in text
    assert "latest Room.late" in text


ROOMS = """
from keyfold import Design, Entity, Id, Key
from keyfold.structures import Extreme, Latest

design = Design("rooms")
table = design.table("Rooms")


class Message(Entity, table=table):
    room_id: Id
    message_id: Id
    sent: int
    key = Key("ROOM#{room_id}", "MESSAGE#{message_id}")


class Room(Entity, table=table):
    room_id: Id
    last_id: str | None = None
    last_sent: int | None = None
    moves: int = 0
    key = Key("ROOM#{room_id}", "ROOM")
"""
LARGEST, SMALLEST = (
    f"""
    last = {kind}("Message", by="sent", shows=dict(last_id="message_id", last_sent="sent"),
        moves="moves"{more})
"""
    for kind, more in (("Latest", ""), ("Extreme", ", smallest=True"))
)


@pytest.mark.parametrize(("was", "now", "shows"), [("", LARGEST, 2), (LARGEST, SMALLEST, 0)])
def test_a_migration_that_adds_or_changes_it_leaves_verify_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was: str, now: str, shows: int
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    client = EmbeddedClient(Engine.open(":memory:"))
    before = _rooms(tmp_path, "rooms_before", was)
    old = before.open(client)
    for name in ("r1", "r2"):
        old.create(before.entities["Room"](room_id=name))
        for sent in range(3):
            old.create(before.entities["Message"](room_id=name, message_id=f"m{sent}", sent=sent))
    after = _rooms(tmp_path, "rooms_after", now)
    made = draft("newest", before.schema, after.schema, design="rooms_after:design")
    migration = load(made.save(tmp_path))
    sys.modules.pop("rooms_after", None)
    Migrator(migration, Backend(client), without_routers=True).apply("contract")
    db = after.open(client, create_tables=False)
    found: Any = db.get(after.entities["Room"].key(room_id="r1"))
    assert found.last_sent == shows
    assert verify(db).drifts == []


def _rooms(folder: Path, name: str, extra: str) -> Any:
    (folder / f"{name}.py").write_text(ROOMS + extra)
    try:
        return importlib.import_module(name).design
    finally:
        del sys.modules[name]
