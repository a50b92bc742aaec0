"""Writing where an item has expired that nobody has deleted yet: it counts as gone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated

import pytest

from keyfold import Counter, Db, Design, Entity, Key, Pointer, Timestamp, Ttl, create
from keyfold.conditions import missing
from keyfold.errors import AlreadyExists
from keyfold.maintain import verify
from keyfold.testing import Sandbox

design = Design("offers")
table = design.table("offers", ttl="ttl", stream="NEW_AND_OLD_IMAGES")
DAY = timedelta(days=1).total_seconds()


class Shop(Entity, table=table):
    """A shop."""

    shop_id: str
    offers: Annotated[int, Counter("Offer")] = 0

    key = Key("SHOP#{shop_id}", "SHOP")


class Offer(Entity, table=table):
    """Something that a shop offers for a day."""

    shop_id: str
    offer_id: str
    town: str = "Bern"
    made_at: Timestamp
    expires_at: Annotated[Timestamp | None, Ttl(days=1, after="made_at")] = None

    key = Key("SHOP#{shop_id}", "OFFER#{offer_id}")


class TownOffer(Pointer[Offer], table=table):
    """The same, seen from its town."""

    town: str
    offer_id: str
    made_at: Timestamp
    expires_at: Annotated[Timestamp | None, Ttl()] = None

    key = Key("TOWN#{town}", "OFFER#{offer_id}")


@pytest.fixture
def shop() -> Iterator[tuple[Db, Sandbox]]:
    with Sandbox() as sandbox, sandbox.open(design) as db:
        db.create(Shop(shop_id="s"))
        yield db, sandbox


def offer(db: Db, town: str = "Bern") -> Offer:
    return Offer(shop_id="s", offer_id="o", town=town, made_at=db.context.now())


def right(db: Db) -> None:
    assert db.get(Shop.key(shop_id="s")).offers == 1
    assert verify(db).clean


def test_what_has_expired_is_no_obstacle_and_what_was_kept_for_it_goes(
    shop: tuple[Db, Sandbox],
) -> None:
    db, sandbox = shop
    db.create(offer(db))
    with pytest.raises(AlreadyExists):
        db.create(offer(db))
    sandbox.clock.advance(DAY)
    db.create(offer(db, "Thun"))
    keys = {(one["PK"]["S"], one["SK"]["S"]) for one in sandbox.items("offers")}
    assert keys == {("SHOP#s", "SHOP"), ("SHOP#s", "OFFER#o"), ("TOWN#Thun", "OFFER#o")}
    right(db)


def test_the_same_within_a_transaction_and_for_a_put(shop: tuple[Db, Sandbox]) -> None:
    db, sandbox = shop
    db.create(offer(db))
    sandbox.clock.advance(DAY)
    db.transact(create(offer(db, "Thun")), create(Shop(shop_id="t")))
    sandbox.clock.advance(DAY)
    db.put(offer(db), where=lambda one: missing(one.town))
    right(db)


def test_a_put_over_an_item_renews_its_computed_end(shop: tuple[Db, Sandbox]) -> None:
    db, sandbox = shop
    first = db.create(offer(db))
    again = db.put(offer(db, "Thun"))
    assert again.expires_at == first.expires_at
    sandbox.clock.advance(DAY / 2)
    later = db.put(offer(db, "Thun"))
    assert later.expires_at == later.made_at + timedelta(days=1)
    assert db.get(later.ref()).expires_at == later.expires_at
    right(db)
