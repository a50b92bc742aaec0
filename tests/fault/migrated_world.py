"""A random design, a random change of it, and what must be on either side: by strings alone."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

Item = dict[str, Any]


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
    values: Item = field(default_factory=dict)
    since: bool = False
    """It was made by the new application."""


class World:
    """Things before and after: `moves`, `index`, `rename`, `derive`, `drop`, `split`, `unique`."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        kinds = ["move", "rekey", "stay", "stay"]
        self.place = chance.choice(kinds)
        names = ["index", "rename", "derive", "drop", "unique"]
        if self.place == "stay":
            names.append("split")
        self.changes = set(
            chance.sample(names, chance.randint(0 if self.place != "stay" else 1, 3))
        )
        if self.place != "stay":
            self.changes -= {"rename", "derive", "drop"}
        if "split" in self.changes:
            self.changes = {"split"} | (self.changes & {"derive"})
        self.typed = chance.random() < 0.7
        self.sorted = chance.random() < 0.7 or self.place == "rekey" or "split" in self.changes
        self.records: dict[str, Record] = {}

    def __repr__(self) -> str:
        return f"{self.place} {sorted(self.changes)} typed={self.typed} sorted={self.sorted}"

    # The two designs, as people write them.

    def source(self, side: str) -> str:
        new = side == "new"
        moved = new and self.place == "move"
        table = "Moved" if moved else "Things"
        sort = "sk" if self.sorted or moved else None
        indexes = (
            '[Index("by-group", "groupKey", "idKey")]' if new and "index" in self.changes else "[]"
        )
        kind = '"type"' if self.typed else "None"
        fields = ["id: str", "group: str", "color: Any = None", "size: Any = None"]
        if not (new and "drop" in self.changes):
            fields.append("note: Any = None")
        if not (new and ("rename" in self.changes or "split" in self.changes)):
            fields.append("mail: Any = None")
        if new and "rename" in self.changes:
            fields.append("address: Any = None")
        if new and "derive" in self.changes:
            fields.append("level: str")
        keys = [f"key = Key({', '.join(map(repr, self.templates(side)))})"]
        if new and "index" in self.changes:
            keys.append('by_group = On("by-group", "GROUP#{group}", "{id}")')
        if new and "unique" in self.changes:
            keys.append('once = Unique("id")')
        part = ""
        if new and "split" in self.changes:
            part = (
                "class Contact(Entity, table=table):\n    id: str\n    group: str\n"
                "    mail: Any = None\n    key = Key('THING#{id}', 'CONTACT#{group}')\n"
            )
        body = "\n".join(f"    {line}" for line in [*fields, *keys])
        return (
            "from typing import Any\nfrom keyfold import Design, Entity, Index, Key, On, Unique\n"
            f"design = Design('world')\ntable = design.table({table!r}, partition='pk', "
            f"sort={sort!r}, indexes={indexes}, type_attribute={kind})\n"
            f"class Thing(Entity, table=table):\n{body}\n{part}"
        )

    def templates(self, side: str) -> tuple[str, ...]:
        if side == "new" and self.place == "move":
            return ("GROUP#{group}", "THING#{id}")
        if side == "new" and self.place == "rekey":
            return ("OWNER#{group}", "ITEM#{id}")
        return ("THING#{id}", "GROUP#{group}") if self.sorted else ("THING#{id}",)

    # What must be there.

    def table(self, side: str) -> str:
        return "Moved" if side == "new" and self.place == "move" else "Things"

    def key(self, record: Record, side: str) -> Item:
        texts = [t.format(id=record.id, group=record.group) for t in self.templates(side)]
        return {name: {"S": text} for name, text in zip(("pk", "sk"), texts, strict=False)}

    def attribute(self, name: str, side: str) -> str:
        return "address" if side == "new" and name == "mail" and "rename" in self.changes else name

    def item(self, record: Record, side: str) -> Item:
        found = {**self.key(record, side), "id": {"S": record.id}, "group": {"S": record.group}}
        if self.typed:
            found["type"] = {"S": "Thing"}
        for name, value in record.values.items():
            if side == "new" and name == "note" and "drop" in self.changes:
                continue
            if side == "new" and name == "mail" and "split" in self.changes:
                continue
            found[self.attribute(name, side)] = value
        if side == "new" and "index" in self.changes:
            found |= {"groupKey": {"S": f"GROUP#{record.group}"}, "idKey": {"S": record.id}}
        if side == "new" and "derive" in self.changes:
            found["level"] = {"S": "first"}
        return found

    def part(self, record: Record) -> Item:
        key = {"pk": {"S": f"THING#{record.id}"}, "sk": {"S": f"CONTACT#{record.group}"}}
        found = {**key, "id": {"S": record.id}, "group": {"S": record.group}}
        if self.typed:
            found["type"] = {"S": "Contact"}
        return {**found, "mail": record.values["mail"]}

    def expected(self, side: str) -> list[tuple[str, Item]]:
        found = [(self.table(side), self.item(record, side)) for record in self.records.values()]
        if side == "new" and "split" in self.changes:
            parted = [r for r in self.records.values() if "mail" in r.values]
            found += [("Things", self.part(record)) for record in parted]
        return found

    # What people do.

    def new_record(self) -> Record:
        number = f"{len(self.records)}x{self.chance.randint(0, 9999)}"
        record = Record(number, self.chance.choice("abc"))
        for name in ("color", "size", "note", "mail", "odd one", "Späß", "extra"):
            if self.chance.random() < 0.6:
                record.values[name] = wire(self.chance)
        return record
