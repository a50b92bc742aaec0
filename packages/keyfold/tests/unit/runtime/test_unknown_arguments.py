"""A misspelt field is refused when an item is made; undeclared attributes of stored items stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from keyfold import Design, Entity, Id, Key, Pointer, upsert
from keyfold.errors import KeyfoldError

design = Design("spelt")
table = design.table("spelt")


class Customer(Entity, table=table):
    customer_id: Id
    email: str = ""
    key = Key("CUSTOMER#{customer_id}", "CUSTOMER")


class ByMail(Pointer[Customer], table=table):
    customer_id: Id
    email: str
    key = Key("MAIL#{email}", "CUSTOMER#{customer_id}")


class Note(Entity, table=table):
    note_id: Id
    text: str
    key = Key("NOTE#{note_id}", "NOTE")


@pytest.mark.parametrize("kind", [Customer, ByMail])
def test_a_constructor_refuses_unknown_arguments(kind: Callable[..., Entity]) -> None:
    with pytest.raises(ValidationError, match=r"emial\n  Extra inputs are not permitted"):
        kind(customer_id="1", email="a@x", emial="b@x")


def test_an_upsert_refuses_unknown_fields() -> None:
    with design.open(":memory:") as db, pytest.raises(KeyfoldError, match="emial"):
        db.transact(upsert(Customer.key(customer_id="1"), emial="x"))


def test_undeclared_attributes_are_read_over_and_kept() -> None:
    with design.open(":memory:") as db:
        db.create(Customer(customer_id="1", email="a@x"))
        ref = Customer.key(customer_id="1")
        db.client.call(
            "UpdateItem",
            {
                "TableName": "spelt",
                "Key": ref.wire(),
                "UpdateExpression": "SET legacy = :v",
                "ExpressionAttributeValues": {":v": {"S": "theirs"}},
            },
        )
        db.update(db.get(ref), email="b@x")
        item = db.client.call("GetItem", {"TableName": "spelt", "Key": ref.wire()})["Item"]
        assert (item["legacy"], item["email"]) == ({"S": "theirs"}, {"S": "b@x"})


def test_a_changed_copy_of_an_item_with_an_unknown_field_is_not_written() -> None:
    with design.open(":memory:") as db:
        made = db.create(Note(note_id="1", text="a"))
        wrong = made.model_copy(update={"txet": "b"})
        for write in (db.put, db.create, lambda one: db.put_many([one])):
            with pytest.raises(KeyfoldError, match="Note has no field txet"):
                write(wrong)
        assert db.get(made.ref()) == made
