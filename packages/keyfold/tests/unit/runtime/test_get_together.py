"""`get_together`: several items as they were at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyfold import Db, Design, Entity, Id, Key
from keyfold.errors import PlanError, TransactionCanceled, TransactionConflict

design = Design("together")
table = design.table("main")


class Account(Entity, table=table):
    account_id: Id
    amount: int = 0
    key = Key("ACCOUNT#{account_id}", "ACCOUNT")


class Owner(Entity, table=table):
    owner_id: Id
    key = Key("OWNER#{owner_id}", "OWNER")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(Account(account_id="a", amount=3))
        opened.create(Owner(owner_id="o"))
        yield opened


def account(name: str) -> Any:
    return Account.key(account_id=name)


def test_items_come_in_the_order_asked_for_in_one_request(db: Db) -> None:
    with db.work("read") as work:
        owner, found, missing, again = db.get_together(
            Owner.key(owner_id="o"), account("a"), account("none"), account("a")
        )
    assert owner == Owner(owner_id="o")
    assert found == again == Account(account_id="a", amount=3)
    assert missing is None
    assert work.usage["get_together"].requests == 1


def test_as_many_as_a_transaction_holds(db: Db) -> None:
    assert db.get_together(*(account(str(n)) for n in range(100))) == (None,) * 100
    with pytest.raises(PlanError, match="101 items; one transaction takes 1 to 100"):
        db.get_together(*(account(str(n)) for n in range(101)))
    with pytest.raises(PlanError, match="0 items"):
        db.get_together()


class Contended:
    """A client whose first reads meet somebody's transaction."""

    def __init__(self, client: Any, times: int) -> None:
        self.client, self.times = client, times

    def call(self, operation: str, request: Any) -> Any:
        if operation == "TransactGetItems" and self.times > 0:
            self.times -= 1
            raise TransactionCanceled("conflict", [])
        return self.client.call(operation, request)


def test_a_read_that_met_a_transaction_is_tried_again(db: Db) -> None:
    again = Db(db.context, Contended(db.client, 2))  # type: ignore[arg-type]
    (found,) = again.get_together(account("a"))
    assert found is not None
    always = Db(db.context, Contended(db.client, 1000))  # type: ignore[arg-type]
    with pytest.raises(TransactionConflict):
        always.get_together(account("a"))


async def test_the_same_when_awaited() -> None:
    async with await design.open_async(":memory:") as db:
        made = await db.create(Account(account_id="a"))
        assert await db.get_together(made.ref(), Owner.key(owner_id="o")) == (made, None)
