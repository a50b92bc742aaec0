"""Versions: a writer that holds an old item is refused, whichever way it writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from keyfold import Db, Design, Entity, Id, Key, Unique, Version, put
from keyfold.errors import VersionConflict

design = Design("versions")
table = design.table("versions")


class Plain(Entity, table=table):
    item_id: Id
    name: str = "first"
    version: Annotated[int, Version()] = 0
    key = Key("PLAIN#{item_id}", "PLAIN")


class Kept(Entity, table=table):
    item_id: Id
    name: str = "first"
    version: Annotated[int, Version()] = 0
    key = Key("KEPT#{item_id}", "KEPT")
    one_name = Unique("name")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as handle:
        yield handle


@pytest.mark.parametrize("kind", [Plain, Kept])
class TestPut:
    def test_an_old_item_is_refused(self, db: Db, kind: type[Any]) -> None:
        held = db.create(kind(item_id="i"))
        newer = db.update(held, name="second")
        with pytest.raises(VersionConflict):
            db.put(held.model_copy(update={"name": "late"}))
        with pytest.raises(VersionConflict):
            db.transact(put(held))
        assert db.get(held.ref()) == newer

    def test_the_item_in_hand_replaces_and_counts_on(self, db: Db, kind: type[Any]) -> None:
        held = db.create(kind(item_id="i"))
        replaced = db.put(held.model_copy(update={"name": "second"}))
        assert (replaced.name, replaced.version) == ("second", 2)
        assert db.get(held.ref()) == replaced

    def test_an_item_made_anew_replaces_whatever_is_there(self, db: Db, kind: type[Any]) -> None:
        held = db.create(kind(item_id="i"))
        db.update(held, name="second")
        assert db.put(kind(item_id="i", name="third")).version == 3

    def test_a_first_put_starts_at_one(self, db: Db, kind: type[Any]) -> None:
        assert db.put(kind(item_id="i")).version == 1


@pytest.mark.parametrize("kind", [Plain, Kept])
class TestForeignItem:
    """Another program wrote it, without a version."""

    @pytest.fixture
    def held(self, db: Db, kind: type[Any]) -> Any:
        word = kind.__name__.upper()
        item = {
            "PK": {"S": f"{word}#i"},
            "SK": {"S": word},
            "type": {"S": kind.__name__},
            "itemId": {"S": "i"},
            "name": {"S": "first"},
        }
        db.client.call("PutItem", {"TableName": "versions", "Item": item})
        return db.get(kind.key(item_id="i"))

    def test_its_first_update_gives_it_one(self, db: Db, held: Any) -> None:
        assert db.update(held, name="second").version == 1

    def test_of_two_writers_that_hold_it_one_is_refused(self, db: Db, held: Any) -> None:
        db.update(held, name="second")
        with pytest.raises(VersionConflict):
            db.update(held, name="late")
        with pytest.raises(VersionConflict):
            db.delete(held)

    def test_it_can_be_deleted(self, db: Db, held: Any) -> None:
        db.delete(held)
        assert db.find(held.ref()) is None
