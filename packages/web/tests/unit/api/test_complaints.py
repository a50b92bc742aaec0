"""What is wrong with an input is said in words that can stand beside a field."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import AwareDatetime, Field, ValidationError, field_validator

from keyfold import Timestamp
from keyfold_web import Payload
from keyfold_web.problems import invalid_input


class Order(Payload):
    buyer: Annotated[str, Field(min_length=1, max_length=5)] = "x"
    code: Annotated[str, Field(min_length=3, pattern="^[a-z]+$")] = "abc"
    count: Annotated[int, Field(ge=1, le=9)] = 1
    price: Annotated[Decimal, Field(gt=0, decimal_places=2)] = Decimal(1)
    kind: Literal["gift", "sale"] = "gift"
    at: AwareDatetime | None = None
    sent: Timestamp | None = None
    day: date | None = None
    tags: Annotated[list[str], Field(max_length=1)] = []
    paid: bool = False

    @field_validator("buyer")
    @classmethod
    def _no_digits(cls, value: str) -> str:
        if any(one.isdigit() for one in value):
            raise ValueError("must not have digits")
        return value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"buyer": ""}, "must not be empty"),
        ({"buyer": "abcdef"}, "has more than 5 characters"),
        ({"buyer": "a1"}, "must not have digits"),
        ({"buyer": 3}, "must be text"),
        ({"buyer": None}, "must not be null"),
        ({"count": None}, "must not be null"),
        ({"kind": None}, "must not be null"),
        ({"tags": None}, "must not be null"),
        ({"colour": None}, "is unknown"),
        ({"code": "ab"}, "needs at least 3 characters"),
        ({"code": "ABC"}, "has the wrong format"),
        ({"count": 0}, "must be at least 1"),
        ({"count": 10}, "must be at most 9"),
        ({"count": "many"}, "must be a whole number"),
        ({"price": "0"}, "must be more than 0"),
        ({"price": "1.234"}, "has more than 2 decimal places"),
        ({"kind": "loan"}, "must be 'gift' or 'sale'"),
        ({"at": "soon"}, "must be a time, as 2026-01-31T12:00:00Z"),
        ({"at": "2026-01-31T12:00:00"}, "must have a time zone, as 2026-01-31T12:00:00Z"),
        ({"sent": "2026-01-31T12:00:00"}, "must have a time zone, as 2026-01-31T12:00:00Z"),
        ({"sent": "0001-01-01T00:00:00+14:00"}, "must be in the years 1 to 9999 of UTC"),
        ({"sent": "9999-12-31T23:59:59-14:00"}, "must be in the years 1 to 9999 of UTC"),
        ({"day": "soon"}, "must be a date, as 2026-01-31"),
        ({"tags": ["a", "b"]}, "has more than 1 entries"),
        ({"paid": "perhaps"}, "must be true or false"),
        ({"colour": "red"}, "is unknown"),
    ],
)
def test_a_mistake_is_said_in_words(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as wrong:
        Order.model_validate(given)
    (found,) = invalid_input(wrong.value, given).fields
    assert (found.path, found.message) == (next(iter(given)), said)


class Square(Payload):
    shape: Literal["square"]
    side: int


class Circle(Payload):
    shape: Literal["circle"]
    radius: int


Shape = Annotated[Square | Circle, Field(discriminator="shape")]


class Drawing(Payload):
    line_width: int | float = 1
    labels: dict[str, Annotated[str, Field(max_length=3)] | bool | list[int]] = {}
    shapes: list[Shape] = []
    either: Square | Circle | None = None


@pytest.mark.parametrize(
    ("given", "path", "said"),
    [
        ({"lineWidth": "wide"}, "lineWidth", "must be a whole number or a number"),
        ({"line_width": "wide"}, "line_width", "must be a whole number or a number"),
        ({"labels": {"a": "long"}}, "labels.a", "has more than 3 characters"),
        ({"labels": {"a": [1, "x"]}}, "labels.a.1", "must be a whole number"),
        ({"shapes": [{"shape": "circle"}]}, "shapes.0.radius", "is required"),
        ({"shapes": [{"shape": "circle", "radius": "x"}]}, "shapes.0.radius", "must be a whole"),
        ({"either": {"shape": "square", "side": "x"}}, "either.side", "must be a whole number"),
    ],
)
def test_a_path_leads_to_what_was_sent_and_names_no_type(
    given: dict[str, Any], path: str, said: str
) -> None:
    with pytest.raises(ValidationError) as wrong:
        Drawing.model_validate(given)
    found = {one.path: one.message for one in invalid_input(wrong.value, given).fields}
    assert said in found[path]
    assert len(found) == 1 or path in ("labels.a", "labels.a.1", "either.side")


def test_what_is_no_object_is_wrong_as_a_whole() -> None:
    with pytest.raises(ValidationError) as wrong:
        Drawing.model_validate(7)
    assert [one.path for one in invalid_input(wrong.value, 7).fields] == ["body"]
