"""Number and binary keys: rendered, read back, ranged over."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold import Db, Design, Entity, Id, Index, Key, On, Query, merge
from keyfold.errors import DeclarationError, KeyValueRefused, PlanError

design = Design("keytypes")
prices = design.table(
    "prices",
    sort_type="N",
    indexes=[Index("ByDigest", "digest", "weight", partition_type="B", sort_type="N")],
    naming="camel",
)
digests = design.table("digests", sort_type="B", type_attribute=None)


class Price(Entity, table=prices):
    shop_id: Id
    amount: Decimal
    digest: bytes | None = None
    weight: int = 0
    key = Key("SHOP#{shop_id}", "{amount}")
    by_digest = On("ByDigest", "{digest}", "{weight}", when="digest")


class Blob(Entity, table=digests):
    owner_id: Id
    hash: bytes
    key = Key("OWNER#{owner_id}", "{hash}")


@design.pattern(requests=1)
def prices_between(shop_id: str, low: Decimal, high: Decimal) -> Query[Price]:
    return Price.key.query(shop_id=shop_id).after(amount=low).before(amount=high)


@design.pattern(requests=1)
def prices_of(digest: bytes) -> Query[Price]:
    return Price.by_digest.query(digest=digest)


@design.pattern(requests=1)
def blobs_between(owner_id: str, low: bytes, high: bytes) -> Query[Blob]:
    return Blob.key.query(owner_id=owner_id).since(hash=low).until(hash=high)


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as handle:
        yield handle


def test_a_decimal_key_keeps_its_fraction(db: Db) -> None:
    price = db.create(Price(shop_id="s", amount=Decimal("9.99")))
    assert price.ref().wire()["SK"] == {"N": "9.99"}
    assert db.get(Price.key(shop_id="s", amount=Decimal("9.990"))) == price


@given(
    stored=st.sets(st.decimals("-5", "5", places=1), min_size=1, max_size=12),
    low=st.decimals("-5", "5", places=1),
    high=st.decimals("-5", "5", places=1),
)
def test_an_exclusive_range_over_fractions_holds_what_lies_between(
    stored: set[Decimal], low: Decimal, high: Decimal
) -> None:
    with design.open(":memory:") as db:
        for amount in stored:
            db.put(Price(shop_id="s", amount=amount))
        found = [price.amount for price in prices_between(db, "s", low, high)]
    assert found == sorted(a for a in stored if low < a < high)


def test_a_binary_partition_of_an_index_is_found(db: Db) -> None:
    price = db.create(Price(shop_id="s", amount=Decimal(1), digest=b"\x00\xff", weight=3))
    db.create(Price(shop_id="s", amount=Decimal(2), digest=b"\x00", weight=3))
    assert prices_of(db, b"\x00\xff").items == [price]
    db.update(price, digest=None)
    assert prices_of(db, b"\x00\xff").items == []


def test_a_binary_sort_key_orders_by_its_bytes(db: Db) -> None:
    for content in (b"\xff", b"\x00", b"a", b"aa"):
        db.create(Blob(owner_id="o", hash=content))
    assert [b.hash for b in blobs_between(db, "o", b"\x00", b"aa")] == [b"\x00", b"a", b"aa"]


def test_an_empty_or_foreign_binary_value_is_refused(db: Db) -> None:
    with pytest.raises(KeyValueRefused, match="hash=b'' is not bytes, or is empty"):
        db.create(Blob(owner_id="o", hash=b""))


def test_a_range_over_binary_keys_includes_its_ends(db: Db) -> None:
    with pytest.raises(PlanError, match="must include both ends"):
        db.read(Blob.key.query(owner_id="o").after(hash=b"a").before(hash=b"b"))


def test_bytes_in_a_text_key_are_refused_when_declared() -> None:
    other = Design("other")
    table = other.table("t")
    with pytest.raises(
        DeclarationError, match="raw is of kind binary, which cannot be part of a text"
    ):

        class Raw(Entity, table=table):
            raw: bytes
            key = Key("RAW#{raw}", "RAW")


def test_text_in_a_binary_key_is_refused_when_declared() -> None:
    other = Design("other")
    table = other.table("t", sort_type="B")
    with pytest.raises(DeclarationError, match="SK is binary"):

        class Named(Entity, table=table):
            name: str
            key = Key("N#{name}", "{name}")


def test_a_merge_by_binary_keys_is_refused_when_declared() -> None:
    with pytest.raises(DeclarationError, match="no sort key of one text or number"):
        merge(Blob.key.query(owner_id="a"), Blob.key.query(owner_id="b"))
