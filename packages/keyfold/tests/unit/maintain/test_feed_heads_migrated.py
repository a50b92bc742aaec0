"""Heads that a migration turns on, off, or makes longer: pages are right before and after."""

from __future__ import annotations

import importlib
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine
from keyfold.maintain import rebuild, repair, verify
from keyfold.maintain.feed.heads import head_of
from keyfold.migrations import Backend, Migrator, load
from keyfold.migrations.plan import draft
from keyfold.streams import Consumer

ROOT = Path(__file__).parents[5]
POSTS = 6
LABEL = "feed home heads"
DESIGN = (ROOT / "docs/guide/feeds.md").read_text("utf-8").split("# social_design.py\n")[1]
DESIGN = DESIGN.split("```")[0]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("was", "now"), [(0, 3), (3, 8), (8, 3), (3, 0)])
def test_a_migration_turns_heads_on_and_off_and_changes_their_length(
    home: Path, was: int, now: int
) -> None:
    client = EmbeddedClient(Engine.open(":memory:"))
    old, old_feed = _declared(home, "feed_before", was)
    db = old.open(client)
    shown = _posted(db, old, old_feed)
    Consumer(db).drain()
    new, feed = _declared(home, "feed_after", now)
    migration = load(draft("heads", old.schema, new.schema, design="feed_after:design").save(home))
    sys.modules.pop("feed_after", None)
    Migrator(migration, Backend(client), without_routers=True).apply("contract")
    after = new.open(client, create_tables=False)
    assert [item.text for item in feed.page(after, "ann")] == shown
    assert verify(after).drifts == []
    if now and not was:
        assert _entries(after, feed) == now
    made = new.entities["Activity"](
        actor_id="ben", created_at=datetime.now(UTC), activity_id="new", text="new"
    )
    feed.post(after, made)
    assert [item.text for item in feed.page(after, "ann")] == ["new", *shown]
    Consumer(after).drain()
    assert verify(after).drifts == []
    if now:
        assert 0 < _entries(after, feed) <= now


class Killed(BaseException):
    """The process is gone; no handler sees it."""


class Dying:
    """A client that is gone after so many requests."""

    def __init__(self, client: Any, left: int) -> None:
        self.client, self.left = client, left

    def call(self, operation: str, request: dict[str, Any]) -> Any:
        if self.left == 0:
            raise Killed
        self.left -= 1
        return self.client.call(operation, request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


@pytest.mark.parametrize("work", ["repair", "rebuild"])
def test_work_on_heads_that_dies_anywhere_is_finished_by_the_next(home: Path, work: str) -> None:
    design, feed = _declared(home, "feed_dying", 3)
    died = 0
    for left in range(0, 60, 3):
        client = EmbeddedClient(Engine.open(":memory:"))
        db = design.open(client)
        shown = _posted(db, design, feed)
        Consumer(db).drain()
        hint = db.get(feed.support.hint.key(source="ben"))
        db.put_many([hint.model_copy(update={"head": b"damaged"})])
        report = verify(db)
        assert report.counts == {"feed heads": 1}
        mortal = design.open(Dying(client, left), create_tables=False)
        try:
            if work == "repair":
                repair(mortal, report)
            else:
                rebuild(mortal, [LABEL])
        except Killed:
            died += 1
        assert [item.text for item in feed.page(db, "ann")] == shown
        repair(db, verify(db))
        assert verify(db).drifts == []
        assert _entries(db, feed) == 3
    assert died


def _declared(folder: Path, name: str, heads: int) -> tuple[Any, Any]:
    source = DESIGN.replace("cap=1000)", f"cap=1000, heads={heads})")
    assert f"heads={heads}" in source
    (folder / f"{name}.py").write_text(source, "utf-8")
    try:
        module = importlib.import_module(name)
        return module.design, module.home
    finally:
        del sys.modules[name]


def _posted(db: Any, design: Any, feed: Any) -> list[str]:
    """Two sources, whom Ann pulls; what she sees."""
    made: list[Any] = []
    for source in ("ben", "cat"):
        follow = design.entities["Follow"](follower_id="ann", followee_id=source)
        db.transact(*feed.following(follow))
    for number in range(POSTS):
        for source in ("ben", "cat"):
            at = datetime.now(UTC) - timedelta(minutes=10 * (POSTS - number), seconds=len(made))
            name = f"{source}{number}"
            activity = design.entities["Activity"](
                actor_id=source, created_at=at, activity_id=name, text=name
            )
            made.append(feed.post(db, activity))
    return [one.text for one in sorted(made, key=feed.position, reverse=True)]


def _entries(db: Any, feed: Any) -> int:
    head = head_of(feed, db.get(feed.support.hint.key(source="ben")))
    return 0 if head is None else len(head.entries)
