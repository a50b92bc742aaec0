"""Cascades by stream: items go after their parent; those gone already are no trouble."""

from __future__ import annotations

import pytest

from keyfold import Db, Design, Entity, Id, Key
from keyfold.streams import Consumer, letters
from keyfold.structures import Cascade
from keyfold.testing import Sandbox

design = Design("albums")
table = design.table("Albums", stream="NEW_AND_OLD_IMAGES")


class Album(Entity, table=table):
    owner_id: Id
    album_id: Id
    key = Key("OWNER#{owner_id}", "ALBUM#{album_id}")
    pictures = Cascade("Picture", via={"owner_id": "album_owner_id"}, sync="stream")


class Picture(Entity, table=table):
    """Its key does not have all of its album's, so that it could come to belong to another."""

    album_id: Id
    picture_id: Id
    album_owner_id: str
    key = Key("ALBUM#{album_id}", "PICTURE#{picture_id}")


ALBUM = Album(owner_id="ada", album_id="a")
PICTURE = Picture(album_id="a", picture_id="p", album_owner_id="ada")


@pytest.fixture
def db(sandbox: Sandbox) -> Db:
    return sandbox.open(design)


def settle(db: Db) -> None:
    Consumer(db).drain()
    assert db.run(letters(db.context)) == []


@pytest.mark.parametrize("read_between", [True, False])
def test_items_go_after_their_parent(db: Db, sandbox: Sandbox, read_between: bool) -> None:
    db.create(ALBUM)
    db.create(PICTURE)
    if read_between:
        settle(db)
    db.delete(ALBUM.ref())
    settle(db)
    assert sandbox.items("Albums") == []


def test_an_item_without_a_parent_goes(db: Db, sandbox: Sandbox) -> None:
    db.create(PICTURE)
    settle(db)
    assert sandbox.items("Albums") == []


def test_an_item_without_a_parent_that_was_deleted_meanwhile_is_no_trouble(
    db: Db, sandbox: Sandbox
) -> None:
    db.create(PICTURE)
    db.delete(PICTURE.ref())
    settle(db)
    assert sandbox.items("Albums") == []


def test_an_item_that_has_another_parent_by_now_stays(db: Db) -> None:
    db.create(Album(owner_id="bob", album_id="a"))
    db.create(PICTURE)
    db.update(PICTURE.ref(), album_owner_id="bob")
    settle(db)
    assert db.get(PICTURE.ref()).album_owner_id == "bob"
