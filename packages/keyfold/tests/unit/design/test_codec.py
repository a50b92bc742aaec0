"""Generated codecs: a model goes to an item and comes back the same, whatever its fields hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any
from uuid import UUID, uuid4

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from keyfold import Db, Design, Entity, Id, Key, Name, Timestamp
from keyfold.design.markers import Stored
from keyfold.errors import Undecodable, ValueRefused


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: str
    house_number: int = 0
    tags: list[str] = []


design = Design("codec")
table = design.table("codec")


class Everything(Entity, table=table):
    thing_id: Id
    text: str
    whole: int
    exact: Decimal
    rough: float
    yes: bool
    raw: bytes
    moment: Timestamp
    seconds: Annotated[Timestamp, Stored("iso_s")]
    millis: Annotated[Timestamp, Stored("epoch_ms")]
    day: date
    uid: UUID
    colour: Colour
    level: Level
    words: set[str] = set()
    numbers: set[int] = set()
    blobs: set[bytes] = set()
    address: Address
    rows: list[dict[str, Any]] = []
    by_name: dict[str, Address] = {}
    note: str | None = None
    renamed: Annotated[int | None, Name("somethingElse")] = None
    key = Key("THING#{thing_id}", "THING")


def _models(model: type[Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(fields).map(lambda values: model(**values))


_text = st.text(st.characters(codec="utf-8"), max_size=20)
_moments = st.datetimes(
    datetime(1971, 1, 1), datetime(9990, 1, 1), timezones=st.just(UTC), allow_imaginary=False
)
_numbers = st.decimals(
    allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9
)
_addresses = _models(
    Address, street=_text, house_number=st.integers(0, 99), tags=st.lists(_text, max_size=3)
)
_plain_values = st.recursive(
    st.one_of(_text, st.booleans(), st.integers(-(10**20), 10**20), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abc", min_size=1), inner, max_size=3)
    ),
    max_leaves=5,
)
everything = _models(
    Everything,
    thing_id=st.text("abcdef0123456789", min_size=1, max_size=8),
    text=_text,
    whole=st.integers(-(10**30), 10**30),
    exact=_numbers,
    rough=st.floats(
        allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100
    ).filter(lambda f: f == 0 or abs(f) > 1e-100),
    yes=st.booleans(),
    raw=st.binary(max_size=20),
    moment=_moments,
    seconds=_moments.map(lambda m: m.replace(microsecond=0)),
    millis=_moments.map(lambda m: m.replace(microsecond=m.microsecond // 1000 * 1000)),
    day=st.dates(),
    uid=st.builds(uuid4),
    colour=st.sampled_from(Colour),
    level=st.sampled_from(Level),
    words=st.sets(_text.filter(bool), max_size=3),
    numbers=st.sets(st.integers(-99, 99), max_size=3),
    blobs=st.sets(st.binary(min_size=1, max_size=4), max_size=3),
    address=_addresses,
    rows=st.lists(
        st.dictionaries(st.text("xyz", min_size=1), _plain_values, max_size=2), max_size=2
    ),
    by_name=st.dictionaries(st.text("abc", min_size=1), _addresses, max_size=2),
    note=st.none() | _text,
    renamed=st.none() | st.integers(-5, 5),
)


@given(everything)
def test_a_model_comes_back_from_its_bytes_the_same(thing: Everything) -> None:
    spec = Everything.__spec__
    assert spec.decode(orjson.loads(orjson.dumps(spec.encode(thing)))) == thing


@pytest.fixture(scope="module")
def db() -> Iterator[Db]:
    with design.open(":memory:") as handle:
        yield handle


@given(thing=everything)
def test_the_engine_takes_what_the_codec_writes(db: Db, thing: Everything) -> None:
    db.put(thing)
    assert db.get(thing.ref()) == thing


_WRITTEN = datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("2025-03-04T05:06:07Z", _WRITTEN),
        ("2025-03-04T05:06:07z", _WRITTEN),
        ("2025-03-04 05:06:07+00:00", _WRITTEN),
        ("2025-03-04T06:06:07+01:00", _WRITTEN),
        ("2025-03-04T05:06:07.5Z", _WRITTEN + timedelta(milliseconds=500)),
        ("2025-03-04T05:06:07.123456789Z", _WRITTEN + timedelta(microseconds=123456)),
        (str(int(_WRITTEN.timestamp())), _WRITTEN),
        (str(int(_WRITTEN.timestamp()) * 1000), _WRITTEN),
    ],
)
def test_times_as_other_writers_spell_them_are_read(stored: str, read: datetime) -> None:
    item = Everything.__spec__.encode(_thing())
    found = Everything.__spec__.decode({**item, "moment": {"S": stored}})
    assert found.moment == read
    assert found.moment.tzinfo is UTC


@pytest.mark.parametrize(
    "stored", ["", "yesterday", "2025-13-04T05:06:07Z", "2025-03-04T05:06:07", "2025-03-04"]
)
def test_what_is_no_moment_is_reported_with_the_items_key(stored: str) -> None:
    item = Everything.__spec__.encode(_thing())
    with pytest.raises(Undecodable, match=r"PK='THING#t1'.*moment"):
        Everything.__spec__.decode({**item, "moment": {"S": stored}})


@pytest.mark.parametrize(
    ("attribute", "wire"),
    [
        ("whole", {"S": "7"}),
        ("whole", {"N": "7.5"}),
        ("text", {"N": "7"}),
        ("yes", {"S": "true"}),
        ("words", {"L": [{"S": "a"}]}),
        ("colour", {"S": "green"}),
        ("uid", {"S": "not-a-uuid"}),
        ("address", {"M": {}}),
    ],
)
def test_an_attribute_of_another_type_is_reported(attribute: str, wire: dict[str, Any]) -> None:
    item = Everything.__spec__.encode(_thing())
    with pytest.raises(Undecodable, match="cannot be read as Everything"):
        Everything.__spec__.decode({**item, attribute: wire})


@pytest.mark.parametrize("empty", [{"words": {"a", ""}}, {"blobs": {b""}}])
def test_an_empty_member_of_a_set_is_refused_by_its_field(empty: dict[str, Any]) -> None:
    with pytest.raises(ValueRefused, match=f"the set {next(iter(empty))} contains an empty value"):
        Everything.__spec__.encode(_thing(**empty))


def test_null_and_absent_are_both_no_value() -> None:
    item = Everything.__spec__.encode(_thing())
    assert "note" not in item
    assert Everything.__spec__.decode({**item, "note": {"NULL": True}}) == _thing()


def test_a_moment_of_another_zone_is_kept_as_the_same_moment() -> None:
    there = _WRITTEN.astimezone(timezone(timedelta(hours=5, minutes=30)))
    thing = _thing(moment=there)
    assert Everything.__spec__.encode(thing)["moment"] == {"S": "2025-03-04T05:06:07.000000Z"}


def _thing(**changed: Any) -> Everything:
    given = {
        "thing_id": "t1",
        "text": "",
        "whole": 1,
        "exact": Decimal("1.50"),
        "rough": 0.5,
        "yes": True,
        "raw": b"x",
        "moment": _WRITTEN,
        "seconds": _WRITTEN,
        "millis": _WRITTEN,
        "day": date(2025, 3, 4),
        "uid": UUID(int=5),
        "colour": Colour.RED,
        "level": Level.HIGH,
        "address": Address(street="Gasse"),
    }
    return Everything(**{**given, **changed})
