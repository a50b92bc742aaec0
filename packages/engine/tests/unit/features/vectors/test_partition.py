"""The search among the vectors of a partition, against scores one by one."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from random import Random

import pytest

from keyfold_engine.features.vectors.matrix import Matrix
from keyfold_engine.features.vectors.partition import StoredVector, VectorPartition, scoring
from keyfold_engine.values import AttributeValue

_DIMENSIONS = 24


def _packed(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def _expected(
    function: str,
    query: bytes,
    held: Mapping[int, StoredVector],
    wanted: Mapping[str, AttributeValue],
) -> list[tuple[int, float]]:
    score = scoring(function, struct.unpack(f"<{_DIMENSIONS}f", query))
    sign = -1 if function == "DOT_PRODUCT" else 1
    scored = [
        (row, score(struct.unpack(f"<{_DIMENSIONS}f", entry.vector)))
        for row, entry in held.items()
        if all(entry.filters.get(name) == value for name, value in wanted.items())
    ]
    return sorted(scored, key=lambda each: (sign * each[1], each[0]))[:10]


@pytest.mark.parametrize("with_numpy", [True, False])
@pytest.mark.parametrize("function", ["COSINE", "EUCLIDEAN", "DOT_PRODUCT"])
def test_a_search_finds_what_scoring_everything_finds(function: str, with_numpy: bool) -> None:
    """Three thousand puts and removals with many equal vectors; filters that many and few pass."""
    random = Random(3)
    partition = VectorPartition(function, Matrix(_DIMENSIONS) if with_numpy else None)
    held: dict[int, StoredVector] = {}
    for step in range(1, 3001):
        row = random.randrange(400)
        if row in held and random.random() < 0.4:
            partition.remove(row)
            del held[row]
        else:
            values = [float((at + random.randrange(4)) % 24) for at in range(_DIMENSIONS)]
            if random.random() < 0.5:
                shift = random.randrange(4)
                values = [float((at + shift) % 24) for at in range(_DIMENSIONS)]
            filters = {"kind": {"N": str(random.randrange(20))}}
            held[row] = StoredVector(step, row, 100, filters, _packed(values))
            partition.put(held[row])
        if step % 100 == 0:
            query = _packed([random.gauss(0, 1) for _ in range(_DIMENSIONS)])
            for wanted in ({}, {"kind": {"N": "7"}}):
                found, examined = partition.search(query, 10, wanted)
                expected = _expected(function, query, held, wanted)
                assert [(each.row, each.score) for each in found] == expected
                passing = [e for e in held.values() if not wanted or e.filters == wanted]
                assert examined == 100 * len(passing)


def test_numbers_near_the_limit_of_32_bits_are_ranked_in_64() -> None:
    partition = VectorPartition("EUCLIDEAN", Matrix(2))
    for row in range(100):
        vector = _packed([3e38 - row * 1e36, 0.0])
        partition.put(StoredVector(row + 1, row, 100, {}, vector))
    found, _examined = partition.search(_packed([3e38, 0.0]), 3, {})
    assert [each.row for each in found] == [0, 1, 2]
