"""What planning needs to know besides the intent: table names, time, the cursor key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from keyfold.clock import Clock, SystemClock
from keyfold.design.design import Declarations
from keyfold.design.naming import physical_name
from keyfold.design.schema import TableSchema
from keyfold.runtime.cursor import CursorKey, cursor_key
from keyfold.runtime.decoding import OnUndecodable


@dataclass(frozen=True)
class Context:
    """The surroundings of one handle."""

    design: Declarations
    clock: Clock = field(default_factory=SystemClock)
    table_prefix: str = ""
    table_names: Mapping[str, str] = field(default_factory=dict)
    cursor_secret: bytes | str | Sequence[bytes] = b""
    data_file: Path | None = None
    on_undecodable: OnUndecodable = "raise"

    def physical(self, table: TableSchema) -> str:
        """The table's name on the backend: override, variable of the environment, or prefix."""
        return physical_name(table, self.table_prefix, self.table_names)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)

    @cached_property
    def cursor_key(self) -> CursorKey:
        return cursor_key(self.cursor_secret, self.data_file, self.clock)
