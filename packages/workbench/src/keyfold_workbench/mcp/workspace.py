"""What the tools work on: a design, optionally a backend, and whether they may write."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyfold.design import file
from keyfold.design.entity import Entity
from keyfold.design.pattern import Pattern
from keyfold.design.target import load_schema
from keyfold.errors import KeyfoldError
from keyfold.review.draft import names
from keyfold.review.draft.declarations import running_design
from keyfold.runtime import Db, Design
from keyfold.settings import nearest
from keyfold_engine.clients.recorder import ReadLimits, RecordedClient

if TYPE_CHECKING:
    from keyfold.design.schema import Schema
    from keyfold_engine.clients.protocol import Client


@dataclass(frozen=True)
class Workspace:
    """A design by its target, on the configured backend; loaded when a tool needs it."""

    target: str = ""
    backend: str = ""
    write: bool = False
    limits: ReadLimits = field(default_factory=ReadLimits)
    table_prefix: str = ""
    table_names: Mapping[str, str] = field(default_factory=dict)
    migrations: Path = Path("migrations")
    """The directory of the project's plans."""
    cursor_secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @cached_property
    def schema(self) -> Schema:
        if not self.target:
            raise KeyfoldError(
                "this server has no design; start it as keyfold mcp package.module:design, or "
                "pass the design's text to a tool that takes one"
            )
        return load_schema(self.target)

    def schema_of(self, text: str) -> Schema:
        """The design of a design file's text, or without one that of the server."""
        return file.loads(text, file="the given text") if text else self.schema

    @cached_property
    def design(self) -> Design:
        """The design, ready to run; that of a design file is built in memory."""
        return running_design(self.target)

    def pattern(self, name: str) -> Pattern[..., Any]:
        """A pattern by its name in the design, or in the design file that it was built from."""
        known = self.design.patterns
        found = known.get(name) or known.get(names.function(name))
        if found is None:
            raise KeyfoldError(f"the design has no pattern {name!r}; {nearest(name, known)}")
        return found

    def entity(self, name: str) -> type[Entity]:
        """An entity, likewise."""
        known = self.design.entities
        found = known.get(name) or known.get(names.class_name(name))
        if found is None:
            raise KeyfoldError(f"the design has no entity {name!r}; {nearest(name, known)}")
        return found

    @cached_property
    def _client(self) -> Client:
        from keyfold_engine.clients import connect

        if not self.backend:
            raise KeyfoldError("this server has no backend; start it with --backend ADDRESS")
        return connect(self.backend)

    @contextmanager
    def client(self, *, write: bool = False) -> Iterator[RecordedClient]:
        """The backend, for one task and within its limits."""
        yield RecordedClient(self._client, self.limits, writes=write and self.write)

    @contextmanager
    def db(self, *, write: bool = False) -> Iterator[tuple[Db, RecordedClient]]:
        """The design on its backend, for one task and within its limits."""
        with self.client(write=write) as client:
            opened = self.design.open(
                client,
                create_tables=False,
                table_prefix=self.table_prefix,
                table_names=dict(self.table_names),
                cursor_secret=self.cursor_secret,
            )
            try:
                yield opened, client
            finally:
                opened.close()

    def close(self) -> None:
        if "_client" in self.__dict__:
            self._client.close()
