"""Keys, values, items and expressions at random."""

from __future__ import annotations

import random
from typing import Any

from tests.reference.model import Model
from tests.reference.schemas import TABLES
from tests.reference.values import Wire, encoded, item_of, item_size

NUMBERS = (
    "0", "-0", "1", "-1", "7", "7.0", "10", "100", "1000", "0.5", "-12.345", "1e3", "1E-3",
    "123456789012345678901234567890", "9.9999999999999999999999999999999999999E+125",
    "-9.9999999999999999999999999999999999999E+125", "1E-130", "-1E-130", "+5", ".5", "00012",
    "99999999999999999999999999999999999999",
)  # fmt: skip
STRINGS = ("", "a", "b", "ab", "abc", "z", "é", "ﬀ", "𝄞", "\u0000", "Ab")
ROOTS = ("a", "b", "l", "m", "s", "n", "kind", "score", "tag", "name", "status")
RESERVED = ("name", "status")
KEYS = ("pk", "sk", "kind", "score", "tag")


class Contents:
    def __init__(self, seed: int, model: Model) -> None:
        self.random = random.Random(seed)
        self.model = model
        self.names: Wire = {}
        self.values: Wire = {}
        self.tokens = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, *of: Any) -> Any:
        return self.random.choice(of)

    def table(self) -> Wire:
        names = [table for table in TABLES if table["TableName"] in self.model.tables]
        weights = [5 if each["TableName"] == "Pairs" else 2 for each in names]
        return self.random.choices(names, weights)[0]

    # values

    def key_value(self, kind: str, long: bool = True) -> Wire:
        if kind == "N":
            return {"N": self.one("1", "2", "3", "-1", "0.5", "10", "1e1")}
        text = "k" * 1024 if long and self.chance(0.005) else self.one("a", "b", "c", "é")
        return {"S": text} if kind == "S" else {"B": encoded(text.encode())}

    def value(self, depth: int = 0) -> Wire:
        kind = self.one("S", "N", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M")
        if depth > 2 and kind in ("L", "M"):
            kind = "S"
        return self.of(kind, depth)

    def of(self, kind: str, depth: int = 0) -> Wire:
        pick = self.random
        if kind == "S":
            return {"S": self.one(*STRINGS)}
        if kind == "N":
            return {"N": self.one(*NUMBERS)}
        if kind == "B":
            return {"B": encoded(self.one("", "a", "ab", "ÿ").encode())}
        if kind == "BOOL":
            return {"BOOL": self.chance(0.5)}
        if kind == "NULL":
            return {"NULL": True}
        if kind == "SS":
            return {"SS": pick.sample(STRINGS, pick.randint(1, 4))}
        if kind == "NS":
            return {"NS": pick.sample(("1", "2", "3.5", "-4", "1000"), pick.randint(1, 4))}
        if kind == "BS":
            return {"BS": [encoded(each.encode()) for each in pick.sample(("a", "b", "ÿ"), 2)]}
        if kind == "L":
            return {"L": [self.value(depth + 1) for _ in range(pick.randint(0, 4))]}
        return {"M": {name: self.value(depth + 1) for name in pick.sample(ROOTS, 2)}}

    def usual(self, name: str) -> Wire:
        """A value of the type that the attribute mostly has."""
        kinds = {"l": "L", "m": "M", "n": "N", "score": "N", "kind": "S", "tag": "S"}
        if name == "s":
            return self.of(self.one("SS", "NS"))
        if name in ("kind", "tag", "score"):
            return self.key_value(kinds[name])
        if name in kinds and self.chance(0.9):
            return self.of(kinds[name])
        return self.value()

    def key(self, table: Wire) -> Wire:
        types = {
            each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]
        }
        return {
            each["AttributeName"]: self.key_value(types[each["AttributeName"]])
            for each in table["KeySchema"]
        }

    def item(self, table: Wire) -> Wire:
        names = self.random.sample(ROOTS, self.random.randint(0, 7))
        item = {name: self.usual(name) for name in names} | self.key(table)
        if self.chance(0.06):
            return self.sized(item, 1024 * self.one(1, 1, 2, 4, 8) + self.one(-1, 0, 1))
        if self.chance(0.002):
            return self.sized(item, 400 * 1024 + self.one(-1, 0, 1))
        if self.chance(0.005):
            item["a"] = nested(self.one(30, 31, 32))
        return item

    def sized(self, item: Wire, wanted: int) -> Wire:
        item["pad"] = {"S": ""}
        item["pad"] = {"S": "p" * max(0, wanted - item_size(item_of(item)))}
        return item

    # expressions

    def name(self, name: str) -> str:
        if name in RESERVED or self.chance(0.2):
            self.names[f"#{name}"] = name
            return f"#{name}"
        return name

    def literal(self, value: Wire) -> str:
        for name, given in self.values.items():
            if given == value:
                return str(name)
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def path(self, root: str | None = None) -> str:
        """A path; nothing lies inside a key, so only `spoil` writes such paths."""
        root = root or self.one(*ROOTS)
        text = self.name(root)
        while root not in KEYS and self.chance(0.25):
            text += self.one(f"[{self.random.randint(0, 5)}]", f".{self.name(self.one(*ROOTS))}")
        return text

    def condition(self, roots: tuple[str, ...] = ROOTS, depth: int = 0) -> str:
        if depth < 3 and self.chance(0.3):
            one, two = self.condition(roots, depth + 1), self.condition(roots, depth + 1)
            return str(
                self.one(f"{one} AND {two}", f"{one} OR {two}", f"NOT {one}", f"({one} or {two})")
            )
        root = self.one(*roots)
        path = self.path(root)
        kind = self.random.randint(0, 9)
        if kind < 2:
            return f"{self.one('attribute_exists', 'attribute_not_exists')}({path})"
        if kind == 2:
            return f"attribute_type({path}, {self.literal({'S': self.one('S', 'N', 'L', 'NS')})})"
        if kind == 3:
            return f"begins_with({path}, {self.literal({'S': self.one('', 'a', 'ab', 'é')})})"
        if kind == 4:
            return f"contains({path}, {self.literal(self.of(self.one('S', 'N', 'B')))})"
        if kind == 5:
            length = self.literal({"N": self.one("1", "2", "3")})
            return f"size({path}) {self.one('<', '=', '>=')} {length}"
        if kind == 6:
            low, high = sorted(self.random.sample(range(-3, 12), 2))
            bounds = [self.literal({"N": str(bound)}) for bound in (low, high)]
            return f"{path} BETWEEN {bounds[0]} AND {bounds[1]}"
        if kind == 7:
            listed = ", ".join(self.literal(self.usual(root)) for _ in range(3))
            return f"{path} IN ({listed})"
        if kind == 8:
            return f"{path} {self.one('=', '<>')} {self.literal(self.value())}"
        scalar = self.of(self.one("S", "N", "B"))
        return f"{path} {self.one('=', '<>', '<', '<=', '>', '>=')} {self.literal(scalar)}"

    def update_text(self) -> str:
        roots = self.random.sample(ROOTS, self.random.randint(1, 4))
        clauses: dict[str, list[str]] = {}
        for root in roots:
            clause = self.one("SET", "SET", "SET", "REMOVE", "ADD", "DELETE")
            if clause == "ADD" and root in ("kind", "tag"):
                clause = "SET"
            clauses.setdefault(clause, []).append(self.action(clause, root))
        return " ".join(f"{clause} {', '.join(each)}" for clause, each in clauses.items())

    def action(self, clause: str, root: str) -> str:
        path = self.path(root) if root in ("a", "b", "l", "m") else self.name(root)
        if clause == "REMOVE":
            return path
        if clause == "ADD":
            amount = self.of("N" if root != "s" else self.one("SS", "NS"))
            return f"{path} {self.literal(amount)}"
        if clause == "DELETE":
            return f"{path} {self.literal(self.of(self.one('SS', 'NS', 'BS')))}"
        small = self.literal({"N": self.one("1", "-2", "0.5")})
        other = self.path()
        return f"{path} = " + self.right_side(root, path, small, other)

    def right_side(self, root: str, path: str, small: str, other: str) -> str:
        kind = self.random.randint(0, 9)
        if kind == 0:
            return f"if_not_exists({other}, {self.literal(self.usual(root))})"
        if kind == 1 or (root in ("n", "score") and kind < 5):
            sign = self.one("+", "-")
            return f"if_not_exists({path}, {small}) {sign} {self.literal({'N': '3'})}"
        if kind == 2 or (root == "l" and kind < 5):
            grown = self.literal({"L": [self.value(2)]})
            return str(
                self.one(
                    f"list_append(if_not_exists({path}, {grown}), {grown})",
                    f"list_append({grown}, {path})",
                )
            )
        if kind == 3:
            return other
        return self.literal(self.usual(root))


def nested(depth: int) -> Wire:
    value: Wire = {"S": "deep"}
    for level in range(depth):
        value = {"L": [value]} if level % 2 else {"M": {"x": value}}
    return value
