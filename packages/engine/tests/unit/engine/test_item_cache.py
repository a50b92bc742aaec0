"""Kept items are never older than the last commit."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import orjson
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from keyfold_engine.engine import Engine
from keyfold_engine.engine.file_marks import FileMarks
from keyfold_engine.engine.item_cache import HotItems, MemoryMarks
from keyfold_engine.engine.storage import StoredItem
from keyfold_engine.engine.storage.wal_index import WalIndex
from keyfold_engine.engine.storage.watch import FileWatch
from keyfold_engine.errors import ConditionFailed, StorageError, TransactionCanceled

TABLE = {
    "TableName": "Things",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open() as opened:
        opened.call("CreateTable", TABLE)
        yield opened


def put(engine: Engine, key: str, number: int) -> None:
    item = {"pk": {"S": key}, "n": {"N": str(number)}}
    engine.call("PutItem", {"TableName": "Things", "Item": item})


def get(engine: Engine, key: str) -> int | None:
    found = engine.call("GetItem", {"TableName": "Things", "Key": {"pk": {"S": key}}})
    return int(found["Item"]["n"]["N"]) if "Item" in found else None


def stored(number: int) -> StoredItem:
    return StoredItem(1, 10, b"%d" % number)


def test_a_read_sees_the_write_before_it(engine: Engine) -> None:
    for number in range(3):
        put(engine, "a", number)
        assert [get(engine, "a"), get(engine, "a")] == [number, number]
    engine.call("DeleteItem", {"TableName": "Things", "Key": {"pk": {"S": "a"}}})
    assert get(engine, "a") is None


def test_a_write_that_is_taken_back_changes_nothing(engine: Engine) -> None:
    put(engine, "a", 1)
    assert get(engine, "a") == 1
    writes = [
        {"Put": {"TableName": "Things", "Item": {"pk": {"S": "a"}, "n": {"N": "2"}}}},
        {
            "ConditionCheck": {
                "TableName": "Things",
                "Key": {"pk": {"S": "b"}},
                "ConditionExpression": "attribute_exists(pk)",
            }
        },
    ]
    with pytest.raises(TransactionCanceled):
        engine.call("TransactWriteItems", {"TransactItems": writes})
    assert get(engine, "a") == 1


def test_an_update_after_a_failed_one_starts_from_what_was_stored(engine: Engine) -> None:
    put(engine, "a", 1)

    def update(condition: str) -> tuple[str, bytes]:
        request = {
            "TableName": "Things",
            "Key": {"pk": {"S": "a"}},
            "UpdateExpression": "ADD n :one",
            "ConditionExpression": condition,
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        return "UpdateItem", orjson.dumps(request)

    right, wrong = update("attribute_exists(pk)"), update("attribute_not_exists(pk)")
    results = engine.call_many_bytes([right, wrong, right, wrong, right])
    assert [type(result) for result in results] == [
        bytes, ConditionFailed, bytes, ConditionFailed, bytes,
    ]  # fmt: skip
    assert get(engine, "a") == 4


def test_a_table_made_again_has_none_of_the_old_items(engine: Engine) -> None:
    put(engine, "a", 1)
    assert get(engine, "a") == 1
    engine.call("DeleteTable", {"TableName": "Things"})
    engine.call("CreateTable", TABLE)
    assert get(engine, "a") is None


def test_a_closed_engine_reads_nothing(engine: Engine) -> None:
    put(engine, "a", 1)
    assert get(engine, "a") == 1
    engine.close()
    with pytest.raises(StorageError, match="closed"):
        get(engine, "a")


def test_threads_never_read_what_was_before_an_acknowledged_write(engine: Engine) -> None:
    put(engine, "a", 0)
    acknowledged = 0
    failures: list[tuple[int, int | None]] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            before = acknowledged
            found = get(engine, "a")
            if found is None or found < before:
                failures.append((before, found))

    watchers = [threading.Thread(target=watch) for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    for number in range(1, 1500):
        put(engine, "a", number)
        acknowledged = number
    done.set()
    for watcher in watchers:
        watcher.join()
    assert failures == []


FORKS = """
import os
from keyfold_engine.engine import Engine

