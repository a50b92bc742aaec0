"""Fields that are fixed when their item is created."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import pytest

from keyfold import Db, Design, Entity, Fixed, Id, Key, Version, set_if_absent, update
from keyfold.errors import PlanError
from keyfold.review.draft.python import declaration

design = Design("fixed")


class Note(Entity, table=design.table("fixed")):
    note_id: Id
    author: Annotated[str, Fixed()]
    source: Annotated[str | None, Fixed()] = None
    text: str = ""
    version: Annotated[int, Version()] = 0
    key = Key("NOTE#{note_id}", "NOTE")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def test_a_fixed_field_is_set_once(db: Db) -> None:
    note = db.create(Note(note_id="1", author="ada"))
    with pytest.raises(PlanError, match=r"Note\.author cannot change"):
        db.update(note, author="bob")
    with pytest.raises(PlanError, match="cannot change"):
        db.put(note.model_copy(update={"author": "bob"}))
    with pytest.raises(PlanError, match="cannot change"):
        db.transact(update(note.ref(), author="bob"))
    assert db.update(note, text="x", source=set_if_absent("s")).source == "s"


def test_the_design_says_so() -> None:
    schema = design.schema
    assert not schema.by_entity["Note"].by_field["author"].mutable
    assert "author: Annotated[str, Fixed()]" in declaration(schema)[0]
