"""A look at a table: the first pages of a scan, from which counts and examples are taken."""

from __future__ import annotations

import threading
import time
from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from keyfold.design.schema import TableSchema
from keyfold.errors import TableNotFound
from keyfold.runtime.walk import Walk, pages
from keyfold_engine.clients.protocol import Client
from keyfold_workbench.studio.items import ItemReader, KnownItem

PAGES = 4
"""Pages of a megabyte that one look reads at most."""
FRESH_SECONDS = 30.0
RETRY_SECONDS = 5.0
PATIENCE = 0.4
"""Seconds after its start that a page waits for a look; then it shows dashes, not numbers."""
EXAMPLES = 200


@dataclass
class TableSurvey:
    """What the first pages of a table held."""

    table: TableSchema
    at: float = field(default_factory=time.monotonic)
    items: int = 0
    """As DescribeTable says; all of them where the look reached the end."""
    bytes: int = 0
    seen: int = 0
    complete: bool = False
    missing: bool = False
    kinds: Tally[str] = field(default_factory=Tally)
    kind_bytes: Tally[str] = field(default_factory=Tally)
    partitions: Tally[str] = field(default_factory=Tally)
    partition_bytes: Tally[str] = field(default_factory=Tally)
    undeclared: list[KnownItem] = field(default_factory=list)
    examples: dict[str, list[KnownItem]] = field(default_factory=dict)

    def count(self, kind: str) -> int:
        """How many items of a kind there are: as seen, or in proportion."""
        found = self.kinds[kind]
        if self.complete or not self.seen:
            return found
        return round(found * max(self.items, self.seen) / self.seen)

    def note(self, item: KnownItem) -> None:
        self.seen += 1
        self.kinds[item.kind] += 1
        self.kind_bytes[item.kind] += item.size
        self.partitions[item.partition] += 1
        self.partition_bytes[item.partition] += item.size
        if item.kind == "undeclared" and len(self.undeclared) < EXAMPLES:
            self.undeclared.append(item)
        if len(known := self.examples.setdefault(item.kind, [])) < EXAMPLES:
            known.append(item)


class DataSurvey:
    """The look at all tables of a design, kept for a moment."""

    def __init__(
        self,
        client: Client,
        tables: Iterable[TableSchema],
        names: Mapping[str, str],
        by: ItemReader,
    ) -> None:
        self._client, self._names, self._by = client, names, by
        self._tables = tuple(tables)
        self._lock = threading.Lock()
        self._made: dict[str, TableSurvey] = {}
        self._due = 0.0
        self._writes = self._shown_writes = 0
        self._running: threading.Thread | None = None
        self._started = 0.0
        self._problem = ""

    def forget(self) -> None:
        """Look again the next time: something was written."""
        self._writes += 1
        self._due = 0.0

    def tables(self, wait: float = PATIENCE) -> dict[str, TableSurvey]:
        """What is known by now. Pages wait for the first look, and for one after a write, until
        `wait` seconds after its start; what has grown old is shown while it is renewed.
        """
        while True:
            with self._lock:
                if time.monotonic() >= self._due and self._running is None:
                    self._running = threading.Thread(target=self._renew, name="survey", daemon=True)
                    self._started = time.monotonic()
                    self._running.start()
                running = self._running
                left = self._started + wait - time.monotonic()
                holds = bool(self._made) and self._shown_writes == self._writes
            if running is None or left <= 0 or holds:
                return self._made
            # A look that began before the write is followed by another.
            running.join(left)

    @property
    def notice(self) -> str:
        """Why numbers are missing; empty where they are not."""
        if self._problem:
            return f"The backend does not answer: {self._problem}"
        if self.is_first_look:
            return "The backend has not answered yet. The numbers appear when it does."
        return ""

    @property
    def is_first_look(self) -> bool:
        """Whether nothing is known yet, and soon will be."""
        return not self._made and self._running is not None

    def _renew(self) -> None:
        self._due, writes = float("inf"), self._writes
        try:
            self._made = {table.name: self._look(table) for table in self._tables}
            self._shown_writes = writes
            self._problem, lasts = "", FRESH_SECONDS
        except Exception as problem:
            self._problem, lasts = str(problem), RETRY_SECONDS
        with self._lock:
            if self._due:  # not forgotten meanwhile
                self._due = time.monotonic() + lasts
            self._running = None

    def describe(self) -> dict[str, TableSurvey]:
        """Counts alone, as DescribeTable gives them."""
        return {table.name: self._describe(table) for table in self._tables}

    def _describe(self, table: TableSchema) -> TableSurvey:
        found = TableSurvey(table)
        try:
            answer = self._client.call("DescribeTable", {"TableName": self._names[table.name]})
        except TableNotFound:
            found.missing = found.complete = True
            return found
        found.items = int(answer["Table"].get("ItemCount", 0))
        found.bytes = int(answer["Table"].get("TableSizeBytes", 0))
        return found

    def _look(self, table: TableSchema) -> TableSurvey:
        found = self._describe(table)
        if found.missing:
            return found
        before = self._made.get(table.name)
        if before and not before.complete and found.at - before.at < FRESH_SECONDS:
            # An estimate does not change by what was just written.
            return replace(before, items=found.items, bytes=found.bytes)
        scan = Walk("Scan", {"TableName": self._names[table.name]})
        for page in islice(pages(self._client.call, scan), PAGES):
            for wire in page["Items"]:
                found.note(self._by.read(table, wire))
        found.complete = scan.ended
        if found.complete:
            found.items, found.bytes = found.seen, sum(found.kind_bytes.values())
        return found
