"""A first run on a table in use: what others have counted is passed over."""

from __future__ import annotations

from typing import Annotated

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Key
from keyfold.cli import main
from keyfold.errors import StreamError
from keyfold.maintain import repair, verify
from keyfold.streams import AsyncConsumer, Consumer

design = Design("inuse")
table = design.table("inuse", stream="NEW_AND_OLD_IMAGES")


class Post(Entity, table=table):
    post_id: Id
    likes: Annotated[int, Counter("Like", sync="stream")] = 0
    key = Key("POST#{post_id}", "POST")


class Like(Entity, table=table):
    post_id: Id
    user_id: Id
    key = Key("POST#{post_id}", "LIKE#{user_id}")


POST = Post.key(post_id="p")


def _used(db: Db) -> None:
    """Another program has written likes, and counted them itself."""
    db.create(Post(post_id="p"))
    for user in ("ada", "ben"):
        db.create(Like(post_id="p", user_id=user))
    _set(db, 2)


def _set(db: Db, number: int) -> None:
    change = {
        "UpdateExpression": "SET likes = :n",
        "ExpressionAttributeValues": {":n": {"N": f"{number}"}},
    }
    db.client.call("UpdateItem", {"TableName": "inuse", "Key": POST.wire(), **change})


def test_what_was_counted_before_is_not_counted_again() -> None:
    with design.open(":memory:") as db:
        _used(db)
        Consumer(db).skip()
        db.create(Like(post_id="p", user_id="cleo"))
        Consumer(db).drain()
        assert db.get(POST).likes == 3
        assert verify(db).clean


def test_a_repair_sets_right_what_others_had_not_counted() -> None:
    with design.open(":memory:") as db:
        _used(db)
        _set(db, 1)
        Consumer(db).skip()
        repair(db, verify(db))
        Consumer(db).drain()
        assert db.get(POST).likes == 2


def test_a_consumer_that_has_read_continues_where_it_is() -> None:
    with design.open(":memory:") as db:
        _used(db)
        Consumer(db).drain()
        with pytest.raises(StreamError, match="has read records already"):
            Consumer(db).skip()


async def test_the_same_for_an_event_loop() -> None:
    async with await design.open_async(":memory:") as db:
        await db.create(Post(post_id="p"))
        await db.create(Like(post_id="p", user_id="ada"))
        await AsyncConsumer(db).skip()
        await db.create(Like(post_id="p", user_id="ben"))
        await AsyncConsumer(db).drain()
        assert (await db.get(POST)).likes == 1


def test_the_command_begins_with_what_is_written_from_now_on(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = f"{tmp_path}/inuse.db"
    with design.open(backend) as db:
        _used(db)
    run = ["streams", "run", f"{__name__}:design", "--backend", backend, "--once"]
    assert main([*run, "--from", "now"]) == 0
    assert "0 records" in capsys.readouterr().out
    with design.open(backend) as db:
        assert db.get(POST).likes == 2
