"""Patterns that read several items by their keys: in batches, or as they were at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keyfold import (
    AsyncDb,
    Db,
    Design,
    Entity,
    Get,
    GetMany,
    GetTogether,
    Id,
    Key,
    each,
    get,
    get_many,
    get_together,
)
from keyfold.design.file import dumps, loads
from keyfold.errors import DeclarationError, PlanError
from keyfold.review.docs import files
from keyfold.review.draft.python import declaration

design = Design("accounts")
table = design.table("accounts")


class Account(Entity, table=table):
    account_id: Id
    balance: int = 0
    key = Key("ACCOUNT#{account_id}", "ACCOUNT")


class Owner(Entity, table=table):
    owner_id: Id
    key = Key("OWNER#{owner_id}", "OWNER")


@design.pattern(requests=1)
def accounts(account_ids: list[str]) -> GetMany[Account]:
    """These accounts."""
    return get_many(Account.key(account_id=each(account_ids)))


@design.pattern(requests=1)
def both(account_id: str, owner_id: str) -> GetTogether[tuple[Account | None, Owner | None]]:
    """An account and its owner, at one moment."""
    return get_together(Account.key(account_id=account_id), Owner.key(owner_id=owner_id))


@pytest.fixture(scope="module")
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.put_many([Account(account_id=str(n), balance=n) for n in range(3)])
        opened.create(Owner(owner_id="o"))
        yield opened


def test_a_batch_of_keys_is_a_pattern_and_keeps_their_order(db: Db) -> None:
    found = accounts(db, ["2", "x", "0"])
    assert [one and one.balance for one in found] == [2, None, 0]
    assert accounts(db, []) == []


def test_items_of_one_moment_are_a_pattern_with_a_type_for_each(db: Db) -> None:
    account, owner = both(db, "1", "o")
    assert account is not None
    assert owner is not None
    assert (account.balance, owner.owner_id) == (1, "o")
    assert both(db, "1", "nobody")[1] is None


async def test_they_are_awaited_on_an_async_handle() -> None:
    async with await design.open_async(":memory:") as handle:
        assert isinstance(handle, AsyncDb)
        assert await accounts(handle, ["1"]) == [None]


def test_one_item_is_not_asked_for_by_a_list() -> None:
    with pytest.raises(PlanError, match="stands for several items"):
        get(Account.key(account_id=each(["1"])))
    with pytest.raises(PlanError, match="no addresses"):
        get_many()
    with pytest.raises(DeclarationError, match="stands for several items"):

        @design.pattern()
        def wrong(ids: list[str]) -> Get[Account]:
            return get(Account.key(account_id=each(ids)))


def test_documents_and_design_files_know_them() -> None:
    schema = design.schema
    many, together = schema.by_pattern["accounts"], schema.by_pattern["both"]
    assert (many.at_once, many.partitions) == ("batch", "account_ids")
    assert (together.at_once, together.max_partitions) == ("together", 2)
    text = next(iter(files(schema, Path("d.md")).values()))
    assert "BatchGetItem" in text
    assert "TransactGetItems" in text
    again = loads(dumps(schema))
    assert again.by_pattern["accounts"].at_once == "batch"
    drafted, unserved = declaration(again)
    assert unserved == []
    assert "get_many(Account.key(account_id=each(account_ids)))" in drafted
    assert "GetTogether[tuple[Account | None, Owner | None]]" in drafted