def put(number):
    item = {"pk": {"S": "a"}, "n": {"N": number}}
    engine.call("PutItem", {"TableName": "Things", "Item": item})

def get():
    asked = {"TableName": "Things", "Key": {"pk": {"S": "a"}}}
    return engine.call("GetItem", asked)["Item"]["n"]["N"]

with Engine.open() as engine:
    engine.call("CreateTable", TABLE)
    put("1")
    assert get() == "1"
    child = os.fork()
    if child == 0:
        put("2")
        os._exit(0 if get() == "2" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert get() == "1"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_memory_of_its_own() -> None:
    # In a process of its own: this one may have threads, which a fork would leave behind.
    subprocess.run([sys.executable, "-c", f"TABLE = {TABLE!r}\n{FORKS}"], check=True, timeout=60)


def test_no_more_is_kept_than_there_is_room_for() -> None:
    hot = HotItems(MemoryMarks(), most_bytes=2_000)
    for number in range(100):
        hot.keep(1, b"%d" % number, stored(number), hot.marks())
    kept = [number for number in range(100) if hot.find(1, b"%d" % number)]
    assert 0 < len(kept) < 10
    assert 99 in kept


def test_what_another_process_writes_to_a_file_is_read(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "data.db") as engine:
        engine.call("CreateTable", TABLE)
        for number in range(3):
            put(engine, "a", number)
            assert [get(engine, "a"), get(engine, "a")] == [number, number]
            _elsewhere(engine.path, f"put(engine, 'a', {number + 10})")
            assert [get(engine, "a"), get(engine, "a")] == [number + 10, number + 10]
            _elsewhere(engine.path, "delete(engine, 'a')")
            assert get(engine, "a") is None


def test_a_file_stays_in_use_when_another_engine_of_the_process_closes_it(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "data.db") as engine:
        engine.call("CreateTable", TABLE)
        put(engine, "a", 1)
        with Engine.open(tmp_path / "data.db") as other:
            assert get(other, "a") == 1
        # The last process to close a file that nobody else uses would delete its log.
        _elsewhere(engine.path, "put(engine, 'a', 2)")
        assert (tmp_path / "data.db-wal").exists()
        assert get(engine, "a") == 2
    assert not (tmp_path / "data.db-wal").exists()


def test_a_closed_engine_takes_no_locks_along_when_it_is_collected(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    closed = Engine.open(path)
    # Another process keeps the file, so that the next engine here has the same index of the log.
    hold = (
        "import sys; from keyfold_engine.engine import Engine; "
        "engine = Engine.open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        closed.close()
        with Engine.open(path):
            before = own_locks(Path(f"{path}-shm"))
            assert before
            del closed
            gc.collect()
            assert own_locks(Path(f"{path}-shm")) == before
        other.communicate()


def own_locks(file: Path) -> list[str]:
    """The locks of this process on a file, as the kernel lists them."""
    ending = f":{file.stat().st_ino}"
    rows = (line.split() for line in Path("/proc/locks").read_text().splitlines())
    return [
        " ".join(row[1:]) for row in rows if row[4] == str(os.getpid()) and row[5].endswith(ending)
    ]


def test_reads_of_kept_items_notice_that_their_file_is_gone(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "data.db") as engine:
        engine.call("CreateTable", TABLE)
        put(engine, "a", 1)
        assert get(engine, "a") == 1
        (tmp_path / "data.db").unlink()
        assert engine.database.commits._watch is not None
        engine.database.commits._watch.due = 0.0
        with pytest.raises(StorageError, match="was deleted"):
            get(engine, "a")


_ELSEWHERE = """
import sys
from keyfold_engine.engine import Engine

def put(engine, key, number):
    item = {"pk": {"S": key}, "n": {"N": str(number)}}
    engine.call("PutItem", {"TableName": "Things", "Item": item})

def delete(engine, key):
    engine.call("DeleteItem", {"TableName": "Things", "Key": {"pk": {"S": key}}})

with Engine.open(sys.argv[1]) as engine:
    exec(sys.argv[2])
"""


def _elsewhere(path: str, work: str) -> None:
    subprocess.run([sys.executable, "-c", _ELSEWHERE, path, work], check=True, timeout=60)


_ITEMS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE items (place BLOB PRIMARY KEY, value INTEGER);
INSERT INTO items VALUES (x'61', 0), (x'62', 0);
"""


class Process:
    """One of the processes that share a file, and what each of its two readers is about to keep."""

    def __init__(self, path: str) -> None:
        self.connection = apsw.Connection(path)
        self.connection.execute("PRAGMA journal_mode = WAL").fetchall()
        self.connection.execute("SELECT * FROM items").fetchall()
        watch = FileWatch(path)
        watch.due = float("inf")
        self.hot = HotItems(FileMarks(self.connection, WalIndex.of(path), watch))
        self.is_gathering = self.has_begun = False
        self.reads: dict[int, tuple[bytes, bytes, int]] = {}

    def value(self, place: bytes) -> int:
        query = "SELECT value FROM items WHERE place = ?"
        [[value]] = self.connection.execute(query, (place,)).fetchall()
        assert isinstance(value, int)
        return value

    def begin(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self.hot.begin()
        self.has_begun = self.is_gathering = True

    def write(self, place: bytes, value: int) -> None:
        self.connection.execute("UPDATE items SET value = ? WHERE place = ?", (value, place))
        self.hot.touch(1, place, stored(value))

    def close(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")
        self.connection.close()
        self.hot.close()


def _shared_file(folder: Path) -> tuple[Process, Process]:
    """Two processes on one file, the first of which keeps an item."""
    path = str(folder / "data.db")
    connection = apsw.Connection(path)
    connection.execute(_ITEMS).fetchall()
    first, second = Process(path), Process(path)
    connection.close()
    marks = first.hot.marks()
    first.hot.keep(1, b"a", stored(first.value(b"a")), marks)
    assert first.hot.find(1, b"a") == stored(0)
    return first, second


@pytest.mark.parametrize("value", [0, 1], ids=["changes nothing", "changes something"])
def test_a_commit_of_another_process_is_not_taken_for_ones_own(tmp_path: Path, value: int) -> None:
    first, second = _shared_file(tmp_path)
    first.begin()
    first.write(b"b", value)
    first.hot.end_gathering()
    first.connection.execute("COMMIT")
    second.begin()
    second.write(b"a", 7)
    second.connection.execute("COMMIT")
    second.hot.end()
    first.hot.end()
    assert first.hot.find(1, b"a") is None
    first.close()
    second.close()


def test_what_a_commit_wrote_is_kept(tmp_path: Path) -> None:
    first, second = _shared_file(tmp_path)
    first.begin()
    first.write(b"a", 5)
    assert first.hot.current(1, b"a") == stored(5)
    first.hot.end_gathering()
    assert first.hot.find(1, b"a") == stored(0)
    first.connection.execute("COMMIT")
    assert first.hot.find(1, b"a") is None
    first.hot.end()
    assert first.hot.find(1, b"a") == stored(5)
    first.close()
    second.close()


def test_what_a_transaction_did_not_touch_stays_kept(tmp_path: Path) -> None:
    first, second = _shared_file(tmp_path)
    first.begin()
    first.write(b"b", 1)
    assert first.hot.find(1, b"a") is None
    first.hot.end_gathering()
    assert first.hot.find(1, b"a") == stored(0)
    first.connection.execute("COMMIT")
    first.hot.end()
    assert first.hot.find(1, b"a") == stored(0)
    first.close()
    second.close()


NUMBERS = st.integers(0, 1)
PLACES = st.sampled_from([b"a", b"b"])


class SharedFile(RuleBasedStateMachine):
    """Two processes read, write, give up and die in every order of their steps."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self.folder.name, "data.db"))
        self.witness = apsw.Connection(self.path)
        self.witness.execute(_ITEMS).fetchall()
        self.last = 0
        self.processes = [Process(self.path) for _ in range(2)]

    def teardown(self) -> None:
        for process in self.processes:
            process.close()
        self.witness.close()
        self.folder.cleanup()

    def somebody_writes(self) -> bool:
        return any(process.connection.in_transaction for process in self.processes)

    @rule(number=NUMBERS, reader=NUMBERS, place=PLACES)
    def start_to_read(self, number: int, reader: int, place: bytes) -> None:
        process = self.processes[number]
        if not process.connection.in_transaction or process.is_gathering:
            marks = process.hot.marks()
            process.reads[reader] = (place, marks, process.value(place))

    @rule(number=NUMBERS, reader=NUMBERS)
    def keep_what_was_read(self, number: int, reader: int) -> None:
        process = self.processes[number]
        with suppress(KeyError):
            place, marks, value = process.reads.pop(reader)
            process.hot.keep(1, place, stored(value), marks)

    @precondition(lambda self: not self.somebody_writes())
    @rule(number=NUMBERS)
    def begin(self, number: int) -> None:
        process = self.processes[number]
        if not process.has_begun:
            process.begin()

    @rule(number=NUMBERS, place=PLACES, is_same=st.booleans())
    def write(self, number: int, place: bytes, is_same: bool) -> None:
        process = self.processes[number]
        if process.is_gathering:
            self.last += not is_same
            value = process.value(place) if is_same else self.last
            process.write(place, value)

    @rule(number=NUMBERS, place=PLACES)
    def write_in_vain(self, number: int, place: bytes) -> None:
        """One of the writes of a transaction fails, and alone is taken back."""
        process = self.processes[number]
        if process.is_gathering:
            process.connection.execute("SAVEPOINT one")
            process.write(place, -1)
            process.connection.execute("ROLLBACK TO one; RELEASE one")
            process.hot.take_back()

    @rule(number=NUMBERS)
    def gather(self, number: int) -> None:
        process = self.processes[number]
        if process.is_gathering:
            process.is_gathering = False
            process.reads.clear()
            process.hot.end_gathering()

    @rule(number=NUMBERS)
    def commit(self, number: int) -> None:
        process = self.processes[number]
        if process.connection.in_transaction and not process.is_gathering:
            process.connection.execute("COMMIT")

    @rule(number=NUMBERS)
    def end(self, number: int) -> None:
        """After a commit, or in its place: what was written is then taken back."""
        process = self.processes[number]
        if process.has_begun and not process.is_gathering:
            if process.connection.in_transaction:
                process.connection.execute("ROLLBACK")
                process.hot.take_back()
            process.hot.end()
            process.has_begun = False

    @rule(number=NUMBERS)
    def die_and_come_back(self, number: int) -> None:
        self.processes[number].close()
        self.processes[number] = Process(self.path)

    @rule()
    def checkpoint(self) -> None:
        if not self.somebody_writes():
            self.witness.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)

    @invariant()
    def what_is_found_is_what_the_file_has(self) -> None:
        query = "SELECT place, value FROM items"
        file: dict[bytes, int] = dict(self.witness.execute(query).fetchall())  # type: ignore[arg-type]
        for process in self.processes:
            for place, value in file.items():
                found = process.hot.find(1, place)
                assert found is None or found == stored(value)
                if process.is_gathering:
                    current = process.hot.current(1, place)
                    assert current is None or current == stored(process.value(place))


TestSharedFile = SharedFile.TestCase
TestSharedFile.settings = settings(stateful_step_count=30, max_examples=60, deadline=None)
