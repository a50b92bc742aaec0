"""Snapshots say what migrations compare; those that cannot be read are refused with what to do."""

from __future__ import annotations

import pytest

from keyfold.design import file
from keyfold.errors import MigrationError
from keyfold.migrations.snapshot import dump, load

DESIGN = """
design: d
description: Not compared.
tables: {T: {key: [PK, SK], indexes: {GSI1: {key: [gpk, gsk]}}}}
entities:
  Order:
    key: {PK: "escaped ORDER#{order}#{part}", SK: ORDER}
    attributes:
      order: id
      part: string
      state: {type: string, values: [new, paid], states: {new: {paid: pay}}}
    indexes:
      GSI1: {gpk: LISTED, gsk: "{order}", when: 'state = "new"'}
"""


@pytest.mark.parametrize("other", [1, 3])
def test_a_snapshot_of_another_format_says_what_to_do(other: int) -> None:
    words = rf"x\.json has format {other}.*keyfold migrations snapshot"
    with pytest.raises(MigrationError, match=words):
        load(f'{{"format": {other}}}'.encode(), "x.json")


def test_a_snapshot_read_again_is_the_same_with_keys_conditions_and_transitions() -> None:
    data = dump(file.loads(DESIGN))
    read = load(data)
    (order,) = read.entities
    assert dump(read) == data
    assert order.key is not None
    assert order.key.partition.escape
    assert order.placements == file.loads(DESIGN).entities[0].placements
    assert [(s.before, s.after) for s in order.by_field["state"].states] == [("new", "paid")]
    assert b"Not compared" not in data


def test_a_snapshot_of_before_has_transitions_as_pairs() -> None:
    data = dump(file.loads(DESIGN))
    pairs = data.replace(
        b'{\n              "before": "new",\n              "after": "paid"\n            }',
        b'["new", "paid"]',
    )
    assert pairs != data
    assert load(pairs) == load(data)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('[{"name": "A", "table": "T", "key": "A"}]', "entities.0.key: Input should be a valid"),
        ('[{"name": "A", "key": ["A"]}]', "entities.0.table: Field required"),
        ("{}", "entities: Input should be a valid tuple"),
        ('[{"name": "A", "table": "T", "key": ["{a"]}]', "unmatched brace"),
    ],
)
def test_a_damaged_snapshot_says_where(given: str, said: str) -> None:
    text = f'{{"format": 2, "design": "d", "tables": [], "entities": {given}, "follows": []}}'
    with pytest.raises(MigrationError, match=r"x\.json is not a snapshot") as refused:
        load(text.encode(), "x.json")
    assert said in str(refused.value)
