"""Where in a document a statement is told: its reading, its block and what that is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from keyfold_workbench.adopt.document.blocks import Block
from keyfold_workbench.adopt.document.key_side import KeyNames
from keyfold_workbench.adopt.document.scope import Scope
from keyfold_workbench.adopt.document.statements import DocumentReading, DocumentStatement


@dataclass(frozen=True)
class Here:
    """A block that is being read."""

    reading: DocumentReading
    block: Block
    at: Scope

    @property
    def names(self) -> KeyNames:
        return self.reading.names

    def say(self, kind: type[DocumentStatement], line: int, notation: str, **fields: Any) -> None:
        """Tell a statement of a line; table and state are those of the section."""
        told = {"table": self.at.table, "state": self.at.state, "owner": self.at.entity, **fields}
        self.reading.say(kind(line=line, notation=notation, **told))

    def ask(self, line: int, question: str) -> None:
        self.reading.ask(line, question)

    def mark_read(self, line: int) -> None:
        self.reading.mark(line, "read")

    def about(self, **scope: str) -> Here:
        """The same block, about another entity, table or index."""
        return replace(self, at=replace(self.at, **scope))  # type: ignore[arg-type]
