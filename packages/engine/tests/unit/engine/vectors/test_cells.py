"""Approximate search beside exact search, which says what is right."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from keyfold_engine.engine import Engine
from keyfold_engine.engine.vectors import cells
from keyfold_engine.engine.vectors.cells import VectorCells
from keyfold_engine.engine.vectors.matrix import Matrix
from keyfold_engine.engine.vectors.partition import StoredVector, VectorPartition
from keyfold_engine.errors import SettingError

COUNT, DIMENSIONS = 12_000, 24
Rows = NDArray[np.float32]


def clustered(chance: np.random.Generator) -> Rows:
    centres = chance.normal(size=(60, DIMENSIONS))
    near = 0.4 * chance.normal(size=(COUNT, DIMENSIONS))
    return (centres[chance.integers(0, 60, COUNT)] + near).astype(np.float32)


def scattered(chance: np.random.Generator) -> Rows:
    return chance.normal(size=(COUNT, DIMENSIONS)).astype(np.float32)


def stored(row: int, vector: Rows, change: int = 1) -> StoredVector:
    return StoredVector(change, row, 1, {"odd": {"BOOL": bool(row % 2)}}, vector.tobytes())


def filled(function: str, first_pass: Matrix, rows: Rows) -> VectorPartition:
    partition = VectorPartition(function, first_pass)
    for row, vector in enumerate(rows):
        partition.put(stored(row, vector))
    return partition


def found(partition: VectorPartition, query: Rows, **wanted: Any) -> list[tuple[int, float]]:
    nearest, _ = partition.search(query.tobytes(), 10, wanted)
    return [(each.row, each.score) for each in nearest]


def pair(function: str, rows: Rows) -> tuple[VectorPartition, VectorPartition]:
    return filled(function, VectorCells(DIMENSIONS), rows), filled(
        function, Matrix(DIMENSIONS), rows
    )


@pytest.mark.parametrize("function", ["COSINE", "DOT_PRODUCT", "EUCLIDEAN"])
@pytest.mark.parametrize(("make", "least"), [(clustered, 0.95), (scattered, 0.5)])
def test_most_of_the_nearest_are_found_with_their_scores(
    function: str, make: Any, least: float
) -> None:
    chance = np.random.default_rng(7)
    rows = make(chance)
    approximate, exact = pair(function, rows)
    hits = 0
    for query in rows[:40] + np.float32(0.05):
        right = found(exact, query)
        near = dict(found(approximate, query))
        assert len(near) == 10
        hits += sum(near.get(row) == score for row, score in right)
    assert hits >= least * 400


def test_what_a_filter_leaves_is_looked_at_as_a_whole() -> None:
    rows = scattered(np.random.default_rng(7))
    approximate, exact = pair("COSINE", rows)
    for query in rows[:10]:
        wanted = {"odd": {"BOOL": True}}
        assert found(approximate, query, **wanted) == found(exact, query, **wanted)


def test_changes_and_removals_are_followed() -> None:
    chance = np.random.default_rng(7)
    rows = clustered(chance)
    approximate, _ = pair("EUCLIDEAN", rows)
    assert found(approximate, rows[5])[0] == (5, 0.0)
    there = dict(enumerate(rows))
    for step in range(60):
        row = int(chance.integers(0, COUNT))
        if step % 3 == 0 and row in there:
            gone = there.pop(row)
            approximate.remove(row)
            assert row not in dict(found(approximate, gone))
        else:
            there[row] = rows[int(chance.integers(0, COUNT))] + np.float32(step)
            approximate.put(stored(row, there[row], change=2 + step))
            assert (row, 0.0) in found(approximate, there[row])
    for row, vector in list(there.items())[:100]:
        assert (row, 0.0) in found(approximate, vector)


def test_cells_are_cut_anew_for_many_more_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "FROM", 100)
    rows = clustered(np.random.default_rng(7))
    partition = filled("COSINE", VectorCells(DIMENSIONS), rows[:500])
    assert found(partition, rows[3])[0][0] == 3
    for row in range(500, 6_000):
        partition.put(stored(row, rows[row]))
    for row in (3, 499, 500, 5_999):
        assert found(partition, rows[row])[0][0] == row


TABLE: dict[str, Any] = {
    "TableName": "Notes",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "VectorIndexes": [
        {
            "IndexName": "near",
            "VectorAttribute": {"AttributeName": "emb"},
            "Dimensions": 2,
            "DistanceFunction": "EUCLIDEAN",
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}


def nearest(engine: Engine, *query: int) -> list[str]:
    elements = [{"N": str(each)} for each in query]
    request = {"TableName": "Notes", "IndexName": "near", "SearchVector": elements, "TopK": 1}
    return [
        each["Item"]["pk"]["S"] for each in engine.call("SearchVectors", request)["SearchResults"]
    ]


def test_the_first_search_after_a_restart_finds_what_is_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "FROM", 50)
    path = tmp_path / "notes.db"
    with Engine.open(path, vector_search="approximate") as engine:
        engine.call("CreateTable", TABLE)
        for number in range(200):
            vector = [{"N": str(number)}, {"N": str(number % 7)}]
            item = {"pk": {"S": str(number)}, "emb": {"L": vector}}
            engine.call("PutItem", {"TableName": "Notes", "Item": item})
        assert nearest(engine, 100, 2) == ["100"]
        engine.call("DeleteItem", {"TableName": "Notes", "Key": {"pk": {"S": "100"}}})
        assert nearest(engine, 100, 3) == ["101"]
    with Engine.open(path, vector_search="approximate") as engine:
        assert nearest(engine, 100, 3) == ["101"]
        assert nearest(engine, 42, 0) == ["42"]


def test_a_search_of_no_kind_or_without_its_library_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(SettingError, match="unknown vector search 'quick'; use exact or"):
        Engine.open(vector_search="quick")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(SettingError, match="needs faiss: pip install 'keyfold"):
        Engine.open(vector_search="approximate")
