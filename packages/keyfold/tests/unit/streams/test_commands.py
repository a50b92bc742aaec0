"""`keyfold streams` where nothing has happened yet, or nothing can."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keyfold.cli import main

NOTES = """
from keyfold import Design, Entity, Id, Key

design = Design("notes")
table = design.table("Notes", stream="NEW_AND_OLD_IMAGES")


class Note(Entity, table=table):
    note_id: Id
    key = Key("NOTE#{note_id}", "NOTE")
"""
FOLLOWED = (
    NOTES
    + """

@design.on(Note, "insert")
def tell(old, new, delivery):
    delivery.emit("noted", {"id": new.note_id})
"""
)

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "notes_unfollowed.py").write_text(NOTES)
    (tmp_path / "notes_followed.py").write_text(FOLLOWED)
    import notes_unfollowed  # type: ignore[import-not-found]

    with notes_unfollowed.design.open("notes.db") as db:
        db.create(notes_unfollowed.Note(note_id="n"))

    def run(command: str, *more: str, module: str = "notes_followed") -> tuple[int, str]:
        target = [f"{module}:design", "--backend", "notes.db"]
        code = main([*command.split(), *target, *more])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def test_status_says_that_nobody_reads(run: Run) -> None:
    code, said = run("streams status")
    assert (code, "no consumer has read the stream of Notes yet" in said) == (1, True)
    assert run("streams run", "--once")[0] == 0
    code, said = run("streams status")
    assert (code, "1 shards, lag 0 s" in said) == (0, True)


def test_a_consumer_with_nothing_to_follow_says_so(run: Run) -> None:
    code, said = run("streams run", module="notes_unfollowed")
    assert (code, "notes has nothing to consume" in said) == (2, True)


def test_a_consumer_needs_a_thread(run: Run) -> None:
    code, said = run("streams run", "--threads", "0")
    assert (code, "threads must be at least 1" in said) == (2, True)


@pytest.mark.parametrize("action", ["show", "replay", "drop"])
def test_before_the_first_consumer_there_is_no_dead_letter(run: Run, action: str) -> None:
    code, said = run("streams letters", f"--{action}", "x")
    assert (code, "dead letter x not found" in said) == (2, True)


def test_waiting_events_are_listed_and_dropped(run: Run) -> None:
    assert run("streams run", "--once")[0] == 0
    code, listed = run("streams events")
    assert code == 0
    assert 'noted  {"id":"n"}' in listed
    assert run("streams events", "--drop", listed.split()[0])[0] == 0
    assert run("streams events") == (0, "no waiting events\n")
