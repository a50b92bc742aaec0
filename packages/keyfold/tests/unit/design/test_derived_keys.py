"""Keys from derived parts: buckets, shards, nested and computed values; fields only in keys."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, computed_field

from keyfold import (
    Created,
    Design,
    Entity,
    Id,
    Index,
    InKey,
    Key,
    On,
    Stored,
    Timestamp,
    each,
    merge,
)
from keyfold.design.file import dumps, loads
from keyfold.design.template import parse_template
from keyfold.errors import DeclarationError, KeyValueRefused, PlanError, Undecodable
from keyfold.migrations.diff import diff
from keyfold.review.check import check
from keyfold.review.docs import files
from keyfold.structures import across_shards


class Address(BaseModel):
    street: str
    city: str


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


design = Design("derived")
table = design.table(
    "derived",
    indexes=[Index("GSI1", "GSI1PK", "GSI1SK"), Index("GSI2", "GSI2PK", "GSI2SK", sort_type="N")],
)
foreign = design.table("foreign", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")], type_attribute=None)


class Shop(Entity, table=table):
    shop_id: Id
    email: str
    address: Address | None = None
    price: Decimal = Decimal(0)
    size: Size = Size.SMALL
    opened: date = date(2026, 1, 2)

    key = Key("SHOP#{shop_id}", "SHOP")
    by_city = On("GSI1", "CITY#{address.city}#{size}", "{price:010.2f}#{shop_id}", when="address")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def domain(self) -> str:
        return self.email.rpartition("@")[2]


class Mail(Entity, table=table):
    mail_id: Id
    email: str
    at: Annotated[Timestamp, Stored("epoch_ms")]
    note: str = ""

    key = Key("MAILS#{mail_id:shard4}", "{mail_id}")
    by_domain = On("GSI1", "DOMAIN#{domain}", "{at:%Y-%m}#{mail_id}")
    by_month = On("GSI2", "MONTH#{at:%Y-%m}", "{at:epoch_ms}")

    @property
    def domain(self) -> str:
        return self._behind_at()

    def _behind_at(self) -> str:
        return self.email.rpartition("@")[2]


class Line(Entity, table=foreign):
    order_id: Annotated[Id, InKey()]
    number: Annotated[int, InKey()]
    at: Annotated[Timestamp, InKey()]
    text: str
    seller: Annotated[str | None, InKey()] = None
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("ORDER#{order_id}", "LINE#{number:05d}#{at:iso_ms}")
    by_seller = On("GSI1", "SELLER#{seller}", "{order_id}", when="seller")


@pytest.fixture
def db() -> Any:
    with design.open(":memory:") as opened:
        yield opened


def stored(db: Any, ref: Any) -> dict[str, Any]:
    name = ref.entity.__table__.name
    found: dict[str, Any] = db.client.call("GetItem", {"TableName": name, "Key": ref.wire()})[
        "Item"
    ]
    return found


NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def test_a_field_that_stands_only_in_the_key_is_read_from_it_and_stored_nowhere_else(
    db: Any,
) -> None:
    line = db.create(Line(order_id="o1", number=7, at=NOON, text="tea", seller="s1"))
    item = stored(db, line.ref())
    assert item.keys() == {"PK", "SK", "text", "GSI1PK", "GSI1SK", "createdAt"}
    assert db.get(Line.key(order_id="o1", number=7, at=NOON)) == line
    assert (line.order_id, line.number, line.at, line.seller) == ("o1", 7, NOON, "s1")


def test_items_that_somebody_else_wrote_are_read_by_their_keys(db: Any) -> None:
    item = {
        "PK": {"S": "ORDER#x"},
        "SK": {"S": "LINE#00001#2026-03-05T12:00:00.000Z"},
        "text": {"S": "t"},
    }
    db.client.call("PutItem", {"TableName": "foreign", "Item": item})
    [found] = db.read(Line.key.query(order_id="x"))
    assert (found.order_id, found.number, found.at, found.seller) == ("x", 1, NOON, None)


def test_a_field_in_an_index_key_changes_with_it(db: Any) -> None:
    line = db.create(Line(order_id="o1", number=7, at=NOON, text="tea", seller="s1"))
    moved = db.update(line, seller="s2")
    assert moved.seller == "s2"
    assert db.get(line.ref()).seller == "s2"
    assert [one.number for one in db.read(Line.by_seller.query(seller="s2"))] == [7]
    assert db.update(moved, seller=None).seller is None
    assert db.get(line.ref()).seller is None
    assert "GSI1PK" not in stored(db, line.ref())
    db.delete(db.get(line.ref()))
    assert db.find(line.ref()) is None


def test_a_key_of_another_form_is_not_read_as_something(db: Any) -> None:
    item = {"PK": {"S": "ORDER#x"}, "SK": {"S": "LINE#00001"}, "text": {"S": "t"}}
    db.client.call("PutItem", {"TableName": "foreign", "Item": item})
    with pytest.raises(Undecodable, match="SK"):
        db.read(Line.key.query(order_id="x"))


def test_a_condition_on_a_field_that_is_only_in_the_key_is_refused_in_words(db: Any) -> None:
    line = db.create(Line(order_id="o1", number=7, at=NOON, text="tea"))
    with pytest.raises(PlanError, match="is stored only in the key SK"):
        db.update(line, text="x", where=lambda one: one.number == 7)


def test_a_field_of_which_no_key_holds_the_value_cannot_be_in_the_key_only() -> None:
    with pytest.raises(DeclarationError, match="no key of Lost holds it unchanged"):

        class Lost(Entity, table=Design("x").table("x")):
            at: Annotated[Timestamp, InKey()]
            lost_id: Id
            key = Key("LOST#{at:%Y-%m}", "{lost_id}")


def test_a_field_is_not_kept_in_an_index_that_items_leave_for_other_reasons() -> None:
    with pytest.raises(DeclarationError, match="would be lost"):

        class Lost(Entity, table=Design("x").table("x", indexes=[Index("GSI1", "GSI1PK")])):
            lost_id: Id
            owner: Annotated[str, InKey()]
            open: bool = True
            key = Key("LOST#{lost_id}", "LOST")
            by_owner = On("GSI1", "OWNER#{owner}", when=lambda one: one.open)


def test_a_value_inside_a_model_is_part_of_an_index_key(db: Any) -> None:
    shop = db.create(
        Shop(
            shop_id="1",
            email="a@x.org",
            address=Address(street="A", city="Oslo"),
            price=Decimal("9.5"),
        )
    )
    db.create(Shop(shop_id="2", email="b@x.org"))
    assert stored(db, shop.ref())["GSI1PK"] == {"S": "CITY#Oslo#small"}
    assert stored(db, shop.ref())["GSI1SK"] == {"S": "0000009.50#1"}
    assert db.read(Shop.by_city.query(address_city="Oslo", size=Size.SMALL)).items == [shop]
    moved = db.update(shop, address=Address(street="B", city="Rome"))
    assert db.read(Shop.by_city.query(address_city="Rome", size=Size.SMALL)).items == [moved]
    assert db.read(Shop.by_city.query(address_city="Oslo", size=Size.SMALL)).items == []
    db.update(moved, address=None)
    assert db.read(Shop.by_city.query(address_city="Rome", size=Size.SMALL)).items == []


def test_padded_decimals_sort_as_numbers_do_and_refuse_what_would_not(db: Any) -> None:
    oslo = Address(street="A", city="Oslo")
    for number, price in enumerate(["10", "9.99", "100.5", "0.05"]):
        db.create(Shop(shop_id=str(number), email="a@x.org", address=oslo, price=Decimal(price)))
    query = Shop.by_city.query(address_city="Oslo", size=Size.SMALL)
    assert [str(one.price) for one in db.read(query)] == ["0.05", "9.99", "10", "100.5"]
    assert [
        str(one.price)
        for one in db.read(query.since(price=Decimal("9.99")).before(price=Decimal(100)))
    ] == ["9.99", "10"]
    for wrong in ("0.001", "-1", "123456789"):
        with pytest.raises(KeyValueRefused, match="does not fit"):
            db.create(Shop(shop_id="x", email="a@x.org", address=oslo, price=Decimal(wrong)))


def test_a_computed_field_is_part_of_an_index_key_and_follows_what_it_is_computed_from(
    db: Any,
) -> None:
    mail = db.create(Mail(mail_id="m1", email="a@x.org", at=NOON))
    assert Mail.by_domain.declared.derived["domain"].sources == {"email"}
    assert db.read(Mail.by_domain.query(domain="x.org")).items == [mail]
    with db.work("note") as work:
        db.update(mail, note="n")
    assert sum(one.requests for one in work.usage.values()) == 1
    db.update(mail.ref(), email="a@y.org")
    assert db.read(Mail.by_domain.query(domain="x.org")).items == []
    assert [one.mail_id for one in db.read(Mail.by_domain.query(domain="y.org"))] == ["m1"]


def test_a_time_bucket_is_a_partition_and_the_moment_its_order(db: Any) -> None:
    days = [datetime(2026, month, day, tzinfo=UTC) for month, day in ((3, 5), (3, 1), (4, 1))]
    for number, day in enumerate(days):
        db.create(Mail(mail_id=f"m{number}", email="a@x.org", at=day))
    march = Mail.by_month.query(at=NOON)
    assert [one.mail_id for one in db.read(march)] == ["m1", "m0"]
    assert [one.mail_id for one in db.read(march.since(at=days[0]))] == ["m0"]
    months = merge(Mail.by_month.query(at=each(days[1:])))
    assert [one.mail_id for one in db.read(months)] == ["m1", "m0", "m2"]


def test_a_bucket_in_a_sort_key_bounds_by_months(db: Any) -> None:
    for month in (1, 2, 3):
        db.create(
            Mail(mail_id=f"m{month}", email="a@x.org", at=datetime(2026, month, 9, tzinfo=UTC))
        )
    since = Mail.by_domain.query(domain="x.org").since(at=datetime(2026, 2, 20, tzinfo=UTC))
    assert [one.mail_id for one in db.read(since)] == ["m2", "m3"]


def test_shards_by_hash_follow_from_the_id(db: Any) -> None:
    mails = [db.create(Mail(mail_id=f"m{n}", email="a@x.org", at=NOON)) for n in range(20)]
    partitions = {stored(db, mail.ref())["PK"]["S"] for mail in mails}
    assert partitions == {f"MAILS#{n}" for n in range(4)}
    assert db.get(Mail.key(mail_id="m3")) == mails[3]
    everything = db.read(across_shards(Mail.key).limit(30))
    assert [one.mail_id for one in everything] == sorted(mail.mail_id for mail in mails)


@pytest.mark.parametrize(
    ("text", "value", "rendered"),
    [
        ("{at:%Y-%m}", NOON, "2026-03"),
        ("W{at:%G-W%V}", NOON, "W2026-W10"),
        ("D{at:%Y%m%dT%H}", NOON, "D20260305T12"),
        ("D{at:%Y-%j}", date(2026, 3, 5), "D2026-064"),
        ("{at:08.3f}", 12, "0012.000"),
    ],
)
def test_formats_are_fixed(text: str, value: Any, rendered: str) -> None:
    assert parse_template(text).render({"at": value}) == rendered


@pytest.mark.parametrize("text", ["{at:%Q}", "{at:%Y#%m}", "{at:shard1}", "{at:%}", "{at:3f}"])
def test_unknown_formats_are_refused(text: str) -> None:
    with pytest.raises(DeclarationError, match="is not known"):
        parse_template(text)


def test_a_primary_key_does_not_change_with_fields_outside_of_it() -> None:
    with pytest.raises(DeclarationError, match="fields that are not in it"):

        class Moving(Entity, table=Design("x").table("x")):
            shop_id: Id
            address: Address
            key = Key("SHOP#{address.city}", "{shop_id}")


def test_a_path_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(DeclarationError, match="has no field 'town'"):

        class Lost(Entity, table=Design("x").table("x", indexes=[Index("GSI1", "GSI1PK")])):
            shop_id: Id
            address: Address
            key = Key("SHOP#{shop_id}", "SHOP")
            by_town = On("GSI1", "{address.town}")


def test_the_schema_and_design_files_say_what_is_not_stored() -> None:
    schema = design.schema
    line, mail = schema.by_entity["Line"], schema.by_entity["Mail"]
    assert {a.field for a in line.attributes if a.in_key} == {"order_id", "number", "at", "seller"}
    assert mail.by_field["domain"].follows == ("email",)
    assert str(schema.by_entity["Shop"].placements[0].key.partition) == "CITY#{address.city}#{size}"
    again = loads(dumps(schema))
    assert [e.attributes for e in again.entities] == [e.attributes for e in schema.entities]
    assert [e.key for e in again.entities] == [e.key for e in schema.entities]


def test_a_design_with_derived_keys_is_checked_and_documented() -> None:
    schema = design.schema
    assert [f for f in check(schema).findings if f.severity == "error"] == []
    text = next(iter(files(schema, Path("d.md")).values()))
    assert "only in the key" in text
    assert "computed from email" in text


def test_a_field_that_moves_into_the_key_asks_for_no_rewrite() -> None:
    def declared(*marks: object) -> Any:
        made = Design("m")

        class Order(Entity, table=made.table("m")):
            order_id: Annotated[str, "id", *marks]
            key = Key("ORDER#{order_id}", "ORDER")

        return made.schema

    plain, keyed = declared(), declared(InKey())
    assert [change.kind for change in diff(plain, keyed)] == ["attribute removed"]
    assert [change.kind for change in diff(keyed, plain)] == ["attribute added"]
