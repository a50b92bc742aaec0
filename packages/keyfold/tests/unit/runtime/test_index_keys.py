"""Index keys that are fields of their own, and indexes of the table's own partitions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from keyfold import Db, Design, Entity, Id, Index, Key, On, Query, Timestamp

design = Design("offers")
table = design.table(
    "Offers",
    indexes=[
        Index("Public", "isPublicStr", "createdAt"),
        Index("ByCreation", "PK", "listedAt", local=True),
    ],
)


class Offer(Entity, table=table):
    shop_id: Id
    offer_id: Id
    is_public: bool
    created_at: Timestamp
    key = Key("SHOP#{shop_id}", "OFFER#{offer_id}")
    by_newest = On("Public", "true", "{created_at:iso}", when=lambda o: o.is_public)
    by_creation = On("ByCreation", "SHOP#{shop_id}", "{created_at:iso}#{offer_id}")


@design.pattern(requests=1)
def offers(shop_id: str) -> Query[Offer]:
    """The offers of a shop in the order of their creation."""
    return Offer.by_creation.query(shop_id=shop_id).consistent()


@design.pattern(requests=1)
def public_offers() -> Query[Offer]:
    """Public offers."""
    return Offer.by_newest.query()


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def made(db: Db, offer_id: str, hour: int) -> Offer:
    at = datetime(2026, 1, 1, hour, tzinfo=UTC)
    return db.create(Offer(shop_id="s", offer_id=offer_id, is_public=True, created_at=at))


def test_what_leaves_an_index_keeps_the_fields_that_its_key_was_made_of(db: Db) -> None:
    offer = made(db, "o", 1)
    hidden = db.update(offer.ref(), is_public=False)
    assert hidden == offer.model_copy(update={"is_public": False})
    assert db.get(offer.ref()) == hidden
    assert public_offers(db).items == []
    db.update(offer.ref(), is_public=True)
    assert public_offers(db).items == [offer]


def test_a_local_index_is_read_consistently(db: Db) -> None:
    late, early = made(db, "a", 2), made(db, "b", 1)
    assert offers(db, "s").items == [early, late]
    assert next(p for p in design.schema.patterns if p.name == "offers").consistent
