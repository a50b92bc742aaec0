"""A random design, a random change of it, and what must be on either side: by strings alone.

Nothing here imports keyfold: the items of a record are spelled out, structures included.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Item = dict[str, Any]
Sided = Literal["old", "new"]

OPEN, SHUT = "open", "shut"
GROUPS = "abc"
STRUCTURES = ("pointer", "unique")


def wire(chance: random.Random, depth: int = 0) -> Any:
    """Any value that DynamoDB can hold."""
    kinds = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS"] + ["L", "M"] * (depth < 2)
    kind = chance.choice(kinds)
    text = chance.choice(["", "a", "ü#|", "x" * 40, "2030-01-01T10:00:00.123Z", "Ada@X.org"])
    digits = "".join(chance.choice("0123456789") for _ in range(chance.randint(1, 38))).lstrip("0")
    number = chance.choice(["0", "-1", "1.50", "1e20", "-0.001", digits or "7"])
    if kind in ("SS", "NS", "BS"):
        made = {"SS": ["b", "a", text or "c"], "NS": ["3", "-1.5", "20"], "BS": ["AQ==", "Ag=="]}
        return {kind: sorted(set(made[kind]))}
    if kind == "L":
        return {"L": [wire(chance, depth + 1) for _ in range(chance.randint(0, 3))]}
    if kind == "M":
        return {"M": {f"k{n}": wire(chance, depth + 1) for n in range(chance.randint(0, 3))}}
    return {kind: {"S": text, "N": number, "B": "AAEC", "BOOL": True, "NULL": True}[kind]}


@dataclass
class Record:
    """One thing as people think of it: its address, and its attributes by their old names."""

    id: str
    group: str
    state: str
    values: Item = field(default_factory=dict)
    left: Item = field(default_factory=dict)
    """Keys of an index that the new design does not have, as its last old writer left them."""

    @property
    def number(self) -> int:
        return int(self.id.partition("x")[0])


@dataclass(frozen=True)
class Shape:
    """What one of the two designs declares."""

    side: Sided
    table: str = "Things"
    name: str = "Thing"
    templates: tuple[str, ...] = ("THING#{id}",)
    mail: Literal["mail", "address"] = "mail"
    note: bool = True
    level: bool = False
    number: bool = False
    """Its rank is a number."""
    index: str | None = None
    """The sort key of its index."""
    where: str = ""
    """The state of things that are in the index."""
    pointer: bool = False
    unique: bool = False
    beside: bool = False
    """It has the table of before beside its own."""
    counted: str | None = None
    """The state of things that are counted; empty for all of them."""
    streamed: bool = False
    """A consumer counts."""

    def source(self, *, typed: bool) -> str:
        sort = "sk" if len(self.templates) > 1 else None
        indexes = '[Index("by-group", "groupKey", "sortKey")]' if self.index is not None else "[]"
        kind = '"type"' if typed else "None"
        stream = ", stream='NEW_AND_OLD_IMAGES'" if self.streamed else ""
        fields = ["id: str", "group: str", "state: str", "color: Any = None", "size: Any = None"]
        fields.append(f"rank: {'int' if self.number else 'str'} | None = None")
        if self.note:
            fields.append("note: Any = None")
        fields.append(f"{self.mail}: Any = None")
        if self.level:
            fields.append("level: str")
        fields.append(f"key = Key({', '.join(map(repr, self.templates))})")
        if self.index is not None:
            when = f", when=lambda one: one.state == {self.where!r}" if self.where else ""
            fields.append(f'by_group = On("by-group", "GROUP#{{group}}", {self.index!r}{when})')
        if self.unique:
            fields.append('once = Unique("id")')
        named = ', type_name="Thing"' if typed and self.name != "Thing" else ""
        parts = [
            "from typing import Annotated, Any",
            "from keyfold import Counter, Design, Entity, Index, Key, On, Pointer, Unique",
            "design = Design('world')",
            f"table = design.table({self.table!r}, partition='pk', sort={sort!r}, "
            f"indexes={indexes}, type_attribute={kind}{stream})",
            "owners = design.table('Owners', partition='pk', sort=None)",
            *(["design.table('Things', partition='pk', sort='sk')"] if self.beside else []),
            _class(f"{self.name}(Entity, table=table{named})", fields),
        ]
        owner = ["group: str", "key = Key('HEAD#{group}')"]
        if self.counted is not None:
            when = f", where=lambda one: one.state == {self.counted!r}" if self.counted else ""
            when += ', sync="stream"' if self.streamed else ""
            owner.insert(1, f'things: Annotated[int, Counter("Thing"{when})] = 0')
        parts.append(_class("Owner(Entity, table=owners)", owner))
        if self.pointer:
            key = f"key = Key({', '.join(map(repr, self.pointed))})"
            own = ["group: str", "id: str", "state: str", key]
            parts.append(_class("ThingIn(Pointer[Thing], table=table)", own))
        return "\n".join(parts)

    @property
    def pointed(self) -> tuple[str, ...]:
        return ("IN#{group}", "THING#{id}") if len(self.templates) > 1 else ("IN#{group}#{id}",)


def _class(head: str, fields: list[str]) -> str:
    return "\n".join([f"class {head}:", *(f"    {line}" for line in fields)])


class World:
    """Things before and after a change, and what each of them is on either side."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.place = chance.choice(["move", "rekey", "stay", "stay", "stay"])
        self.typed = chance.random() < 0.7
        changes = self._draw()
        double = chance.random() < 0.7 or self.place != "stay"
        templates = ("THING#{id}", "GROUP#{group}") if double else ("THING#{id}",)
        old = Shape("old", templates=templates)
        new = replace(old, side="new")
        if self.place == "move":
            stays = chance.random() < 0.5
            place = ("GROUP#{group}", "THING#{id}")
            new = replace(new, table="Moved", templates=place, beside=stays)
        elif self.place == "rekey":
            new = replace(new, templates=("OWNER#{group}", "ITEM#{id}"))
        if "rename" in changes:
            new = replace(new, mail="address")
        new = replace(
            new,
            note=not changes & {"drop", "forget"},
            level="derive" in changes,
            number="retype" in changes,
            name="Widget" if "class" in changes else "Thing",
        )
        for name in STRUCTURES:
            kept = f"{name} kept" in changes
            old = replace(old, **{name: kept or f"{name} removed" in changes})  # type: ignore[arg-type]
            new = replace(new, **{name: kept or f"{name} added" in changes})  # type: ignore[arg-type]
        if "counter" in changes:
            old = replace(old, counted=chance.choice([None, None, OPEN]))
            new = replace(new, counted=chance.choice(["", SHUT]))
            streamed = chance.random() < 0.5
            old, new = replace(old, streamed=streamed), replace(new, streamed=streamed)
        if "index" in changes:
            was, now = chance.sample([None, ("{id}", ""), ("{id}", OPEN), ("{state}", SHUT)], 2)
            old = replace(old, index=was and was[0], where=was[1] if was else "")
            new = replace(new, index=now and now[0], where=now[1] if now else "")
        self.changes, self.shapes = changes, {"old": old, "new": new}
        self.records: dict[str, Record] = {}
        self.owners = {group: {"odd": wire(chance)} for group in GROUPS}
        self.made = 0

    def _draw(self) -> set[str]:
        chance = self.chance
        stays = self.place == "stay"
        gone = "drop" if stays else chance.choice(["drop", "forget"])
        names = ["rename", gone, "index"]
        names += [f"{kind} {chance.choice(['added', 'removed', 'kept'])}" for kind in STRUCTURES]
        names += ["counter", "derive", *(["retype"] if stays else [])]
        if self.place == "rekey" and "unique kept" in names:
            names.remove("unique kept")  # a plan refuses it: one marker has one holder
        changes = set(chance.sample(names, chance.randint(1 if stays else 0, 4)))
        named = {"counter"} | {c for c in changes if c.startswith(STRUCTURES)}
        if stays and not changes & named and chance.random() < 0.3:
            changes.add("class")
        return changes

    def __repr__(self) -> str:
        drawn = " ".join(sorted(self.changes)) or "nothing"
        return f"{self.place}, typed {self.typed}: {drawn}; {self.shapes}"

    # What a record is.

    def key(self, record: Record, side: Sided) -> Item:
        return _key(self.shapes[side].templates, record)

    def attribute(self, name: str, side: Sided) -> str:
        return self.shapes[side].mail if name == "mail" else name

    def thing(self, record: Record, side: Sided) -> Item:
        """Its own item."""
        shape = self.shapes[side]
        found = {**_key(shape.templates, record), **self._named(record, "Thing")}
        found["state"] = {"S": record.state}
        for name, value in record.values.items():
            if side == "new" and name == "note" and "drop" in self.changes:
                continue
            if name == "rank" and shape.number:
                value = {"N": str(int(value["S"]))}
            found[self.attribute(name, side)] = value
        found |= self.index_keys(record, side)
        if side == "new" and shape.index is None and self.place == "stay":
            found |= record.left
        if shape.level:
            found["level"] = {"S": "first"}
        return found

    def index_keys(self, record: Record, side: Sided) -> Item:
        shape = self.shapes[side]
        if shape.index is None or shape.where not in ("", record.state):
            return {}
        sort = shape.index.format(id=record.id, state=record.state)
        return {"groupKey": {"S": f"GROUP#{record.group}"}, "sortKey": {"S": sort}}

    def items(self, record: Record, side: Sided) -> list[tuple[str, Item]]:
        """Its own item, and what follows from it."""
        shape = self.shapes[side]
        found = [self.thing(record, side)]
        if shape.pointer:
            named = self._named(record, "ThingIn") | {"state": {"S": record.state}}
            found.append(_key(shape.pointed, record) | named)
        if shape.unique:
            sort = {"sk": {"S": "UNIQUE"}} if len(shape.templates) > 1 else {}
            marker = {"pk": {"S": f"UNIQUE#Thing#id#{record.id}"}, **sort}
            named = {"type": {"S": "Unique"}} if self.typed else {}
            found.append(marker | named | {"holder": {"M": _key(shape.templates, record)}})
        return [(shape.table, item) for item in found]

    def _named(self, record: Record, kind: str) -> Item:
        named = {"id": {"S": record.id}, "group": {"S": record.group}}
        return {**named, "type": {"S": kind}} if self.typed else named

    def owner(self, group: str, side: Sided) -> Item:
        found = {"pk": {"S": f"HEAD#{group}"}, "group": {"S": group}, "type": {"S": "Owner"}}
        counted = self.shapes[side].counted
        if counted is not None:
            mine = [r for r in self.records.values() if r.group == group]
            number = sum(counted in ("", record.state) for record in mine)
            found["things"] = {"N": str(number)}
        return found | self.owners[group]

    def expected(self, side: Sided) -> list[tuple[str, Item]]:
        found = [("Owners", self.owner(group, side)) for group in GROUPS]
        return found + [one for record in self.records.values() for one in self.items(record, side)]

    # What people do.

    def new_record(self) -> Record:
        self.made += 1
        state = self.chance.choice([OPEN, SHUT])
        record = Record(
            f"{self.made}x{self.chance.randint(0, 99)}", self.chance.choice(GROUPS), state
        )
        for name in ("color", "size", "note", "mail", "odd one", "Späß", "extra"):
            if self.chance.random() < 0.6:
                record.values[name] = wire(self.chance)
        if self.chance.random() < 0.6:
            record.values["rank"] = {"S": self.chance.choice(["7", "007", "-3", "12"])}
        return record


def _key(templates: tuple[str, ...], record: Record) -> Item:
    texts = [text.format(id=record.id, group=record.group) for text in templates]
    return {name: {"S": text} for name, text in zip(("pk", "sk"), texts, strict=False)}
