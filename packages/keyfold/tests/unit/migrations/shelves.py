"""Items on shelves, in one table: the same design under any key of its items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from keyfold import Counter, Db, Design, Entity, Id, Index, Key, On, Pointer
from keyfold.migrations import Backend, Migration, Migrator, ScanPace, move, recount
from keyfold.migrations.migration import Step
from keyfold_engine.clients import Client, connect
from keyfold_engine.clock import Clock, SystemClock

OLD = ("ITEM#{item_id}", "ITEM")
NEW = ("ITEMS", "ITEM#{item_id}")
AMONG_ITEMS = ("ROOM#{shelf}", "ITEM#{item_id}")
LONGER = ("ROOM#{shelf}", "ITEM#{item_id}#{note}")
"""A sort key that begins like the one before, in the same partition."""

Sync = Literal["transaction", "stream"]


@dataclass
class Shelves:
    """A design, with its entities."""

    design: Design
    shelf: Any
    item: Any
    pointer: Any


def shelves(item_key: tuple[str, ...], sync: Sync = "transaction", name: str = "shop") -> Shelves:
    design = Design("shop")
    table = design.table(
        name,
        indexes=[
            Index("GSI1", "GSI1PK", "GSI1SK"),
            Index("GSI2", "GSI2PK", "GSI2SK", projection="INCLUDE", included=("itemId",)),
        ],
        stream="NEW_AND_OLD_IMAGES",
    )

    class Shelf(Entity, table=table):
        shelf: Id
        items: Annotated[int, Counter("Item", sync=sync)] = 0
        key = Key("SHELF#{shelf}", "SHELF")

    class Item(Entity, table=table):
        item_id: Id
        shelf: str
        note: str = "n"
        key = Key(*item_key)
        by_shelf = On("GSI1", "SHELF#{shelf}", "{item_id}")
        by_some = On("GSI2", "SHELF#{shelf}", "{item_id}")

    class ItemOfShelf(Pointer[Item], table=table, sync=sync):
        shelf: str
        item_id: Id
        note: str = "n"
        key = Key("LIST#{shelf}", "AT#{item_id}")

    return Shelves(design, Shelf, Item, ItemOfShelf)


class Lent:
    """A client that whoever uses it leaves open for its owner."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return self.client.call(operation, request)

    def close(self) -> None:
        """Its owner does."""


class Rekeyed:
    """Ten items on a shelf, whose key changes within their table."""

    def __init__(
        self,
        old_key: tuple[str, ...] = OLD,
        new_key: tuple[str, ...] = NEW,
        sync: Sync = "transaction",
        clock: Clock | None = None,
    ) -> None:
        self.clock = clock or SystemClock()
        self.old, self.new = shelves(old_key, sync), shelves(new_key, sync)
        self.client: Client = connect(":memory:", clock=self.clock)
        self.before: Db = self.old.design.open(self.client, clock=self.clock)
        self.before.create(self.old.shelf(shelf="a"))
        for number in range(10):
            self.before.create(self.old.item(item_id=f"{number:02}", shelf="a"))
        steps: list[Step] = [move(self.old.item, self.new.item), recount(self.new.design)]
        self.migration = Migration("rekey", steps, between=(self.old.design, self.new.design))
        self.following: list[Db] = []

    def migrator(self, **options: Any) -> Migrator:
        """A migrator that waits for no application: those of before have ended."""
        while self.following:
            self.following.pop().close()
        pace = ScanPace(segments=2, page=7)
        backend = Backend(self.client, clock=self.clock)
        return Migrator(self.migration, backend, pace=pace, without_routers=True, **options)

    def after(self) -> Db:
        self.following.append(self.new.design.open(Lent(self.client), migration=self.migration))
        return self.following[-1]

    def raw(self) -> dict[tuple[str, str], dict[str, Any]]:
        found = self.client.call("Scan", {"TableName": "shop"})["Items"]
        return {(item["PK"]["S"], item["SK"]["S"]): item for item in found}
