"""What planning needs besides the intent: table names, clock, cursor key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from keyfold.design.design import Declarations
from keyfold.design.schema import TableSchema
from keyfold.runtime.cursor import CursorKey, cursor_key
from keyfold.runtime.flow import Flow
from keyfold.runtime.undecodable import OnUndecodable
from keyfold_engine.clients.protocol import AsyncClient, Client
from keyfold_engine.clock import Clock, SystemClock


class Followed(Protocol):
    """A migration that this handle follows."""

    def routed(self, client: Client, context: Context) -> Client: ...

    def routed_async(self, client: AsyncClient, context: Context) -> AsyncClient: ...

    def item_now(
        self, context: Context, position: Mapping[str, Any], table: str
    ) -> Flow[dict[str, Any] | None]:
        """The current item for a position taken before the migration."""

    def wait_for_copies(self, context: Context, table: str) -> Flow[None]:
        """Wait until items that another application has just written are in this table, too."""


@dataclass(frozen=True)
class Context:
    """The environment of one handle."""

    design: Declarations
    clock: Clock = field(default_factory=SystemClock)
    table_prefix: str = ""
    table_names: Mapping[str, str] = field(default_factory=dict)
    cursor_secret: bytes | str | Sequence[bytes] = b""
    data_file: Path | None = None
    on_undecodable: OnUndecodable = "raise"
    followed: Sequence[Followed] = ()
    """The migrations that this handle follows."""

    def physical(self, table: TableSchema) -> str:
        """The table's physical name: override, environment variable, or prefix."""
        return table.physical_name(self.table_prefix, self.table_names)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)

    @cached_property
    def cursor_key(self) -> CursorKey:
        return cursor_key(self.cursor_secret, self.data_file, self.clock)
