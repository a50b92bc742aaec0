"""What lines of a document say: each statement with its line and the notation it was read from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from keyfold_workbench.adopt.document.key_clauses import KeyClause
from keyfold_workbench.adopt.document.key_side import KeyNames, KeySide, Side
from keyfold_workbench.adopt.document.key_text import WrittenKey

Mark = Literal["read", "question", "contradicts", "not understood"]
State = Literal["", "before", "after"]
_RANK: dict[str, int] = {"": 0, "not understood": 1, "read": 2, "question": 3, "contradicts": 4}


@dataclass(frozen=True, kw_only=True)
class DocumentStatement:
    """One thing that a line says."""

    line: int
    notation: str
    """How it was read, in words: a row of keys, a line PK: …"""
    table: str = ""
    """The table that the section is about, if it names one."""
    state: State = ""
    owner: str = ""
    """The entity that the section is about; it may name a table."""


@dataclass(frozen=True, kw_only=True)
class KeyStatement(DocumentStatement):
    """An entity has this template at one side of the table's or an index's key."""

    entity: str
    side: KeySide
    key: WrittenKey
    section: tuple[str, ...] = ()

    def __str__(self) -> str:
        at = " ".join(
            filter(None, (self.side.index, self.side.attribute or f"{self.side.side} key"))
        )
        return f"{self.entity}: {at} = {self.key.text}"


@dataclass(frozen=True, kw_only=True)
class TableStatement(DocumentStatement):
    """A table's name, or a name of its key attributes, its time to live, its stream."""

    name: str = ""
    title: str = ""
    keys: tuple[tuple[Side, str, str], ...] = ()
    """Side, attribute and type (S, N, B) of each key attribute."""
    ttl: str = ""
    stream: str = ""

    def __str__(self) -> str:
        parts = [
            f"table {self.name or self.title}".strip(),
            *(f"{side} key {name}" for side, name, _ in self.keys),
        ]
        parts += [f"time to live {self.ttl}"] if self.ttl else []
        return ", ".join([*parts, *([f"stream {self.stream}"] if self.stream else [])])


@dataclass(frozen=True, kw_only=True)
class IndexStatement(DocumentStatement):
    """A secondary index, with its key attributes if the line gives them."""

    name: str
    number: str = ""
    keys: tuple[tuple[Side, str, str], ...] = ()
    projection: str = ""
    purpose: str = ""

    @property
    def is_own_name(self) -> bool:
        """`Index name: by-owner`: whatever its heading is."""
        return self.notation in ("a property", "a row of a property") and self.name != self.number

    def __str__(self) -> str:
        return ", ".join(
            [f"index {self.name}", *(f"{side} key {name}" for side, name, _ in self.keys)]
        )


@dataclass(frozen=True, kw_only=True)
class AttributeStatement(DocumentStatement):
    """An entity's attribute; a type that is not given is empty."""

    entity: str
    name: str
    type: str = ""
    optional: bool = False
    values: tuple[str, ...] = ()
    stored: str = ""
    """The format of a time that is a number: epoch or epoch_ms."""

    def __str__(self) -> str:
        kind = " ".join(filter(None, ("optional" * self.optional, self.type or "no type")))
        return f"{self.entity}.{self.name}: {kind}"


@dataclass(frozen=True, kw_only=True)
class PatternStatement(DocumentStatement):
    """A read: its operation, index, conditions, order and limit."""

    name: str
    operation: Literal["", "get", "query", "scan"] = ""
    index: str = ""
    clauses: tuple[KeyClause, ...] = ()
    given: tuple[str, ...] = ()
    """The arguments of a call, as getOrder(customerId, orderId), where no condition is written."""
    text: str = ""
    """The words of the read: `Query email-index by email`."""
    entity: str = ""
    descending: bool = False
    limit: int = 0

    def __str__(self) -> str:
        told = ", ".join([*(clause.raw for clause in self.clauses), *self.given])
        at = f" {self.index}" if self.index else ""
        order = ", descending" * self.descending + (f", limit {self.limit}" if self.limit else "")
        return f"{self.operation or 'read'}{at}: {told or self.name}{order}"


