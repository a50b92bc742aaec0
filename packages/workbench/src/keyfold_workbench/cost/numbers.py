"""The words and numbers of a workload file, each refused where it is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from math import isfinite, nan
from typing import Any

from keyfold.design.nodes import Node
from keyfold.settings import nearest
from keyfold_workbench.cost.size_spread import SizeSpread

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "month": 2_628_000}
_RATE = re.compile(r"(?P<number>-?[\d_.,]+)\s*(?:/|per|an?)\s*(?P<unit>\w+)")

_QUANTILE = re.compile(r"p(\d+(?:\.\d+)?)")

Words = Mapping[str, Callable[[Node], Any]]


def read_words(value: Node, what: str, readers: Words) -> dict[str, Any]:
    found: dict[str, Any] = {}
    first = next(iter(readers))
    for name, inner in value.items(f"what is known of {what}, such as {first}: ..."):
        word = name.text("a word")
        if word not in readers:
            name.refuse(f"{what} has no {word!r}; {nearest(word, readers)}")
        found[word] = readers[word](inner)
    return found


def known_name(name: Node, known: Iterable[str], what: str) -> str:
    word = name.text(f"the name of an {what}")
    if word not in known:
        name.refuse(f"the design has no {what} {word!r}; {nearest(word, known)}")
    return word


def number(value: Node) -> float:
    found = value.scalar("a number")
    if isinstance(found, bool) or not isinstance(found, int | float) or not isfinite(found):
        value.refuse(f"expected a number, found {value.kind}")
    return float(found)


def amount(value: Node) -> float:
    found = number(value)
    if found < 0:
        value.refuse(f"expected a number of 0 or more, found {found:g}")
    return found


def whole(value: Node) -> int:
    found = amount(value)
    if found != int(found) or not found:
        value.refuse(f"expected a whole number of bytes, 1 or more, found {found:g}")
    return int(found)


def sizes(value: Node) -> SizeSpread:
    """Bytes by quantiles: `{p50: 300, p90: 2000, p99: 12000}`."""
    found: list[tuple[float, int]] = []
    for name, inner in value.items("bytes by quantiles, such as p50: 300"):
        word = name.text("a quantile such as p50")
        if not (at := _QUANTILE.fullmatch(word)) or not 0 <= float(at[1]) <= 100:
            name.refuse(f"{word!r} is not a quantile; write p50, p90, p99.9 or p100")
        found.append((float(at[1]) / 100, whole(inner)))
    if not found:
        value.refuse("expected bytes by quantiles, such as p50: 300, found none")
    found.sort()
    if [size for _, size in found] != sorted(size for _, size in found):
        value.refuse("a higher quantile has fewer bytes than a lower one")
    return SizeSpread(tuple(found))


def rate(value: Node) -> float:
    """Calls a second: `20`, or `300/hour`, `5 a minute`."""
    text = value.text("a rate such as 20 (a second) or 300/hour")
    found = _RATE.fullmatch(text.strip())
    digits, unit = (found["number"], found["unit"]) if found else (text, "second")
    try:
        calls = float(digits.replace("_", "").replace(",", ""))
    except ValueError:
        calls = nan
    if not isfinite(calls):
        value.refuse(f"{text!r} is not a rate; write 20 (a second), 300/hour or 40/day")
    unit = unit.removesuffix("s")
    if unit not in SECONDS:
        value.refuse(f"{unit!r} is not a unit of time; {nearest(unit, SECONDS)}")
    if calls < 0:
        value.refuse(f"a rate cannot be less than 0, found {text}")
    return calls / SECONDS[unit]


def refuse_low_peak(value: Node, stated: Mapping[str, Any]) -> None:
    average, peak = stated.get("rate"), stated.get("peak")
    if average is not None and peak is not None and peak < average:
        value.refuse(f"the peak of {peak:g} a second is less than the average of {average:g}")


def flag(value: Node) -> bool:
    found = value.scalar("true or false")
    if not isinstance(found, bool):
        value.refuse(f"expected true or false, found {value.kind}")
    return found


def share(value: Node) -> float:
    found = amount(value)
    if found > 1:
        value.refuse(f"a share is between 0 and 1, found {found:g}")
    return found


def positive(value: Node) -> float:
    found = amount(value)
    if not found:
        value.refuse("expected a number of more than 0, found 0")
    return found


def hour(value: Node) -> float:
    found = amount(value)
    if found >= 24:
        value.refuse(f"expected an hour of the day, less than 24, found {found:g}")
    return found


def numbers(value: Node, what: str, known: Iterable[str]) -> dict[str, float]:
    found = {}
    for name, inner in value.items(f"{what} with numbers"):
        word = name.text("a name")
        if word not in known:
            name.refuse(f"{word!r} is not one of the {what}; {nearest(word, known)}")
        found[word] = amount(inner)
    return found


def byte_sizes(value: Node, names: Iterable[str]) -> dict[str, int]:
    return {word: int(size) for word, size in numbers(value, "attributes", names).items()}


def shares(value: Node, what: str, known: Iterable[str]) -> dict[str, float]:
    found = numbers(value, what, known)
    for word, share in found.items():
        if share > 1:
            value.refuse(f"{word}: a share is between 0 and 1, found {share:g}")
    return found
