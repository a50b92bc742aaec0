"""Every structure of a design says, as one record, what follows from a write."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from keyfold import Copied, Counter, Design, Entity, Id, Key, Pointer, Timestamp, Ttl, Unique
from keyfold.design import file
from keyfold.design.follows import Follows
from keyfold.structures import Cascade, Edge, Mirror, Sharded
from keyfold_engine.expressions.text import condition_text

design = Design("samples")
table = design.table("Samples", stream="NEW_AND_OLD_IMAGES", ttl="ttl")


class Song(Entity, table=table):
    song_id: Id
    title: str = ""
    lists: set[str] = set()
    stars: Annotated[int, Counter("Play", sums="stars", where=lambda p: p.stars > 1)] = 0
    paid: Annotated[Decimal, Counter("Play", sums="paid", sync="stream")] = Decimal(0)
    hot: Annotated[int, Counter("Play", shards=8)] = 0
    key = Key("SONG#{song_id}", "SONG")
    all_plays = Cascade("Play")


class SongInList(Pointer[Song], table=table, each="lists", overflow="stream"):
    list_id: str
    song_id: Id
    title: str
    stars: int
    key = Key("LIST#{list_id}", "SONG#{song_id}")


class Play(Entity, table=table):
    song_id: Id
    play_id: Id
    listener: str | None = None
    stars: int = 0
    paid: Decimal | None = None
    song_title: Annotated[str, Copied("Song", "title")] = ""
    gone_at: Annotated[Timestamp | None, Ttl()] = None
    key = Key("SONG#{song_id}", "PLAY#{play_id}")
    once = Unique("song_id", "listener", normalise=str.casefold)


class Follow(Edge, table=table):
    follower_id: Id
    followee_id: Id
    shard: Annotated[int, Sharded("follower_id", 4)] = 0
    key = Key("USER#{follower_id}", "FOLLOWS#{followee_id}")
    followers = Mirror("USER#{followee_id}#{shard:02d}", "FOLLOWER#{follower_id}")


def _record(name: str) -> Follows:
    return next(each for each in design.schema.follows if each.name == name)


def test_a_counter_says_what_it_counts() -> None:
    found = _record("counter Song.stars")
    assert found.fact == "amount"
    assert (found.source, found.target, found.sums) == ("Play", "Song", "stars")
    assert found.via == (("song_id", "song_id"),)
    assert found.when is not None
    assert condition_text(found.when) == "stars > 1"
    assert found.fields == ("song_id", "stars")


def test_a_pointer_says_what_it_copies_and_what_moves_by_amounts() -> None:
    found = _record("pointer SongInList")
    assert (found.fact, found.each, found.overflow) == ("copy", "lists", "stream")
    assert found.writes == ("song_id", "title", "stars")
    assert found.adds == ("stars",)


def test_the_stream_has_work_where_something_overflows_expires_or_is_left_to_it() -> None:
    by_stream = {each.name for each in design.schema.follows if each.by_stream}
    assert by_stream == {
        "pointer SongInList",  # overflows
        "counter Song.paid",  # left to the stream
        "counter Song.stars",  # plays expire
        "counter Song.hot",
        "unique Play.song_id+listener",
        "cascade Song.all_plays",
        "copied Play.song_title",
        "copied Play.song_title new",
    }


def test_a_cascade_says_by_what_its_items_are_found_and_how_many_join() -> None:
    found = _record("cascade Song.all_plays")
    assert (found.fact, found.target, found.on) == ("job", "Play", ("REMOVE",))
    assert (found.found, found.fits, found.at_once) == ("", 40, 20)
    need = _record("cascade Song.all_plays orphans")
    assert (need.fact, need.source, need.target) == ("need", "Play", "Song")


def test_records_survive_a_design_file() -> None:
    assert file.loads(file.dumps(design.schema)).follows == design.schema.follows
