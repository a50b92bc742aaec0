"""The marketplace of tests/typing: it runs, its document and its types are up to date."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from tests.typing.marketplace import right as asked
from tests.typing.marketplace.entities import (
    Address,
    AuditEntry,
    Card,
    Follow,
    News,
    Order,
    OrderLine,
    OrderState,
    Payment,
    Product,
    Review,
    Shop,
    User,
    design,
    feed,
)

from keyfold import Db
from keyfold.errors import AlreadyExists, StepRefused, ValueRefused
from keyfold.maintain.verify import verify
from keyfold.review.check import check
from keyfold.review.typed_module import typed_modules
from keyfold.streams import Consumer

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
OSLO = Address(street="A 1", city="Oslo")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(User(user_id="u", email="Ada@x.org", name="Ada"))
        opened.create(Shop(shop_id="s", owner_id="u", title="Tea", address=OSLO))
        for n, price in enumerate(["9.90", "100", "20.50"]):
            opened.create(
                Product(
                    product_id=f"p{n}",
                    shop_id="s",
                    title=f"Tea {n}",
                    category="tea",
                    price=Decimal(price),
                    stock=3,
                    tags={"hot"},
                )
            )
        yield opened


def test_shops_and_products_are_found(db: Db) -> None:
    assert [shop.title for shop in asked.shops_in(db, "Oslo")] == ["Tea"]
    assert [p.product_id for p in asked.products_of(db, "s", "tea 1")] == ["p1", "p2"]
    assert [p.product_id for p in asked.cheapest(db, "tea", Decimal(50))] == ["p0", "p2"]
    assert [t.heading for t in asked.tagged(db, "hot")] == ["Tea 0", "Tea 1", "Tea 2"]
    assert [p and p.price for p in asked.products(db, ["p1", "x"])] == [Decimal(100), None]
    seller, shop = asked.seller_and_shop(db, "u", "s")
    assert seller is not None
    assert shop is not None
    assert (seller.email, shop.products) == ("ada@x.org", 3)


def test_stock_is_held_and_never_oversold(db: Db) -> None:
    product = db.get(Product.key(product_id="p0"))
    asked.hold(db, product, "u", 2, datetime.now(UTC))
    assert asked.holds_something(db, "u")
    with pytest.raises(AlreadyExists):
        asked.hold(db, product, "u", 1, NOW)
    with pytest.raises(ValueRefused):
        asked.hold(db, product, "v", 2, NOW)
    assert db.get(product.ref()).stock == 1


def test_an_order_is_paid_once_and_read_as_a_whole(db: Db) -> None:
    order = db.create(Order(order_id="o", user_id="u", shop_id="s", at=NOW, total=Decimal(20)))
    db.create(OrderLine(order_id="o", number=1, product_id="p0", pieces=2, price=Decimal(10)))
    payment = Payment(order_id="o", reference="r1", means=Card(last_digits="1234"))
    assert asked.pay(db, order, payment).state is OrderState.PAID
    with pytest.raises((StepRefused, AlreadyExists)):
        asked.pay(db, db.get(order.ref()), payment.model_copy(update={"reference": "r2"}))
    page = asked.order_page(db, "o")
    assert page.one(Payment).means == Card(last_digits="1234")
    assert [line.number for line in page.of(OrderLine)] == [1]
    assert asked.last_order(db, "u") == page.one(Order)
    april = NOW + timedelta(days=30)
    assert [one.order_id for one in asked.sales(db, "s", [NOW, april])] == ["o"]


def test_reviews_carts_names_and_addresses(db: Db) -> None:
    for n, stars in enumerate([5, 2]):
        db.create(Review(product_id="p0", user_id=f"u{n}", at=NOW, stars=stars))
    page = asked.product_page(db, "p0")
    assert page.one(Product).rating == Decimal("3.5")
    assert len(page.of(Review)) == 2
    assert [asked.put_into_cart(db, "u", "p0") for _ in range(2)] == [1, 2]
    assert asked.cart_size(db, "u") == 1
    assert asked.rename(db, page.one(Product), "Green tea") == "Green tea"
    assert [t.heading for t in asked.tagged(db, "renamed")] == ["Green tea"]
    user = asked.user(db, "u")
    assert user is not None
    assert asked.move_out(db, user, "home", OSLO).addresses == {"home": OSLO}


def test_news_reach_followers_and_the_audit_is_by_day(db: Db) -> None:
    db.create(Follow(follower_id="u", shop_id="s"))
    db.create(News(shop_id="s", at=datetime.now(UTC), news_id="n", text="new tea"))
    Consumer(db).catch_up()
    assert [item.text for item in feed.page(db, "u")] == ["new tea"]
    db.create(AuditEntry(entry_id="a", at=NOW, actor_id="u", action="posted"))
    assert [one.action for one in asked.audit(db, NOW, NOW)] == ["posted"]
    assert asked.audit(db, NOW + timedelta(days=1)).items == []
    assert verify(db).clean


def test_the_design_has_no_errors_and_its_types_are_up_to_date() -> None:
    found = check(design.schema).findings
    assert [f"{one.code} {one.subject}" for one in found if one.severity == "error"] == []
    assert len([e for e in design.schema.entities if e.role != "counter"]) >= 13
    assert len(design.schema.patterns) >= 13
    [module] = typed_modules(design.entities.values())
    assert not module.stale
