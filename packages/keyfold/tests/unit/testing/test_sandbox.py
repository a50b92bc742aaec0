"""The sandbox: fresh, still, and as slow or faulty as it is told to be."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import pytest

from keyfold import Design, Entity, Id, Index, Key, Name, On, Query, Timestamp, Ttl
from keyfold.errors import BudgetExceeded, KeyfoldError, Throttled, Timeout
from keyfold.testing import Sandbox

pytest_plugins = ["pytester"]

design = Design("notes")
table = design.table("Notes", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")], ttl="ttl")


class Note(Entity, table=table):
    note_id: Id
    author_id: str
    expires_at: Annotated[Timestamp | None, Ttl(), Name("ttl")] = None
    key = Key("NOTE#{note_id}", "NOTE")
    by_author = On("GSI1", "AUTHOR#{author_id}", "NOTE#{note_id}")


@design.pattern(requests=1)
def notes_of(author_id: str) -> Query[Note]:
    """What somebody wrote."""
    return Note.by_author.query(author_id=author_id)


NOTE = Note(note_id="n", author_id="ada")


@pytest.mark.parametrize("time", [1, 2])
def test_each_test_has_an_empty_one(sandbox: Sandbox, time: int) -> None:
    db = sandbox.open(design)
    assert sandbox.items("Notes") == []
    db.create(NOTE)


def test_the_clock_moves_when_told_to_and_ends_lives(sandbox: Sandbox) -> None:
    db = sandbox.open(design)
    db.create(NOTE.model_copy(update={"expires_at": datetime(2026, 1, 2, tzinfo=UTC)}))
    assert sandbox.engine.sweep() == 0
    sandbox.clock.advance(86_400)
    assert sandbox.engine.sweep() == 1


@pytest.mark.sandbox(start=datetime(2030, 1, 1, tzinfo=UTC))
def test_the_clock_begins_where_the_marker_says(sandbox: Sandbox) -> None:
    assert sandbox.open(design).context.now() == datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.sandbox(index_lag="held")
def test_indexes_lag_until_they_are_released(sandbox: Sandbox) -> None:
    db = sandbox.open(design)
    db.create(NOTE)
    assert notes_of(db, "ada").items == []
    sandbox.engine.release_indexes()
    assert notes_of(db, "ada").items == [NOTE]


@pytest.mark.sandbox(index_lag=5)
class TestMarkers:
    def test_that_of_a_class_holds_in_its_tests(self, sandbox: Sandbox) -> None:
        db = sandbox.open(design)
        db.create(NOTE)
        assert notes_of(db, "ada").items == []
        sandbox.clock.advance(5)
        assert notes_of(db, "ada").items == [NOTE]

    @pytest.mark.sandbox(index_lag=None)
    def test_that_of_the_test_goes_before_it(self, sandbox: Sandbox) -> None:
        db = sandbox.open(design)
        db.create(NOTE)
        assert notes_of(db, "ada").items == [NOTE]


@pytest.mark.sandbox(throttle=1.0)
def test_requests_are_throttled_on_request(sandbox: Sandbox) -> None:
    db = sandbox.open(design)
    with pytest.raises(Throttled):
        notes_of(db, "ada")


@pytest.mark.sandbox(lose_answer=1.0)
def test_a_lost_answer_says_nothing_about_the_write(sandbox: Sandbox) -> None:
    db = sandbox.open(design)
    with pytest.raises(Timeout):
        db.client.call(
            "PutItem", {"TableName": "Notes", "Item": {"PK": {"S": "a"}, "SK": {"S": "b"}}}
        )


def test_requests_are_listed_as_they_were_sent(sandbox: Sandbox) -> None:
    db = sandbox.open(design)
    sandbox.requests.clear()
    db.find(Note.key(note_id="n"))
    [(operation, request)] = sandbox.requests
    assert operation == "GetItem"
    assert request["Key"] == {"PK": {"S": "NOTE#n"}, "SK": {"S": "NOTE"}}


async def test_an_event_loop_has_the_same(sandbox: Sandbox) -> None:
    db = await sandbox.open_async(design)
    await db.create(NOTE)
    assert (await notes_of(db, "ada")).items == [NOTE]
    assert sandbox.open(design).get(NOTE.ref()) == NOTE
    assert len(sandbox.items("Notes")) == 1


def test_a_loop_of_single_reads_is_an_error(sandbox: Sandbox) -> None:
    db = sandbox.open(design)
    db.create(NOTE)

    def one_by_one() -> None:
        for _ in range(10):
            db.get(NOTE.ref())

    with db.work("list"), pytest.raises(BudgetExceeded):
        one_by_one()


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A session with our plugin alone: the others take seconds to load."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.plugins = ["keyfold.testing.plugin"]
    return pytester


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("index_lags=1", "*@pytest.mark.sandbox: *index_lags*"),
        ("trottle=1.0", "*unknown argument 'trottle'; did you mean 'throttle'?*"),
        ("faults=1", "*unknown argument 'faults'; use one of conflict, hot_keys, index_lag, *"),
        ("throttle='much'", "*throttle is a probability, a number from 0 to 1: 'much'*"),
        ("throttle=2", "*throttle is a probability, a number from 0 to 1: 2*"),
        ("latency=1", "*latency is a (shortest, longest) pair of seconds: 1*"),
        ("index_lag='hold'", "*index_lag is seconds, *'hold'*"),
        ("start='2030'", "*start is a datetime: '2030'*"),
        ("'held'", "*takes named arguments, not*'held'*"),
    ],
)
def test_a_wrong_marker_says_what_is_wrong(
    suite: pytest.Pytester, marker: str, message: str
) -> None:
    suite.makepyfile(f"import pytest\n@pytest.mark.sandbox({marker})\ndef test_it(sandbox): pass\n")
    answer = suite.runpytest_subprocess("-p", "no:cacheprovider")
    answer.assert_outcomes(errors=1)
    answer.stdout.fnmatch_lines([message])


def test_sessions_without_it_load_nothing_of_it() -> None:
    script = "import keyfold.testing.plugin, sys; print('keyfold_engine.engine' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert answer.stdout == "False\n"


def test_the_tests_of_the_guide_pass(suite: pytest.Pytester) -> None:
    page = (Path(__file__).parents[5] / "docs" / "guide" / "testing.md").read_text("utf-8")
    files = re.findall(r"```python\n# (\w+)\.py\n(.*?)```", page, re.S)
    suite.makepyfile(**dict(files))
    answer = suite.runpytest_subprocess("-p", "no:cacheprovider")
    answer.assert_outcomes(passed=4)


async def test_in_an_event_loop_a_sandbox_ends_there() -> None:
    async with Sandbox() as sandbox:
        db = await sandbox.open_async(design)
        await db.create(NOTE)
        assert len((await notes_of(db, "ada")).items) == 1
        with pytest.raises(KeyfoldError, match="async with Sandbox"):
            sandbox.close()
