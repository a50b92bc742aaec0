"""The names of key attributes in documents: `PK`, `GSI1 Sort Key`, `Hash Key (GSI2)`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from keyfold_workbench.adopt.document.blocks import plain

Side = Literal["partition", "sort"]
SIDES: tuple[Side, Side] = ("partition", "sort")
INDEX = r"(?:gsi|lsi)[ _-]?\d*"
_SIDE = r"(?:pk|sk|partition[ _-]?key|sort[ _-]?key|hash[ _-]?key|range[ _-]?key)"
NAME = rf"(?<![Nn]o )(?:{INDEX}[ _.:-]*{_SIDE}(?:\d\b)?|\b{_SIDE}(?:[ _-]*{INDEX})?\b)"
"""A key attribute inside a text."""
_WHOLE = re.compile(
    rf"(?i)(?:(?P<index>{INDEX})[ _.:-]*)?(?P<side>pk|sk|(?:partition|sort|hash|range)(?:[ "
    rf"_-]?key)?"
    rf"|partitionkey|sortkey)(?:[ _-]*\(?(?P<after>{INDEX})\)?)?"
    r"(?:[ _-]*(?:template|pattern|format|value|attribute|structure|example|design))?"
)


@dataclass(frozen=True)
class KeySide:
    """One side of a table's key (`index` is empty) or of an index's key."""

    index: str
    side: Side
    attribute: str = ""
    """The attribute's name, if the document gives it here."""


@dataclass
class KeyNames:
    """The names that a document gives to its indexes and their key attributes."""

    attributes: dict[str, KeySide] = field(default_factory=dict)
    of_table: dict[str, KeySide] = field(default_factory=dict)
    """The names that are keys of a table, also where they are keys of an index."""
    indexes: dict[str, str] = field(default_factory=dict)
    """Names of indexes by their numbers (GSI1) and by themselves."""
    renumbered: set[str] = field(default_factory=set)
    """Names of indexes that have another number in another section, or share one."""
    table_by_words: dict[tuple[str, ...], str] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    """Names of tables that rows and headings give."""
    values: dict[str, str] = field(default_factory=dict)
    """Attributes by the values that example items give them; empty if two have one value."""
    numbered: dict[str, str] = field(default_factory=dict)
    """Names of access patterns by the numbers that another table repeats."""

    def pattern(self, *, plain_names: bool) -> str:
        """Matches a key attribute; plain names such as `email` only where reads are told."""
        own = [name for name in self.attributes if plain_names or re.search(r"(?i)[ps]k|key", name)]
        own = sorted(own, key=len, reverse=True)[:200]
        return "|".join([NAME, *(rf"(?<![\w-]){re.escape(name)}\b" for name in own)])

    def index_in(self, text: str) -> str:
        """The index that a text names; empty if it names none or several."""
        found = {
            index_number(hit) for hit in re.findall(rf"(?i)\b{INDEX}\b", text) if hit[-1].isdigit()
        }
        named = {
            number
            for number, name in self.indexes.items()
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
        }
        found |= {self.number(name) for name in named}
        return found.pop() if len(found) == 1 else ""

    def index_called(self, name: str) -> str:
        """The index of exactly this name or number; empty if there is none."""
        return self.number(name) if name in {*self.indexes, *self.indexes.values()} else ""

    def number(self, name: str) -> str:
        """One index by one name: its number if it has one."""
        known = [number for number, named in self.indexes.items() if named == name]
        numbers = [number for number in known if re.fullmatch(INDEX, number, re.I)]
        return numbers[0] if numbers and name not in self.renumbered else (known or [name])[0]


def row_side(label: str, names: KeyNames) -> KeySide | None:
    """The key attribute that a row is about; a plain name such as `email` is an attribute's row."""
    return key_side(label, names if re.search(r"(?i)[ps]k|key", label) else None)


def index_number(text: str) -> str:
    """`GSI-1` and `gsi1` are GSI1."""
    return re.sub(r"[ _-]", "", text).upper()


def key_side(text: str, names: KeyNames | None = None) -> KeySide | None:
    """The key attribute that a text names, if it names nothing else."""
    whole = plain(text).strip().rstrip(":").strip("\"'")
    if names is not None and whole in names.attributes:
        return names.attributes[whole]
    short = re.sub(r"\s*\([^()]*\)\s*$", "", whole)
    found = _WHOLE.fullmatch(short)
    if found is None:
        return None
    inner = re.search(rf"(?i)\(({INDEX})\)$", whole)
    index = found["index"] or found["after"] or (inner[1] if inner else "")
    side: Side = "partition" if found["side"][0].lower() in "ph" else "sort"
    named = re.fullmatch(r"\w+", short) and not re.fullmatch(
        r"(?i)(hash|range|partition|sort)_?(key)?", short
    )
    return KeySide(index_number(index), side, short if named else "")
