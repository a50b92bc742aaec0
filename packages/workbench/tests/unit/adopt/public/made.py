"""What a written-up design consists of, and made values for its items."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from boto3.dynamodb.types import TypeSerializer

FIRST = """ada ben cleo dan eva finn gita hugo ines jan kira leo mona nils olga paul rosa sven tina
umar vera willi xenia yara zoe""".split()  # noqa: SIM905
WORDS = """amber basil cedar delta ember fjord grove hazel iris jade koral lemon maple north ocean
pearl quartz river stone tulip umbra velvet willow yonder zephyr""".split()  # noqa: SIM905


@dataclass(frozen=True)
class Kind:
    """One entity of a design: the names that fit it, and its keys as the document gives them.

    A slot `{?}` is a value that stands only in the key, under whatever name.
    """

    names: tuple[str, ...]
    keys: dict[str, str]


@dataclass
class Public:
    """A design with its made items, each under the entity that it is of."""

    name: str
    source: str
    table: dict[str, Any]
    kinds: dict[str, Kind]
    references: set[tuple[str, str, str]] = field(default_factory=set)
    """(entity, attribute, entity that it refers to)"""
    held_out: bool = False
    """Written up after the rules were worked out, and scored as it was."""
    items: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def add(self, kind: str, **attributes: Any) -> None:
        assert kind in self.kinds, kind
        self.items.append((kind, {n: v for n, v in attributes.items() if v is not None}))

    def wire(self) -> list[tuple[str, dict[str, Any]]]:
        to_wire = TypeSerializer().serialize
        return [(kind, {n: to_wire(v) for n, v in item.items()}) for kind, item in self.items]


def table(name: str, key: str, *indexes: str, **types: str) -> dict[str, Any]:
    """A CreateTable request: `table("shop", "PK SK", "GSI1 GSI1PK GSI1SK")`."""
    made: dict[str, Any] = {
        "TableName": name,
        "KeySchema": _schema(key.split()),
        "BillingMode": "PAY_PER_REQUEST",
    }
    used = dict.fromkeys(key.split())
    for index in indexes:
        called, *attributes = index.split()
        used |= dict.fromkeys(attributes)
        made.setdefault("GlobalSecondaryIndexes", []).append(
            {
                "IndexName": called,
                "KeySchema": _schema(attributes),
                "Projection": {"ProjectionType": "ALL"},
            }
        )
    made["AttributeDefinitions"] = [
        {"AttributeName": name, "AttributeType": types.get(name, "S")} for name in used
    ]
    return made


def _schema(names: list[str]) -> list[dict[str, str]]:
    kinds = ("HASH", "RANGE")
    return [{"AttributeName": n, "KeyType": kind} for n, kind in zip(names, kinds, strict=False)]


class Maker:
    """Made values by a seed."""

    def __init__(self, seed: int = 7) -> None:
        self.random = Random(seed)

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def hex(self, length: int = 8) -> str:
        return f"{self.random.getrandbits(4 * length):0{length}x}"

    def name(self) -> str:
        return self.random.choice(FIRST).capitalize()

    def user(self, number: int) -> str:
        return f"{FIRST[number % len(FIRST)]}{number}"

    def words(self, count: int = 3) -> str:
        return " ".join(self.random.choice(WORDS) for _ in range(count))

    def moment(self) -> datetime:
        return datetime(2025, 1, 1, tzinfo=UTC) + timedelta(
            seconds=self.random.randrange(400 * 86400), milliseconds=self.random.randrange(1000)
        )

    def iso(self) -> str:
        return self.iso_of(self.moment())

    def iso_of(self, moment: datetime) -> str:
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"

    def day(self) -> str:
        return f"{self.moment():%Y-%m-%d}"

    def price(self) -> Decimal:
        return Decimal(self.random.randrange(100, 20_000)) / 100

    def number(self, most: int = 100) -> int:
        return self.random.randrange(1, most)

    def one_of(self, *options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share
