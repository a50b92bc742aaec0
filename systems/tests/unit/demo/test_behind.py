"""Which systems are behind, while their consumers follow beside the pages."""

from __future__ import annotations

import asyncio
from typing import Annotated

from keyfold import Counter, Design, Entity, Id, Key
from keyfold.testing import Sandbox
from keyfold_demo.behind import Behind
from keyfold_web.consumers import following

shelves = Design("shelves")
shelf_table = shelves.table("Shelves", stream="NEW_AND_OLD_IMAGES")
stones = Design("stones")
stone_table = stones.table("Stones")


class Shelf(Entity, table=shelf_table):
    shelf_id: Id
    books: Annotated[int, Counter("Book", sync="stream")] = 0
    key = Key("SHELF#{shelf_id}", "SHELF")


class Book(Entity, table=shelf_table):
    shelf_id: Id
    book_id: Id
    key = Key("SHELF#{shelf_id}", "BOOK#{book_id}")


class Stone(Entity, table=stone_table):
    stone_id: Id
    key = Key("STONE#{stone_id}", "STONE")


async def test_a_system_is_behind_until_its_consumer_met_what_was_written() -> None:
    async with Sandbox() as sandbox:
        db = await sandbox.open_async(shelves)
        await db.create(Shelf(shelf_id="a"))
        await db.bulk(Book(shelf_id="a", book_id=str(number)) for number in range(20))
        behind, nobody = Behind([db]), asyncio.Event()
        async with behind.watch(nobody.set):
            assert "shelves" in behind
            async with following([db]):
                await nobody.wait()
        assert "shelves" not in behind
        assert (await db.get(Shelf.key(shelf_id="a"))).books == 20


async def test_a_system_that_follows_no_stream_is_never_behind() -> None:
    async with Sandbox() as sandbox:
        behind, nobody = Behind([await sandbox.open_async(stones)]), asyncio.Event()
        assert "stones" not in behind
        async with behind.watch(nobody.set):
            await nobody.wait()


async def test_looking_ends_with_the_pages() -> None:
    async with Sandbox() as sandbox:
        behind = Behind([await sandbox.open_async(shelves)])
        async with behind.watch(lambda: None):
            await asyncio.sleep(0)
        assert "shelves" in behind
