"""Structures over their own entity: nodes that count, and take along, the nodes below them."""

from __future__ import annotations

from typing import Annotated

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Index, Key, On
from keyfold.maintain import verify
from keyfold.streams import Consumer, letters
from keyfold.structures import Cascade
from keyfold.testing import Sandbox

design = Design("trees")
table = design.table(
    "Trees", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")], stream="NEW_AND_OLD_IMAGES"
)
BELOW = {"node_id": "parent_id"}


class Node(Entity, table=table):
    node_id: Id
    parent_id: str | None = None
    below: Annotated[int, Counter("Node", via=BELOW)] = 0
    key = Key("NODE#{node_id}", "NODE")
    by_parent = On("GSI1", "PARENT#{parent_id}", "NODE#{node_id}", when="parent_id")
    nodes = Cascade("Node", through="by_parent", via=BELOW)


@pytest.fixture
def db(sandbox: Sandbox) -> Db:
    return sandbox.open(design)


def make(db: Db, **parents: str | None) -> None:
    for node_id, parent_id in parents.items():
        db.create(Node(node_id=node_id, parent_id=parent_id))


def below(db: Db, node_id: str) -> int:
    return db.get(Node.key(node_id=node_id)).below


def settle(db: Db) -> None:
    Consumer(db).drain()
    assert db.run(letters(db.context)) == []
    assert verify(db).clean


def test_a_node_counts_the_nodes_below_it(db: Db) -> None:
    make(db, a=None, b="a", c="a", d="c")
    assert (below(db, "a"), below(db, "c")) == (2, 1)
    db.update(Node.key(node_id="d"), parent_id="a")
    assert (below(db, "a"), below(db, "c")) == (3, 0)
    db.delete(Node.key(node_id="b"))
    assert below(db, "a") == 2
    settle(db)


def test_a_node_takes_along_all_that_is_below_it(db: Db) -> None:
    make(db, a=None, b="a", c="b", d="c", other=None)
    db.delete(Node.key(node_id="a"))
    settle(db)
    assert [one.node_id for one in db.scan(Node)] == ["other"]


@pytest.mark.parametrize("shape", ["deep", "wide"])
def test_more_nodes_than_fit_are_left_to_the_stream(db: Db, shape: str) -> None:
    make(db, n0=None)
    for number in range(1, 115):
        make(db, **{f"n{number}": f"n{number - 1 if shape == 'deep' else 0}"})
    db.delete(Node.key(node_id="n0"))
    settle(db)
    assert list(db.scan(Node)) == []


def test_a_node_below_itself_goes_like_any_other(db: Db) -> None:
    make(db, a=None)
    db.update(Node.key(node_id="a"), parent_id="a")
    assert below(db, "a") == 1
    db.delete(Node.key(node_id="a"))
    settle(db)
    assert list(db.scan(Node)) == []


def test_two_nodes_below_each_other_go_together(db: Db) -> None:
    make(db, a=None, b="a")
    db.update(Node.key(node_id="a"), parent_id="b")
    db.delete(Node.key(node_id="b"))
    settle(db)
    assert list(db.scan(Node)) == []
