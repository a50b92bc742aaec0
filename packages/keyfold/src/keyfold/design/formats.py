"""Formats of values inside keys: fixed width, so that text order is value order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from zlib import crc32

from keyfold.design.declaration import refuse
from keyfold.errors import KeyValueRefused


@dataclass(frozen=True, slots=True)
class Format:
    """How a value becomes text in a key; `sortable` means that text order is value order."""

    name: str
    render: Callable[[Any], str] = field(compare=False)
    sortable: bool
    numeric: bool = False
    kinds: tuple[str, ...] = ()
    """The kinds of fields it can write; empty means every kind allowed in a key."""
    coarse: bool = False
    """Many values give the same text: all moments of a month, all ids of a shard."""
    exact: bool = True
    """The value can be read back from the text."""
    shards: int | None = None
    """The number of distinct texts it spreads values over."""
    width: int | None = None
    """The length of every text, if they are all as long: then nothing in one can end it."""

    def after(self, function: Callable[[Any], Any]) -> Format:
        """The same format, applied after a function."""
        return replace(self, render=lambda value: self.render(function(value)))

    def __repr__(self) -> str:
        return f"Format({self.name!r})"


def iso(value: datetime) -> str:
    """UTC with microseconds, always 27 characters."""
    return f"{_utc(value).isoformat(timespec='microseconds')[:26]}Z"


def iso_milliseconds(value: datetime) -> str:
    moment = _utc(value)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def iso_seconds(value: datetime) -> str:
    return _utc(value).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_offset(value: datetime) -> str:
    """UTC with microseconds and `+0000`, as PynamoDB writes times."""
    return f"{iso(value)[:-1]}+0000"


def epoch_milliseconds(value: datetime | int | float) -> int:
    return _epoch_number(value, 1000)


def epoch_seconds(value: datetime | int | float) -> int:
    return _epoch_number(value, 1)


def _epoch_number(value: datetime | int | float, scale: int) -> int:
    if isinstance(value, datetime):
        delta = _utc(value) - _EPOCH
        return (delta.days * 86400 + delta.seconds) * scale + delta.microseconds * scale // 10**6
    return int(value)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS = {"iso_ms": 1000, "epoch_ms": 1000, "iso_s": 10**6, "epoch": 10**6}


def as_stored(value: Any, stored: str) -> Any:
    """A time as read back from a field of this format: in UTC, at its precision."""
    if not isinstance(value, datetime):
        return value
    moment, step = _utc(value), _MICROSECONDS.get(stored, 1)
    return moment.replace(microsecond=moment.microsecond // step * step)


def duration_seconds(value: timedelta) -> Decimal:
    """A length of time in seconds, to the microsecond."""
    micros = (value.days * 86400 + value.seconds) * 10**6 + value.microseconds
    return (Decimal(micros) / 10**6).normalize() + 0


def _utc(value: datetime) -> datetime:
    if not isinstance(value, datetime):
        raise KeyValueRefused(f"{value!r} is not a datetime; give one with a time zone")
    if value.tzinfo is None:
        raise KeyValueRefused(f"{value!r} has no time zone; give one, as datetime.now(UTC)")
    try:
        return value if value.tzinfo is UTC else value.astimezone(UTC)
    except OverflowError:
        raise KeyValueRefused(f"{value!r} is outside the years 1 to 9999 of UTC") from None


def text_of(value: Any) -> str:
    """The value in its usual notation; times in the fixed ISO form."""
    if type(value) is str:
        return value
    if isinstance(value, Enum):
        return text_of(value.value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        value = duration_seconds(value)
    if isinstance(value, Decimal):
        # With all its digits: `normalize` rounds to 28.
        text = f"{value or 0:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, float):
        raise KeyValueRefused(f"{value!r} is a float; a key needs an exact value")
    return str(value)


def _zero_padded(width: int) -> Callable[[Any], str]:
    def render(value: Any) -> str:
        number = int(value)
        if number < 0 or len(str(number)) > width:
            raise KeyValueRefused(
                f"{value!r} does not fit a key slot of {width} digits; negative and longer "
                "numbers would sort wrongly"
            )
        return f"{number:0{width}d}"

    return render


def _padded_decimal(width: int, places: int) -> Callable[[Any], str]:
    def render(value: Any) -> str:
        value = duration_seconds(value) if isinstance(value, timedelta) else value
        number = Decimal(value) if isinstance(value, int | Decimal) else Decimal(repr(value))
        text = f"{number:0{width}.{places}f}"
        if number.is_signed() or len(text) > width or Decimal(text) != number:
            raise KeyValueRefused(
                f"{value} does not fit a key slot of {width} characters with {places} places; "
                "negative, longer and finer numbers would sort wrongly"
            )
        return text

    return render


_TIME_PARTS: dict[str, Callable[[Any], str]] = {
    "Y": lambda v: f"{v.year:04d}",
    "m": lambda v: f"{v.month:02d}",
    "d": lambda v: f"{v.day:02d}",
    "H": lambda v: f"{v.hour:02d}",
    "M": lambda v: f"{v.minute:02d}",
    "j": lambda v: f"{v.timetuple().tm_yday:03d}",
    "G": lambda v: f"{v.isocalendar().year:04d}",
    "V": lambda v: f"{v.isocalendar().week:02d}",
}
_TIME_ORDERS = ("YmdHM", "YjHM", "GV")


def _bucket(name: str) -> Format:
    """`%Y-%m`: the month of a time or date, in UTC."""
    parts = re.findall(r"%(.)", name)
    if "#" in name or name.count("%") != len(parts) or not {*parts} <= _TIME_PARTS.keys():
        refuse(
            "K8",
            f"the key format {name!r} is not known.",
            f"A time bucket is made of {', '.join('%' + p for p in _TIME_PARTS)} and "
            "separators other than #.",
        )

    def render(value: Any) -> str:
        moment = _utc(value) if isinstance(value, datetime) or not _is_date(value) else value
        return re.sub(r"%(.)", lambda found: _TIME_PARTS[found[1]](moment), name)

    ordered = any(order.startswith("".join(parts)) for order in _TIME_ORDERS)
    return Format(
        name,
        render,
        sortable=ordered,
        kinds=("timestamp", "date"),
        coarse=True,
        exact=False,
        width=len(render(datetime.min.replace(tzinfo=UTC))),
    )


def _is_date(value: object) -> bool:
    return isinstance(value, date)


@dataclass(frozen=True, slots=True)
class ShardNumber:
    """One of the shards that a key's values are spread over."""

    number: int


