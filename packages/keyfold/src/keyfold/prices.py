"""What DynamoDB costs, from the one file of prices beside this module."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

HOURS_A_MONTH: Final = 730
SECONDS_A_MONTH: Final = HOURS_A_MONTH * 3600


@dataclass(frozen=True)
class Prices:
    """Dollars: a million units on demand, a unit for an hour provisioned, a GB for a month."""

    region: str
    as_of: str
    write: float
    read: float
    write_hour: float
    read_hour: float
    storage: float
    recovery: float
    backup: float
    vector_write: float = 0.52
    """A GB written to vector indexes; these three are known for us-east-1 and taken for all."""
    vector_search: float = 0.002
    """A GB that searches look at."""
    vector_storage: float = 0.25


@cache
def _file() -> dict[str, Any]:
    text = (resources.files("keyfold") / "prices.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def regions() -> tuple[str, ...]:
    """The regions whose prices are known."""
    return tuple(_file()["regions"])


def prices(region: str = "") -> Prices:
    """The prices of a region; without one, of the file's default."""
    found = _file()
    name = region or found["default"]
    return Prices(region=name, as_of=str(found["as_of"]), **found["regions"][name])
