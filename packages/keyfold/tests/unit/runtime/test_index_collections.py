"""Collections over an index: several entities in one query, by type, bounded, merged."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from keyfold import (
    Collection,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    Merge,
    On,
    Timestamp,
    collection,
    each,
    merge,
)
from keyfold.design.file import dumps, loads
from keyfold.errors import DeclarationError, MissingKeyField
from keyfold.review.check import check
from keyfold.review.draft.python import declaration

design = Design("helpdesk")
table = design.table(
    "helpdesk",
    indexes=[
        Index("GSI1", "GSI1PK", "GSI1SK"),
        Index("GSI2", "GSI2PK", "GSI2SK"),
        Index("Slim", "GSI1PK", "GSI1SK", projection="KEYS_ONLY"),
    ],
)


class Customer(Entity, table=table):
    customer_id: Id
    name: str
    key = Key("CUSTOMER#{customer_id}", "CUSTOMER")
    home = On("GSI1", "CUSTOMER#{customer_id}", "A")


class Order(Entity, table=table):
    order_id: Id
    customer_id: Id
    at: Timestamp
    key = Key("ORDER#{order_id}", "ORDER")
    by_customer = On("GSI1", "CUSTOMER#{customer_id}", "ORDER#{at:iso}#{order_id}")
    by_time = On("GSI2", "TIME#{customer_id}", "{at:iso}#{order_id}")
    slim = On("Slim", "CUSTOMER#{customer_id}", "ORDER#{at:iso}#{order_id}")


class Ticket(Entity, table=table):
    ticket_id: Id
    customer_id: Id
    at: Timestamp
    key = Key("TICKET#{ticket_id}", "TICKET")
    by_customer = On("GSI1", "CUSTOMER#{customer_id}", "TICKET#{at:iso}")
    by_time = On("GSI2", "TIME#{customer_id}", "{at:iso}#{ticket_id}")


class Memo(Entity, table=table):
    memo_id: Id
    customer_id: Id
    key = Key("MEMO#{memo_id}", "MEMO")
    by_customer = On("GSI1", "CUSTOMER#{customer_id}", "P#{memo_id}")


@design.pattern(requests=1)
def account(customer_id: str) -> Collection[Customer | Order | Ticket]:
    """A customer with orders and tickets."""
    return collection(Customer.home, Order.by_customer, Ticket.by_customer, customer_id=customer_id)


@design.pattern(requests=1)
def recent(customer_id: str, since: datetime, limit: int = 10) -> Collection[Order | Ticket]:
    """What happened lately, newest first."""
    happened = collection(Order.by_time, Ticket.by_time, customer_id=customer_id)
    return happened.since(at=since).descending().limit(limit)


@design.pattern()
def of_many(customer_ids: list[str]) -> Merge[Order | Ticket]:
    """What happened to several customers, in one list."""
    return merge(
        collection(Order.by_time, Ticket.by_time, customer_id=each(customer_ids)).descending()
    ).limit(3)


NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        for customer in ("c1", "c2"):
            opened.create(Customer(customer_id=customer, name=customer))
            for n in range(3):
                opened.create(
                    Order(
                        order_id=f"{customer}o{n}",
                        customer_id=customer,
                        at=NOON + timedelta(hours=2 * n),
                    )
                )
                opened.create(
                    Ticket(
                        ticket_id=f"{customer}t{n}",
                        customer_id=customer,
                        at=NOON + timedelta(hours=2 * n + 1),
                    )
                )
        opened.create(Memo(memo_id="m", customer_id="c1"))
        yield opened


def test_one_query_gives_all_entities_of_a_partition_of_an_index_by_type(db: Db) -> None:
    found = account(db, "c1")
    assert found.one(Customer).name == "c1"
    assert [order.order_id for order in found.of(Order)] == ["c1o0", "c1o1", "c1o2"]
    assert [ticket.ticket_id for ticket in found.of(Ticket)] == ["c1t0", "c1t1", "c1t2"]
    assert len(found.items) == 7


def test_entities_with_a_common_order_are_bounded_and_read_backwards(db: Db) -> None:
    found = recent(db, "c1", NOON + timedelta(hours=2))
    assert [item.at.hour for item in found.items] == [17, 16, 15, 14]
    page = recent(db, "c1", NOON, limit=4)
    assert [item.at.hour for item in page.items] == [17, 16, 15, 14]
    rest = recent.after(page.cursor)(db, "c1", NOON, limit=4)
    assert [item.at.hour for item in rest.items] == [13, 12]


def test_collections_of_several_partitions_are_merged_under_one_cursor(db: Db) -> None:
    ids = []
    for page in of_many.pages(db, ["c1", "c2"]):
        assert len(page) <= 3
        ids += [next(iter(item.ref().values.values())) for item in page]
    newest = [f"{c}{kind}{n}" for n in (2, 1, 0) for kind in ("t", "o") for c in ("c2", "c1")]
    assert ids == newest


def test_keys_of_several_indexes_are_no_collection() -> None:
    with pytest.raises(DeclarationError, match="do not share a partition"):
        collection(Order.by_customer, Ticket.by_time, customer_id="c")
    with pytest.raises(DeclarationError, match="do not share a partition"):
        collection(Customer, Order.by_customer, customer_id="c")
    with pytest.raises(MissingKeyField, match="customer_id"):
        collection(Order.by_customer, Ticket.by_customer)


def test_a_range_that_not_all_have_is_refused() -> None:
    with pytest.raises(DeclarationError, match="cannot be served by a collection"):
        collection(Order.by_customer, Ticket.by_customer, customer_id="c").since(at=NOON)


def test_an_index_has_no_consistent_collection_and_must_hold_the_fields(db: Db) -> None:
    with pytest.raises(DeclarationError, match="does not support consistent reads"):
        collection(Order.by_time, Ticket.by_time, customer_id="c").consistent()
    with pytest.raises(DeclarationError, match="does not hold"):
        db.read(collection(Order.slim, customer_id="c"))


def test_the_document_check_and_design_file_know_the_index() -> None:
    schema = design.schema
    pattern = schema.by_pattern["recent"]
    assert (pattern.kind, pattern.index, pattern.descending) == ("collection", "GSI2", True)
    assert pattern.entities == ("Order", "Ticket")
    [bleeding] = [f for f in check(schema).findings if f.severity == "error"]
    assert (bleeding.code, bleeding.subject) == ("Q1", "account")
    assert "also returns Memo" in bleeding.message
    again = loads(dumps(schema)).by_pattern["recent"]
    assert again.index == "GSI2"
    assert again.partition == pattern.partition
    assert schema.by_pattern["of_many"].entities == ("Order", "Ticket")


FILE = """
design: desk
tables:
  desk:
    key: [PK, SK]
    indexes:
      GSI1: {key: [GSI1PK, GSI1SK]}
entities:
  Order:
    key: {PK: "ORDER#{orderId}", SK: ORDER}
    attributes: {orderId: id, customerId: id}
    indexes: {GSI1: {GSI1PK: "C#{customerId}", GSI1SK: "ORDER#{orderId}"}}
  Ticket:
    key: {PK: "TICKET#{ticketId}", SK: TICKET}
    attributes: {ticketId: id, customerId: id}
    indexes: {GSI1: {GSI1PK: "C#{customerId}", GSI1SK: "TICKET#{ticketId}"}}
patterns:
  account: {collection: [Order, Ticket], index: GSI1, partition: "C#{customerId}"}
"""


def test_a_design_file_with_a_collection_over_an_index_becomes_python() -> None:
    text, unserved = declaration(loads(FILE))
    assert unserved == []
    assert "collection(Order.by_gsi1, Ticket.by_gsi1, customer_id=customer_id)" in text