def _shard(name: str, shards: int) -> Format:
    width = len(str(shards - 1))

    def render(value: Any) -> str:
        if isinstance(value, ShardNumber):
            return f"{value.number:0{width}d}"
        return f"{crc32(text_of(value).encode()) % shards:0{width}d}"

    return Format(name, render, sortable=False, coarse=True, exact=False, shards=shards)


def _lower(value: Any) -> str:
    return " ".join(text_of(value).casefold().split())


def _lowercase(value: Any) -> str:
    return text_of(value).lower()


def _uppercase(value: Any) -> str:
    return text_of(value).upper()


_TIMES = ("timestamp",)
PLAIN = Format("", text_of, sortable=False)
NAMED: dict[str, Format] = {
    "": PLAIN,
    "iso": Format("iso", iso, sortable=True, kinds=_TIMES, width=27),
    "iso_ms": Format("iso_ms", iso_milliseconds, sortable=True, kinds=_TIMES, width=24),
    "iso_s": Format("iso_s", iso_seconds, sortable=True, kinds=_TIMES, width=20),
    "iso_offset": Format("iso_offset", iso_offset, sortable=True, kinds=_TIMES, width=31),
    "epoch_ms": Format(
        "epoch_ms",
        lambda v: f"{epoch_milliseconds(v):013d}",
        sortable=True,
        numeric=True,
        kinds=(*_TIMES, "integer"),
    ),
    "epoch": Format(
        "epoch",
        lambda v: f"{epoch_seconds(v):010d}",
        sortable=True,
        numeric=True,
        kinds=(*_TIMES, "integer"),
    ),
    "lower": Format("lower", _lower, sortable=True, kinds=("string",), exact=False),
    # As other libraries write them into existing tables: only letter case changes, and numbers have
    # no fixed width.
    "lowercase": Format("lowercase", _lowercase, sortable=True, kinds=("string",), exact=False),
    "uppercase": Format("uppercase", _uppercase, sortable=True, kinds=("string",), exact=False),
    "d": Format("d", lambda v: str(int(v)), sortable=False, kinds=("integer",)),
}


_WIDTHS = {"uuid": 36, "date": 10, "timestamp": 27}
"""Of kinds in the plain format."""


def of_kind(form: Format, kind: str) -> Format:
    """The format as it writes fields of this kind."""
    if form.name or form.width is not None or kind not in _WIDTHS:
        return form
    return replace(form, width=_WIDTHS[kind])


def parse_format(name: str) -> Format:
    """A named format, or one with numbers in it: `012d`, `010.2f`, `%Y-%m`, `shard8`."""
    known = NAMED.get(name)
    if known is not None:
        return known
    padded = re.fullmatch(r"0(\d+)d", name)
    if padded:
        width = int(padded[1])
        render = _zero_padded(width)
        return Format(name, render, sortable=True, numeric=True, kinds=("integer",), width=width)
    if placed := re.fullmatch(r"0(\d+)\.(\d+)f", name):
        render = _padded_decimal(int(placed[1]), int(placed[2]))
        return Format(name, render, sortable=True, kinds=("decimal", "integer", "duration"))
    if "%" in name:
        return _bucket(name)
    if (spread := re.fullmatch(r"shard(\d+)", name)) and int(spread[1]) > 1:
        return _shard(name, int(spread[1]))
    refuse(
        "K8",
        f"the key format {name!r} is not known.",
        f"Use one of {', '.join(n for n in NAMED if n)}, 012d or 010.2f for padded "
        "numbers, %Y-%m for a month, shard8 for one of eight shards.",
    )
