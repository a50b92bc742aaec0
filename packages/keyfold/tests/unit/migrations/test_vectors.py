"""Vector indexes that a design gains and loses: planned, made, taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest

from keyfold import Design, Entity, Id, Key
from keyfold.design.schema import Schema
from keyfold.migrations import Backend, Migration, Migrator, add, diff, remove
from keyfold.migrations import load as load_plan
from keyfold.migrations.plan import draft
from keyfold.migrations.refusals import Dangerous
from keyfold.migrations.snapshot import dump, load
from keyfold.vectors import Vector
from keyfold_engine.clients import connect

from .conftest import Shop


def notes(*marks: Vector) -> Design:
    design = Design("notes")
    table = design.table("Notes")
    kind: Any = Annotated[(list[float], *marks)] if marks else list[float]

    class Note(Entity, table=table):
        owner: Id
        note_id: Id
        stars: int = 0
        embedding: kind
        key = Key("OWNER#{owner}", "NOTE#{note_id}")

    assert design.schema
    assert Note.__spec__
    return design


def schema(*marks: Vector) -> Schema:
    return notes(*marks).schema


SOUGHT = Vector(3, within="owner", filters=("stars",))


def test_a_snapshot_keeps_vector_indexes() -> None:
    made = schema(SOUGHT)
    assert load(dump(made)).tables[0].vectors == made.tables[0].vectors
    assert diff(load(dump(made)), made) == []


def test_a_plan_makes_and_drops_them(tmp_path: Path) -> None:
    [added] = diff(schema(), schema(SOUGHT))
    assert str(added) == "Notes has a new vector index by_embedding"
    assert "create vector index: " in draft("x", schema(), schema(SOUGHT)).text
    assert "drop vector index: " in draft("x", schema(SOUGHT), schema()).text
    made = load_plan(draft("x", Schema("notes"), schema(SOUGHT)).save(tmp_path))
    backend = Backend(connect(":memory:"))
    Migrator(made, backend).apply("expand")
    live = backend.live("Notes")
    assert live is not None
    assert [vector.name for vector in live.vectors] == ["by_embedding"]


def test_a_vector_index_cannot_change_under_its_name() -> None:
    with pytest.raises(Dangerous, match="under another name"):
        draft("x", schema(SOUGHT), schema(Vector(3)))


def _indexes(backend: Backend) -> list[str]:
    live = backend.live("Notes")
    assert live is not None
    return [vector.name for vector in live.vectors]


def test_a_migration_makes_the_index_and_takes_it_back(shop: Shop) -> None:
    backend = shop.backend
    db = notes().open(backend.client)
    db.create_tables()
    [vector] = schema(SOUGHT).tables[0].vectors
    migration = Migration("sought", [add(vector, "Notes")])
    for _ in range(2):
        Migrator(migration, backend, without_routers=True).apply("contract")
        live = backend.live("Notes")
        assert live is not None
        assert live.vectors == (vector,)
    remove(vector, "Notes").apply(backend)
    assert _indexes(backend) == []
    add(vector, "Notes").apply(backend)
    assert _indexes(backend) == ["by_embedding"]