@dataclass(frozen=True, kw_only=True)
class WriteStatement(DocumentStatement):
    """A write: it belongs to the operations, which are not read."""

    name: str

    def __str__(self) -> str:
        return f"a write: {self.name}"


@dataclass(frozen=True, kw_only=True)
class ExpiryStatement(DocumentStatement):
    """Items of an entity expire after this many days."""

    entity: str
    days: str

    def __str__(self) -> str:
        return f"{self.entity} expires after {self.days} days"


@dataclass
class DocumentReading:
    """What was read: statements, questions by line, and a mark for each line that matters."""

    text: str
    names: KeyNames = field(default_factory=KeyNames)
    statements: list[DocumentStatement] = field(default_factory=list)
    questions: dict[int, list[str]] = field(default_factory=dict)
    marks: dict[int, Mark] = field(default_factory=dict)
    notes_after: dict[int, tuple[int, str]] = field(default_factory=dict)
    """The line that follows each table, with its text."""
    answered: set[int] = field(default_factory=set)
    """Lines whose questions an answer in the document has settled."""
    expected: set[int] = field(default_factory=set)
    """Lines that stand where access patterns do."""

    def mark(self, line: int, mark: Mark) -> None:
        if _RANK[mark] > _RANK[self.marks.get(line, "")]:
            self.marks[line] = mark

    def say(self, *statements: DocumentStatement) -> None:
        for statement in statements:
            self.statements.append(statement)
            self.mark(statement.line, "read")

    def ask(self, line: int, question: str, *, contradicts: bool = False) -> None:
        """A question about a line; an answered line is not asked again."""
        if line in self.answered:
            return
        asked = self.questions.setdefault(line, [])
        if question not in asked:
            asked.append(question)
        self.mark(line, "contradicts" if contradicts else "question")

    def coverage(self) -> dict[Mark, int]:
        """How many lines have each mark."""
        found: dict[Mark, int] = {"read": 0, "question": 0, "contradicts": 0, "not understood": 0}
        for mark in self.marks.values():
            found[mark] += 1
        return found

    def explain(self, line: int) -> list[str]:
        """How a line was read."""
        mark = self.marks.get(line)
        told = [f"Line {line}: {mark or 'says nothing about keys, indexes, reads or attributes'}."]
        told += [f"{s} (from {s.notation})" for s in self.statements if s.line == line]
        return told + [f"? {question}" for question in self.questions.get(line, [])]


_SIGNAL = re.compile(
    r"(?i)\b(?:pk|sk|gsi\d?_?[ps]k)\b[`*\"']*\s*[=:]|(?-i:[A-Z]{2,})#(?:[<{$\[:]|\w)|begins"
    r"_with|\b(?:Get|BatchGet|Put|Update|Delete)Item\b"
    r"|\bKeyCondition|\bQuery\b.*\b(?:pk|gsi)|\b(?:partition|sort) key\b[`*]*\s*[:=(]"
    r"|\b(?:TTL|time to live|expir\w+)\b.*`\w+`"
    r"|\b(?:partition|sort|hash|range|primary)[ -]key\b.*`\w+`|\bkeyed (?:by|on)\b.*`\w+`"
)


_NOTHING = re.compile(r"(?i)\b[ps]k[`*:]*\s*[:=][*]*\s*(?:none|n/?a|-|not used)\b.*")


def mark_unread(reading: DocumentReading) -> None:
    """Marks lines that look like a statement and were not taken."""
    told = {s.name for s in reading.statements if isinstance(s, PatternStatement)}
    for line, text in enumerate(reading.text.splitlines(), 1):
        text = _NOTHING.sub("", text)
        taken = line in reading.marks or text.lstrip().startswith("#") or "<!-- keyfold:" in text
        if taken or len(text) > 2_000:
            continue
        listed = line in reading.expected and told.isdisjoint(map(str.strip, text.split("|")))
        if listed or _SIGNAL.search(text):
            reading.mark(line, "not understood")
