"""Fields stored in one spelling are found by any spelling of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import pytest

from keyfold import Db, Design, Entity, First, Id, Index, Key, Normalised, On, Query

design = Design("normalised")
table = design.table("normalised", indexes=[Index("ByEmail", "GSI1PK", "GSI1SK")])


class Account(Entity, table=table):
    account_id: Id
    email: Annotated[str, Normalised(str.casefold)]
    key = Key("ACCOUNT#{account_id}", "ACCOUNT")
    by_email = On("ByEmail", "EMAIL#{email}", "ACCOUNT")


class Tag(Entity, table=table):
    account_id: Id
    word: Annotated[str, Normalised(str.casefold)]
    key = Key("ACCOUNT#{account_id}", "TAG#{word}")


@design.pattern(requests=1)
def account_by_email(email: str) -> First[Account]:
    return Account.by_email.query(email=email).first()


@design.pattern(requests=1)
def tags_from(account_id: str, word: str) -> Query[Tag]:
    return Tag.key.query(account_id=account_id).since(word=word)


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as handle:
        yield handle


def test_a_query_by_an_index_finds_any_spelling(db: Db) -> None:
    made = db.create(Account(account_id="a", email="Ada@Example.org"))
    assert made.email == "ada@example.org"
    assert account_by_email(db, "ADA@example.ORG") == made


def test_an_address_and_a_range_do_too(db: Db) -> None:
    made = db.create(Tag(account_id="a", word="Zebra"))
    assert db.get(Tag.key(account_id="a", word="ZEBRA")) == made
    assert tags_from(db, "a", "ZEB").items == [made]
    db.delete(Tag.key(account_id="a", word="zEBRA"))
    assert tags_from(db, "a", "A").items == []
