"""Uses of the marketplace that every type checker refuses: each line marked `refused`."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from keyfold import AsyncDb, Db, add, create, remove, update
from keyfold.conditions import at

from .entities import (
    AuditEntry,
    CartLine,
    Order,
    OrderLine,
    OrderState,
    Product,
    Review,
    Shop,
    Tagged,
    User,
)
from .right import (
    audit,
    cheapest,
    last_order,
    order_page,
    product_page,
    products,
    seller_and_shop,
    user,
)


def wrong(db: Db, u: User, s: Shop, p: Product, o: Order, t: Tagged, now: datetime) -> None:
    db.update(p, titel="x")  # refused: no such field
    db.update(p, price="3")  # refused: text for a decimal
    db.update(p, stock=None)  # refused: the field is not optional
    db.update(p, stock=add("x"))  # refused: text added to a number
    db.update(p, reviews=3)  # refused: a counter is counted
    db.update(p, version=3)  # refused: the version is counted
    db.update(p, product_id="x")  # refused: part of the key
    db.update(p, tags=remove({3}))  # refused: numbers out of a set of texts
    db.update(t, price=Decimal(3))  # refused: a pointer follows its canonical
    db.update(o, state="paid")  # refused: text for a member of an enum
    db.update(o, state=OrderState.PAID, where=lambda o: o.sate == "x")  # refused: a condition
    db.update(s, state="shut")  # refused: no such state
    db.update(s, address="Oslo")  # refused: text for a model
    db.update(s, at.set(lambda s: s.address.town, "Oslo"))  # refused: no such place
    db.update(p, at.set(lambda p: p.stock, 3, 4))  # refused: two values
    db.update(p, "stock")  # refused: text for a change
    db.upsert(CartLine.key(user_id="u", product_id="p"), piece=add(1))  # refused: no such field
    db.move(o, order="x")  # refused: no such field
    User.key(user="x")  # refused: no such key field
    OrderLine.key(order_id="o")  # refused: half a key
    OrderLine.key(order_id="o", number="7")  # refused: text for a number
    Shop.by_city.query(city="Oslo")  # refused: it is given as address_city
    Shop.by_city.query(address_city=7)  # refused: a number for text
    Product.by_price.query(category="c").until(price=3.5)  # refused: a float for a decimal
    Product.by_price.query(category="c").until(cost=Decimal(3))  # refused: no such sort field
    Order.by_total.query(shop_id="s")  # refused: half a partition
    Order.by_total.query(shop_id="s", state="paid")  # refused: text for a member of an enum
    totals = Order.by_total.query(shop_id="s", state=OrderState.PAID)
    totals.since(total="3")  # refused: text for a decimal
    totals.since(order_id="o")  # refused: not the next sort field
    AuditEntry.key.query(day=now)  # refused: no such key field
    Order.by_month.query(shop_id="s")  # refused: the month is missing
    print(db.get(Review.key(product_id="p", user_id="u")).star)  # refused: no such field
    cheapest(db, "c", 3)  # refused: a whole number for a decimal
    audit(db, "2026-01-01")  # refused: text for a time
    print(user(db, "u").name)  # refused: it may be missing
    print(last_order(db, "u").total)  # refused: it may be missing
    print(product_page(db, "p").one(Product).titel)  # refused: no such field
    print(order_page(db, "o").items[0].titel)  # refused: no such field
    print(products(db, ["p"])[0].title)  # refused: it may be missing
    print(seller_and_shop(db, "u", "s")[1].title)  # refused: it may be missing
    made, _ = db.transact(create(u), update(p.ref(), stock=add(1)))
    print(made.title)  # refused: it is a user
    db.transact(update(o, stat=OrderState.PAID))  # refused: no such field


async def wrong_async(db: AsyncDb, p: Product) -> None:
    await db.update(p, titel="y")  # refused: no such field
    await db.upsert(p.ref(), stock="y")  # refused: text for a number
    last_order(db, "u")  # refused: a forgotten await
