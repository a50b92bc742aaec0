"""A new key within one table: readers of either design see every item once, in every phase."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from keyfold import Db, collection
from keyfold.errors import MigrationError
from keyfold.maintain import repair, verify
from keyfold.migrations import PHASES, move
from keyfold.migrations.plan import draft

from .shelves import AMONG_ITEMS, LONGER, NEW, OLD, Rekeyed, Shelves, shelves

ALL = [f"{number:02}" for number in range(10)]


class Small(BaseModel):
    item_id: str


def seen(db: Db, side: Shelves) -> dict[str, Any]:
    """The ids that each kind of reader is given."""
    item = side.item

    def ids(found: Any) -> list[str]:
        return sorted(one.item_id for one in found)

    by_shelf, by_some = item.by_shelf.query(shelf="a"), item.by_some.query(shelf="a")
    pages = list(db.pages(by_shelf, limit=3))
    return {
        "index": ids(db.iterate(by_shelf)),
        "index backwards": ids(db.iterate(by_shelf.descending())),
        "view of an index": ids(db.iterate(by_shelf.only(Small))),
        "index with some attributes": ids(db.iterate(by_some.only(Small))),
        "pages": ids(one for page in pages for one in page),
        "full pages": [len(page.items) for page in pages if page.cursor][:3],
        "first": db.read(by_shelf.first()).item_id,
        "scan": ids(db.scan(item)),
        "pointers": ids(db.iterate(side.pointer.key.query(shelf="a"))),
        "collection": ids(db.read(collection(item.by_shelf, shelf="a")).items),
        "drifts": [str(drift) for drift in verify(db).drifts],
    }


EXPECTED: dict[str, Any] = {
    **dict.fromkeys(
        (
            *("index", "index backwards", "view of an index", "index with some attributes"),
            *("pages", "scan", "pointers", "collection"),
        ),
        ALL,
    ),
    "full pages": [3, 3, 3],
    "first": "00",
    "drifts": [],
}


@pytest.mark.parametrize("keys", [(OLD, NEW), (OLD, ("A", "A#{item_id}")), (AMONG_ITEMS, LONGER)])
def test_every_reader_sees_every_item_once_in_every_phase(
    keys: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    shop = Rekeyed(*keys)
    for phase in PHASES[1:-1]:
        shop.migrator().apply(phase)
        assert seen(shop.before, shop.old) == EXPECTED, f"the old application at {phase}"
        if PHASES.index(phase) >= PHASES.index("verify"):
            assert seen(shop.after(), shop.new) == EXPECTED, f"the new application at {phase}"
    shop.migrator().apply("contract")
    assert seen(shop.after(), shop.new) == EXPECTED
    assert not list(shop.before.scan(shop.old.item))


@pytest.mark.parametrize("phase", ["backfill", "verify", "hold"])
def test_counts_leave_out_the_copies_under_the_other_key(phase: Any) -> None:
    shop = Rekeyed()
    shop.migrator().apply(phase)
    sides = [(shop.before, shop.old)]
    sides += [(shop.after(), shop.new)] if phase != "backfill" else []
    for db, side in sides:
        assert db.read(side.item.by_shelf.query(shelf="a").count()) == 10
        assert db.read(side.item.by_some.query(shelf="a").count()) == 10
        assert db.get(side.shelf.key(shelf="a")).items == 10


def test_a_rollback_leaves_every_item_once() -> None:
    shop = Rekeyed()
    before = shop.raw()
    shop.migrator().apply("hold")
    shop.migrator().rollback()
    assert seen(shop.before, shop.old) == EXPECTED
    assert shop.raw() == before


def test_a_table_queried_by_a_shared_partition_gives_only_the_own_items() -> None:
    shop = Rekeyed(AMONG_ITEMS, LONGER)
    shop.migrator().apply("verify")
    for db, side in ((shop.before, shop.old), (shop.after(), shop.new)):
        found = [one.item_id for one in db.iterate(side.item.key.query(shelf="a"))]
        assert found == ALL


def test_an_application_that_follows_counts_each_item_once_although_keys_begin_alike() -> None:
    shop = Rekeyed(AMONG_ITEMS, LONGER)
    shop.migrator().apply("verify")
    after = shop.after()
    assert after.read(shop.new.item.key.query(shelf="a").count()) == len(ALL)
    assert after.read(shop.new.item.by_shelf.query(shelf="a").count()) == len(ALL)


@pytest.mark.parametrize("phase", ["verify", "hold"])
def test_repair_of_the_old_design_changes_nothing_during_a_migration(phase: Any) -> None:
    shop = Rekeyed()
    shop.migrator().apply(phase)
    before = shop.raw()
    report = verify(shop.before)
    repair(shop.before, report)
    assert shop.raw() == before
    assert report.clean


def test_verify_lists_the_copies_under_the_other_key_and_calls_them_no_drift() -> None:
    shop = Rekeyed()
    shop.migrator().apply("verify")
    for db in (shop.before, shop.after()):
        report = verify(db)
        assert (report.clean, dict(report.elsewhere)) == (True, {"Item": 10})
        assert str(report).endswith("elsewhere: 10 of Item")
    shop.migrator().apply("contract")
    assert not verify(shop.after()).elsewhere


def test_a_cursor_continues_on_either_side_without_a_gap() -> None:
    shop = Rekeyed()
    shop.migrator().apply("verify")
    sides = [(shop.before, shop.old.item), (shop.after(), shop.new.item)]
    for size in range(1, 11):
        for first, second in ((sides[0], sides[1]), (sides[1], sides[1]), (sides[0], sides[0])):
            page = first[0].read(first[1].by_shelf.query(shelf="a"), limit=size)
            found = [one.item_id for one in page]
            while page.cursor:
                db, item = second
                page = db.read(item.by_shelf.query(shelf="a"), limit=size, cursor=page.cursor)
                found += [one.item_id for one in page]
            assert found == ALL


@pytest.mark.parametrize(
    ("old_key", "new_key"),
    [
        (("{item_id}", "ITEM"), ("{shelf}", "ITEM")),
        (OLD, ("ITEM#{shelf}", "ITEM")),
        (("ROOM#{shelf}", "{item_id}"), ("ROOM#{shelf}", "{note}")),
    ],
)
def test_keys_that_could_meet_are_refused_with_two_ways_out(
    old_key: tuple[str, ...], new_key: tuple[str, ...]
) -> None:
    old, new = shelves(old_key), shelves(new_key)
    words = "begin the new key with another text, or move the entity to a new table"
    with pytest.raises(MigrationError, match=words):
        move(old.item, new.item)
    with pytest.raises(MigrationError, match=words):
        draft("rekey", old.design.schema, new.design.schema)
