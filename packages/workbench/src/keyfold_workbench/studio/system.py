"""A system in the studio: a design, where its data is, and what may be done to it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from keyfold.design.schema import EntitySchema, Schema, TableSchema
from keyfold.migrations import Migration
from keyfold.review.check import Review, check
from keyfold.runtime import Db, Design
from keyfold.streams import StreamStatus, status
from keyfold_engine.clients.protocol import Client
from keyfold_engine.clock import Clock
from keyfold_workbench.advise import Advice
from keyfold_workbench.cost import Bill, Workload, bill
from keyfold_workbench.studio.change_log import ChangeLog
from keyfold_workbench.studio.checkup import Checkup
from keyfold_workbench.studio.items import ItemReader
from keyfold_workbench.studio.lag import LagSamples
from keyfold_workbench.studio.migration_run import MigrationRun
from keyfold_workbench.studio.palette import Palette
from keyfold_workbench.studio.survey import DataSurvey

RATE_SECONDS = 15.0
"""The time over which the rate of consumers is taken."""


@dataclass
class StudioSystem:
    """One design on one backend."""

    slug: str
    title: str
    schema: Schema
    client: Client
    place: str
    """Where the data is, in a word: the file's name, the server's address."""
    writable: bool
    address: str = ""
    """How a program opens it, where the place alone does not say."""
    design: Design | None = None
    """The design that runs; without it nothing is run or written."""
    file: Schema | None = None
    """The design file that the design was built from: findings and workloads use its names."""
    why_read_only: str = ""
    """Why nothing can be written, where another start of the studio would not help."""
    description: str = ""
    workload: Workload | None = None
    as_written: Schema | None = None
    document: Path | None = None
    """The document that the design was read from."""
    page: str | None = None
    """The address of the system's own page for people, if it has one."""
    migrations: Sequence[Migration] = ()
    table_prefix: str = ""
    table_names: Mapping[str, str] = field(default_factory=dict)
    checkup: Checkup = field(default_factory=Checkup)
    advice: Advice | None = None
    """What the adviser found, once requested."""
    runs: dict[str, MigrationRun] = field(default_factory=dict)
    """Migrations that were started here, by name."""
    _streams: tuple[float, StreamStatus | None] = (float("-inf"), None)
    _settled: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=60))
    """How many records were settled, and when that was seen."""

    @cached_property
    def palette(self) -> Palette:
        return Palette(self.schema)

    @cached_property
    def reader(self) -> ItemReader:
        return ItemReader(self.schema)

    @cached_property
    def survey(self) -> DataSurvey:
        names = {table.name: self.physical(table) for table in self.schema.tables}
        return DataSurvey(self.client, self.schema.tables, names, self.reader)

    @cached_property
    def changes(self) -> ChangeLog:
        names = {self.physical(table): table for table in self.schema.tables}
        return ChangeLog(self.call, names, self.reader)

    @cached_property
    def lag(self) -> LagSamples:
        """How far the consumers of the design are behind."""
        return LagSamples(self._lag_seconds)

    def _lag_seconds(self) -> float | None:
        now = self.stream_status()
        return now.lag_seconds if now is not None and now.shards else None

    def stream_status(self, within: float = 0.0) -> StreamStatus | None:
        """The state of the consumers, read now or not longer ago than `within` seconds."""
        at, known = self._streams
        if time.monotonic() - at < within:
            return known
        db = self.open()
        made = None if db is None else db.run(status(db.context))
        now = time.monotonic()
        self._streams = now, made
        if made is not None:
            self._settled.append((now, made.records))
        return made

    def records_a_second(self) -> float | None:
        """How fast the consumers read lately; None until there are two samples."""
        lately = [one for one in [*self._settled] if one[0] > time.monotonic() - RATE_SECONDS]
        if len(lately) < 2:
            return None
        (begun, before), (ended, after) = lately[0], lately[-1]
        return max(0, after - before) / max(ended - begun, 1e-3)

    @property
    def stated(self) -> Schema:
        """The design as its author wrote it."""
        return self.file or self.schema

    @cached_property
    def review(self) -> Review:
        return check(self.stated)

    @cached_property
    def written_review(self) -> Review | None:
        return None if self.as_written is None else check(self.as_written)

    @cached_property
    def bill(self) -> Bill | None:
        return None if self.workload is None else bill(self.stated, self.workload)

    def open(self, client: Client | None = None, clock: Clock | None = None) -> Db | None:
        """The typed handle, on the system's client or one that watches it."""
        if self.design is None:
            return None
        return self.design.open(
            client or self.client,
            clock=clock,
            table_prefix=self.table_prefix,
            table_names=self.table_names,
            create_tables=False,
        )

    def physical(self, table: TableSchema) -> str:
        return table.physical_name(self.table_prefix, self.table_names)

    def table(self, name: str) -> TableSchema | None:
        return self.schema.by_table.get(name)

    def entity(self, name: str) -> EntitySchema | None:
        return self.schema.by_entity.get(name)

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return self.client.call(operation, request)
