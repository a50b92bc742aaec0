"""Kept items are never older than the last commit."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from keyfold.engine import Engine
from keyfold.engine.item_cache import HotItems, Marks
from keyfold.engine.storage import StoredItem
from keyfold.errors import StorageError, TransactionCanceled

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
from keyfold.engine import Engine

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
    hot = HotItems(Marks(), most_bytes=2_000)
    for number in range(100):
        hot.keep(1, b"%d" % number, stored(number), hot.marks())
    kept = [number for number in range(100) if hot.find(1, b"%d" % number)]
    assert 0 < len(kept) < 10
    assert 99 in kept


def test_a_process_that_died_in_the_middle_lets_nothing_be_kept_until_it_is_back() -> None:
    marks = Marks(2)
    ours, theirs = HotItems(marks, 0), HotItems(marks, 1)
    theirs.begin()
    ours.keep(1, b"a", stored(1), ours.marks())
    assert ours.find(1, b"a") is None
    HotItems(marks, 1)
    ours.keep(1, b"a", stored(1), ours.marks())
    assert ours.find(1, b"a") == stored(1)


@dataclass
class Process:
    """One of the processes that share a file, and what each of its two readers is about to keep."""

    hot: HotItems
    writes: dict[bytes, int] | None = None
    committed: bool = False
    reads: dict[int, tuple[bytes, bytes, int | None]] = field(default_factory=dict)


NUMBERS = st.integers(0, 1)
PLACES = st.sampled_from([b"a", b"b"])


class SharedMemory(RuleBasedStateMachine):
    """Two processes read, write, give up and die in every order of their steps."""

    def __init__(self) -> None:
        super().__init__()
        self.marks = Marks(2)
        self.file: dict[bytes, int] = {b"a": 0, b"b": 0}
        self.last = 0
        self.processes = [Process(HotItems(self.marks, number)) for number in range(2)]

    def somebody_writes(self) -> bool:
        return any(p.writes is not None and not p.committed for p in self.processes)

    @rule(number=NUMBERS, reader=NUMBERS, place=PLACES)
    def start_to_read(self, number: int, reader: int, place: bytes) -> None:
        process = self.processes[number]
        marks = process.hot.marks()
        process.reads[reader] = (place, marks, self.file.get(place))

    @rule(number=NUMBERS, reader=NUMBERS)
    def keep_what_was_read(self, number: int, reader: int) -> None:
        process = self.processes[number]
        with suppress(KeyError):
            place, marks, value = process.reads.pop(reader)
            if value is not None:
                process.hot.keep(1, place, stored(value), marks)

    @precondition(lambda self: not self.somebody_writes())
    @rule(number=NUMBERS)
    def begin(self, number: int) -> None:
        process = self.processes[number]
        if process.writes is None:
            process.writes, process.committed = {}, False
            process.hot.begin()

    @rule(number=NUMBERS, place=PLACES)
    def write(self, number: int, place: bytes) -> None:
        process = self.processes[number]
        if process.writes is not None and not process.committed:
            self.last += 1
            process.writes[place] = self.last
            process.hot.touch(1, place)

    @rule(number=NUMBERS)
    def commit(self, number: int) -> None:
        process = self.processes[number]
        if process.writes is not None and not process.committed:
            self.file.update(process.writes)
            process.committed = True

    @rule(number=NUMBERS)
    def end(self, number: int) -> None:
        """After a commit, or in its place: what was written is then taken back."""
        process = self.processes[number]
        if process.writes is not None:
            process.hot.end()
            process.writes = None

    @rule(number=NUMBERS)
    def die_and_come_back(self, number: int) -> None:
        self.processes[number] = Process(HotItems(self.marks, number))

    @invariant()
    def what_is_found_is_what_the_file_has(self) -> None:
        for process in self.processes:
            for place, value in self.file.items():
                found = process.hot.find(1, place)
                assert found is None or found == stored(value)


TestSharedMemory = SharedMemory.TestCase
TestSharedMemory.settings = settings(stateful_step_count=30, deadline=None)
