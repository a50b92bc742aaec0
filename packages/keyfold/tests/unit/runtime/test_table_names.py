"""Names that DynamoDB does not take are refused when a design is opened."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold import Design, Entity, Key
from keyfold.errors import PlanError

design = Design("short")


class Thing(Entity, table=design.table("T")):
    thing_id: str
    key = Key("THING#{thing_id}", "THING")


@pytest.mark.parametrize(
    ("options", "called"),
    [({}, "T"), ({"table_prefix": "a b"}, "a bT"), ({"table_names": {"T": "x/y"}}, "x/y")],
)
def test_a_name_that_dynamodb_refuses_is_named_with_its_place(
    options: dict[str, Any], called: str
) -> None:
    with pytest.raises(
        PlanError, match=rf"test_table_names\.py:\d+.* T would be called '{called}'"
    ):
        design.open(":memory:", **options)


def test_a_prefix_makes_a_short_name_long_enough() -> None:
    with design.open(":memory:", table_prefix="dev-") as db:
        assert db.find(Thing.key(thing_id="1")) is None
