"""Cursors: sealed, bound to their read and caller, refused in one way."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.kbkdf import KBKDFHMAC, CounterLocation, Mode

from keyfold import Collected, Db, Design, Entity, Id, Key, Merge, Query, collection, each, merge
from keyfold.errors import CursorRefused, PlanError
from keyfold.runtime.cursor import GOOD_SECONDS, VARIABLE, CursorKey, cursor_holder, seal
from keyfold.testing import Sandbox

design = Design("cursors")
table = design.table("cursors")
OLD, NEW = b"old-secret-0123456789", b"new-secret-0123456789"


class Note(Entity, table=table):
    owner_id: Id
    number: int
    mood: str = "good"
    key = Key("NOTES#{owner_id}", "NOTE#{number:06d}")


@design.pattern(requests=1)
def notes(owner_id: str, limit: int = 2) -> Query[Note]:
    return Note.key.query(owner_id=owner_id).limit(limit)


@design.pattern(requests=1)
def backwards(owner_id: str, limit: int = 2) -> Query[Note]:
    return Note.key.query(owner_id=owner_id).descending().limit(limit)


@design.pattern()
def in_mood(owner_id: str, mood: str, limit: int = 2) -> Query[Note]:
    return Note.key.query(owner_id=owner_id).where(lambda n: n.mood == mood).limit(limit)


@design.pattern()
def of_all(owner_ids: list[str], limit: int = 2) -> Merge[Note]:
    return merge(Note.key.query(owner_id=each(owner_ids))).limit(limit)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture
def db(sandbox: Sandbox) -> Iterator[Db]:
    with sandbox.open(design) as handle:
        handle.put_many([Note(owner_id=o, number=n) for o in ("ada", "ben") for n in range(9)])
        yield handle


def cursor_of(db: Db) -> str:
    cursor = notes(db, "ada").cursor
    assert cursor is not None
    return cursor


def test_a_cursor_goes_on_with_another_size(db: Db) -> None:
    page = notes.after(cursor_of(db))(db, "ada", limit=4)
    assert [note.number for note in page] == [2, 3, 4, 5]


def test_nothing_can_be_read_in_a_cursor(db: Db) -> None:
    raw = base64.urlsafe_b64decode(cursor_of(db) + "==")
    assert b"NOTE" not in raw
    assert b"ada" not in raw


def test_it_belongs_to_its_pattern_arguments_and_caller(db: Db) -> None:
    cursor = cursor_of(db)
    mood = in_mood(db, "ada", "good").cursor
    refused: list[Callable[[], object]] = [
        lambda: notes.after(cursor)(db, "ben"),
        lambda: backwards.after(cursor)(db, "ada"),
        lambda: in_mood.after(mood)(db, "ada", "bad"),
        lambda: of_all.after(cursor)(db, ["ada"]),
    ]
    for read in refused:
        with pytest.raises(CursorRefused, match="start again without one"):
            read()
    held = cursor_holder.set("mia")
    try:
        with pytest.raises(CursorRefused):
            notes.after(cursor)(db, "ada")
    finally:
        cursor_holder.reset(held)
    merged = of_all(db, ["ada", "ben"])
    assert of_all.after(merged.cursor)(db, ["ada"]).items, "partitions may come and go"


def test_whatever_is_wrong_with_it_the_answer_is_the_same(db: Db) -> None:
    """Changed, cut, foreign or made up: never another error, and never another partition."""
    choose = random.Random(21)
    cursor = cursor_of(db)
    wrong = ["", "x", "===", "\u00e9", "\x00", "a" * 5000, cursor[:-1], cursor + "A", cursor * 2]
    for _ in range(300):
        letters = list(cursor)
        for _ in range(choose.randint(1, 4)):
            letters[choose.randrange(len(letters))] = choose.choice("ABCabc019-_=+/ %")
        wrong.append("".join(letters))
    wrong += [base64.urlsafe_b64encode(choose.randbytes(n)).decode() for n in range(60)]
    texts = set()
    for one in wrong:
        if one in ("", cursor):
            continue
        with pytest.raises(CursorRefused) as refused:
            notes.after(one)(db, "ada")
        texts.add(str(refused.value))
    assert len(texts) == 1


def test_it_grows_old(db: Db, sandbox: Sandbox) -> None:
    cursor = cursor_of(db)
    sandbox.clock.advance(GOOD_SECONDS - 1)
    assert notes.after(cursor)(db, "ada").items
    sandbox.clock.advance(2)
    with pytest.raises(CursorRefused):
        notes.after(cursor)(db, "ada")


def test_past_the_end_is_an_empty_page(db: Db) -> None:
    cursor = cursor_of(db)
    db.delete_collection(Note.key.query(owner_id="ada"))
    assert notes.after(cursor)(db, "ada").items == []


def test_secrets_are_changed_without_losing_cursors(db: Db) -> None:
    before = design.open(db.client, cursor_secret=OLD)
    between = design.open(db.client, cursor_secret=[NEW, OLD])
    after = design.open(db.client, cursor_secret=NEW)
    old, new = cursor_of(before), cursor_of(between)
    assert notes.after(old)(between, "ada").items
    assert notes.after(new)(after, "ada").items
    with pytest.raises(CursorRefused):
        notes.after(old)(after, "ada")
    with pytest.raises(CursorRefused):
        notes.after(old)(db, "ada")


def test_a_secret_of_the_environment(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"{NEW.decode()},{OLD.decode()}")
    cursor = cursor_of(design.open(db.client))
    assert notes.after(cursor)(design.open(db.client, cursor_secret=NEW), "ada").items
    monkeypatch.setenv(VARIABLE, "short")
    with pytest.raises(PlanError, match="has 5 bytes; use at least 16"):
        cursor_of(design.open(db.client))


def test_a_random_secret_is_kept_beside_a_data_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with design.open(path) as first:
        first.put_many([Note(owner_id="ada", number=n) for n in range(9)])
        cursor = cursor_of(first)
    kept = tmp_path / "notes.db.cursor-secret"
    assert kept.stat().st_mode & 0o777 == 0o600
    with design.open(str(path)) as second:
        assert notes.after(cursor)(second, "ada").items
    kept.unlink()
    with design.open(path) as third, pytest.raises(CursorRefused):
        notes.after(cursor)(third, "ada")


def test_a_collection_has_such_cursors_too(db: Db) -> None:
    wanted = collection(Note, owner_id="ada")
    first: Collected = db.read(wanted, limit=2)
    assert [n.number for n in db.read(wanted, limit=2, cursor=first.cursor).items] == [2, 3]
    with pytest.raises(CursorRefused):
        db.read(collection(Note, owner_id="ben"), limit=2, cursor=first.cursor)


def test_its_parts_are_those_of_the_standards(db: Db) -> None:
    """Opened by another library: HKDF, HMAC in counter mode, and a tag over what is bound."""
    position = {"PK": {"S": "NOTES#ada"}, "SK": {"S": "x" * 70}}
    raw = base64.urlsafe_b64decode(
        seal(CursorKey((OLD,), db.context.clock), "here", position) + "=="
    )
    tag, hidden = raw[:16], raw[16:]
    keys = HKDF(hashes.SHA256(), 64, None, b"keyfold cursor").derive(OLD)
    stream = KBKDFHMAC(
        hashes.SHA256(), Mode.CounterMode, len(hidden), 4, 4, CounterLocation.BeforeFixed,
        b"cursor", tag, None,
    ).derive(keys[32:])  # fmt: skip
    body = bytes(one ^ other for one, other in zip(hidden, stream, strict=True))
    assert json.loads(body) == [int(db.context.clock.now()), position]
    signed = HMAC(keys[:32], hashes.SHA256())
    signed.update(b'["here",""]\0' + body)
    assert signed.finalize()[:16] == tag
