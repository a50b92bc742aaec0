"""Models inside an item can be changed by anybody who holds them; they are looked at again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field

from keyfold import Db, Design, Entity, Key, Version, append
from keyfold.conditions import at
from keyfold.errors import ValueRefused
from keyfold.testing import Sandbox

design = Design("boxes")
table = design.table("boxes")


class Side(BaseModel):
    length: Annotated[int, Field(ge=0)] = 1
    label: Annotated[str, AfterValidator(str.upper)] = "A"


class Box(Entity, table=table):
    box_id: str
    front: Side = Side()
    others: list[Side] = []
    named: dict[str, Side] = {}
    stock: int = 3
    tags: set[str] = set()
    version: Annotated[int, Version()] = 0
    key = Key("BOX#{box_id}", "BOX")


@pytest.fixture
def boxes() -> Iterator[tuple[Db, Sandbox]]:
    with Sandbox() as sandbox, sandbox.open(design) as db:
        db.create(Box(box_id="a", others=[Side()]))
        yield db, sandbox


def changed(**values: Any) -> Side:
    side = Side()
    for name, value in values.items():
        setattr(side, name, value)
    return side


BOX: Any = Box.key(box_id="a")


@pytest.mark.parametrize(
    ("places", "changes"),
    [
        ((), {"front": changed(length=-1)}),
        ((), {"others": [changed(length=-1)]}),
        ((), {"others": append([changed(length=-1)])}),
        ((), {"named": {"top": changed(length=-1)}}),
        ((at.set(lambda box: box.others[0], changed(length=-1)),), {}),
    ],
)
def test_a_model_that_was_made_wrong_is_refused(
    boxes: tuple[Db, Sandbox], places: tuple[Any, ...], changes: dict[str, Any]
) -> None:
    db, sandbox = boxes
    before = sandbox.items("boxes")
    with pytest.raises(ValueRefused, match="greater than or equal to 0"):
        db.update(BOX, *places, **changes)
    assert sandbox.items("boxes") == before


def test_what_a_validator_makes_of_a_value_is_stored(boxes: tuple[Db, Sandbox]) -> None:
    db, sandbox = boxes
    told: Any = db.update(BOX, front=changed(label="b"))
    assert told.front.label == "B"
    [item] = sandbox.items("boxes")
    assert item["front"]["M"]["label"] == {"S": "B"}


def test_many_can_be_put_over_items_with_a_version(boxes: tuple[Db, Sandbox]) -> None:
    db, _ = boxes
    db.put_many([Box(box_id="a", stock=9), Box(box_id="b")])
    assert db.get(BOX).stock == 9
    assert db.get(BOX).version == 2
