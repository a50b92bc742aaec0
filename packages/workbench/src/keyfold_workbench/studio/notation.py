"""How numbers, sizes, units, money and times are written on the pages."""

from __future__ import annotations

from datetime import UTC, datetime

from keyfold.design.source import Place
from keyfold_workbench.studio.markup import Html, el, text

UNKNOWN = "–"
SETS = {
    "string_set": "set of texts",
    "number_set": "set of numbers",
    "binary_set": "set of base64 texts",
}


def count(number: float | None, *, estimate: bool = False) -> str:
    """A number with its thousands; an estimate begins with ~, an unknown is a dash."""
    if number is None:
        return UNKNOWN
    return f"{'~' if estimate else ''}{number:,.0f}"


def size(bytes: float | None) -> tuple[str, str]:
    """A size and its unit: bytes below 1,000 exactly, then KB and MB of 1,000."""
    if bytes is None:
        return UNKNOWN, ""
    if bytes < 1_000:
        return f"{bytes:,.0f}", "B"
    unit, scale = next(
        (one for one in (("KB", 1e3), ("MB", 1e6)) if bytes < one[1] * 1_000), ("GB", 1e9)
    )
    value = bytes / scale
    return (f"{value:.0f}" if value >= 100 else f"{value:.1f}"), unit


def size_with_unit(bytes: float | None) -> Html:
    number, unit = size(bytes)
    return text(number, el("span.unit", unit))


def units(number: float) -> str:
    """Capacity units, with one decimal where it says something."""
    return f"{number:,.1f}" if number % 1 else f"{number:,.0f}"


def rate(number: float) -> str:
    """Units a second; a small rate is still distinct from none."""
    if 0 < number < 0.01:
        return "under 0.01"
    return units(round(number, 1)) if number >= 0.1 else f"{number:.2f}"


def unit_words(number: float) -> str:
    """Capacity units with their word."""
    return f"{units(number)} {'unit' if number == 1 else 'units'}"


def place_words(place: Place) -> str:
    """Where something is declared, as short as it is still found: `inviter/patterns.py:51`."""
    parts = place.file.replace("\\", "/").rsplit("/", 2)
    return f"{'/'.join(parts[-2:])}:{place.line}"


def dollars(amount: float | None) -> str:
    if amount is None:
        return UNKNOWN
    return "under 1 ¢" if 0 < amount < 0.01 else f"${amount:,.2f}"


def plural(number: int, noun: str, many: str = "") -> str:
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def type_words(kind: str) -> str:
    """A field's type as people say it."""
    return SETS.get(kind, kind)
