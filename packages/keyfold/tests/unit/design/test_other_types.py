"""A field reads what other programs stored in another type, and writes its own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import SecretStr

from keyfold import Db, Design, Entity, Id, Key, Stored, Timestamp, add
from keyfold.errors import DeclarationError, Undecodable
from keyfold.fields import Codec, ReadsAlso

design = Design("old")
table = design.table("old")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def reverse(secret: SecretStr) -> bytes:
    return secret.get_secret_value().encode()[::-1]


class Part(Entity, table=table):
    part_id: Id
    code: Annotated[str, ReadsAlso(int)] = ""
    price: Annotated[Decimal, ReadsAlso(str)] = Decimal(0)
    stock: Annotated[int | None, ReadsAlso(str)] = None
    open: Annotated[bool, ReadsAlso(str), ReadsAlso(int)] = False
    tags: Annotated[set[str], ReadsAlso(list)] = set()
    colours: Annotated[list[str], ReadsAlso(set)] = []
    made_at: Annotated[Timestamp | None, ReadsAlso("epoch_ms")] = None
    sold_at: Annotated[Timestamp | None, Stored("epoch"), ReadsAlso("iso")] = None
    token: Annotated[
        SecretStr | None,
        Stored(Codec("reverse", bytes, reverse, lambda v: SecretStr(v[::-1].decode()))),
        ReadsAlso(str),
    ] = None
    key = Key("PART#{part_id}", "PART")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def stored(db: Db, **attributes: Any) -> None:
    key = {"PK": {"S": "PART#1"}, "SK": {"S": "PART"}, "type": {"S": "Part"}}
    item = key | {"partId": {"S": "1"}} | attributes
    db.client.call("PutItem", {"TableName": "old", "Item": item})


OTHERS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "code": ("code", {"N": "0012"}, "12"),
    "price": ("price", {"S": "9.50"}, Decimal("9.50")),
    "stock": ("stock", {"S": "3"}, 3),
    "open as text": ("open", {"S": "true"}, True),
    "open as number": ("open", {"N": "1"}, True),
    "tags": ("tags", {"L": [{"S": "a"}, {"S": "b"}]}, {"a", "b"}),
    "colours": ("colours", {"SS": ["red"]}, ["red"]),
    "made_at": ("madeAt", {"N": str(int(NOON.timestamp()) * 1000)}, NOON),
    "sold_at": ("soldAt", {"S": "2026-03-01T12:00:00Z"}, NOON),
    "token": ("token", {"S": "clear"}, SecretStr("clear")),
}


@pytest.mark.parametrize("case", OTHERS)
def test_the_other_type_is_read_and_the_own_is_written(db: Db, case: str) -> None:
    attribute, other, value = OTHERS[case]
    field = case.split()[0]
    stored(db, **{attribute: other})
    found = db.get(Part.key(part_id="1"))
    assert getattr(found, field) == value
    db.put(found)
    again = db.client.call("GetItem", {"TableName": "old", "Key": found.ref().wire()})["Item"]
    assert next(iter(again[attribute])) != next(iter(other))
    assert db.get(found.ref()) == found


def test_missing_values_and_null_are_the_default(db: Db) -> None:
    stored(db, price={"NULL": True})
    assert db.get(Part.key(part_id="1")) == Part(part_id="1")


def test_a_third_type_cannot_be_read(db: Db) -> None:
    stored(db, price={"BOOL": True})
    with pytest.raises(Undecodable, match=r"the attribute price is {'BOOL': True}, not decimal"):
        db.get(Part.key(part_id="1"))


def test_an_update_of_what_was_read_is_written_in_the_own_type(db: Db) -> None:
    stored(db, stock={"S": "3"})
    found = db.get(Part.key(part_id="1"))
    assert db.update(found, stock=4).stock == 4
    assert db.update(found.ref(), stock=add(1)).stock == 5


@pytest.mark.parametrize(
    ("declared", "match"),
    [
        (Annotated[str, ReadsAlso(str)], "kind string cannot read str as well. It can read: int"),
        (Annotated[int, ReadsAlso(dict)], "It can read: str"),
        (Annotated[Timestamp, ReadsAlso("iso_s")], "It can read: epoch, epoch_ms"),
        (Annotated[Timestamp, Stored("epoch"), ReadsAlso("epoch_ms")], "It can read: iso"),
        (Annotated[Timestamp, ReadsAlso(int)], "It can read: epoch, epoch_ms"),
        (Annotated[dict[str, int], ReadsAlso(str)], "Remove ReadsAlso"),
        (Annotated[Any, Stored(Codec("n", Decimal, Decimal)), ReadsAlso(int)], "can read: str, b"),
    ],
)
def test_what_cannot_be_told_apart_or_converted_is_refused(declared: Any, match: str) -> None:
    with pytest.raises(DeclarationError, match=match):

        class Wrong(Entity, table=table):
            wrong_id: Id
            value: declared
            key = Key("WRONG#{wrong_id}", "WRONG")


def test_a_type_that_nothing_reads_is_refused() -> None:
    with pytest.raises(DeclarationError, match="Give one of: str, int"):
        ReadsAlso(float)
