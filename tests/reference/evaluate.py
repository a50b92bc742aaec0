"""What expressions mean for one item."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.reference.grammar import Literal, Node, Path, Update
from tests.reference.values import (
    DEEPEST,
    EXACT,
    SET_OF,
    Item,
    Refused,
    Value,
    checked,
    depth,
    invalid,
    sortable,
)

MISSING_OPERAND = "The provided expression refers to an attribute that does not exist in the item"
WRONG_PATH = "The document path provided in the update expression is invalid for update"
WRONG_OPERAND = "An operand in the update expression has an incorrect data type"


def at(item: Item, path: Path) -> Value | None:
    held: Value | None = ("M", item)
    for step in path.steps:
        if held is None:
            return None
        kind, inside = held
        if kind == "M" and isinstance(step, str):
            held = inside.get(step)
        elif kind == "L" and isinstance(step, int):
            held = inside[step] if step < len(inside) else None
        else:
            return None
    return held


def operand(item: Item, node: Any) -> Value | None:
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Path):
        return at(item, node)
    assert node.op == "size"
    held = operand(item, node.args[0])
    if held is None or held[0] in ("N", "BOOL", "NULL"):
        return None
    if held[0] == "S":
        # Java's length: the documentation does not say of what.
        return "N", EXACT.create_decimal(len(held[1].encode("utf-16-le")) // 2)
    return "N", EXACT.create_decimal(len(held[1]))


def holds(item: Item, node: Node) -> bool:
    op, args = node.op, node.args
    if op == "and":
        return holds(item, args[0]) and holds(item, args[1])
    if op == "or":
        return holds(item, args[0]) or holds(item, args[1])
    if op == "not":
        return not holds(item, args[0])
    first, *others = [operand(item, each) for each in args]
    if op == "attribute_exists":
        return first is not None
    if op == "attribute_not_exists":
        return first is None
    if op == "in":
        return first is not None and first in others
    if op == "between":
        return compare(first, ">=", others[0]) and compare(first, "<=", others[1])
    second = others[0]
    if op == "attribute_type":
        return first is not None and second is not None and first[0] == second[1]
    if op == "begins_with":
        return (
            first is not None
            and second is not None
            and first[0] == second[0] in ("S", "B")
            and first[1].startswith(second[1])
        )
    if op == "contains":
        return contains(first, second)
    return compare(first, op, second)


def contains(first: Value | None, second: Value | None) -> bool:
    if first is None or second is None:
        return False
    if first[0] in ("S", "B"):
        return first[0] == second[0] and second[1] in first[1]
    if first[0] == "L":
        return second in first[1]
    return SET_OF.get(first[0]) == second[0] and second[1] in first[1]


def compare(first: Value | None, op: str, second: Value | None) -> bool:
    if op == "<>":
        return not compare(first, "=", second)
    if first is None or second is None or first[0] != second[0]:
        return False
    if op == "=":
        return first == second
    if first[0] not in ("S", "N", "B"):
        return False
    one, two = sortable(first), sortable(second)
    return bool({"<": one < two, "<=": one <= two, ">": one > two, ">=": one >= two}[op])


def project(item: Item, paths: list[Path]) -> Item:
    """What lies at the paths, each in the structure that holds it; elements of lists close up."""
    sketch: Any = {}
    for path in paths:
        held = at(item, path)
        if held is None:
            continue
        here = sketch
        for step in path.steps[:-1]:
            here = here.setdefault(step, {})
        here[path.steps[-1]] = held
    return {name: _solid(each) for name, each in sketch.items()}


def _solid(sketch: Any) -> Value:
    if isinstance(sketch, tuple):
        return sketch
    if isinstance(next(iter(sketch)), int):
        return "L", [_solid(sketch[index]) for index in sorted(sketch)]
    return "M", {name: _solid(each) for name, each in sketch.items()}


def updated(old: Item, update: Update) -> Item:
    """The item afterwards: every operand is of the item before, as are places in lists."""
    sets: list[tuple[Path, Value]] = []
    removes: list[Path] = []
    problems: list[Refused] = []
    actions: list[tuple[Path, Callable[[], Value | None]]] = [
        *((path, partial(assigned, old, node)) for path, node in update.SET),
        *((path, partial(_added, at(old, path), amount)) for path, amount in update.ADD),
        *((path, partial(_rest, at(old, path), amount)) for path, amount in update.DELETE),
        *((path, lambda: None) for path in update.REMOVE),
    ]
    for path, result in actions:
        value: Value | None = None
        for part in (partial(_parent, old, path), result):
            try:
                value = part()
            except Refused as refused:
                problems.append(refused)
        if value is None:
            removes.append(path)
        else:
            sets.append((path, value))
    if problems:
        # Which of several is told is not documented.
        raise problems[0] if len({each.message for each in problems}) == 1 else invalid()
    new = copy.deepcopy(old)
    for path, value in sorted(sets, key=lambda pair: _places(pair[0])):
        kind, inside = _parent(new, path)
        step: Any = path.steps[-1]
        if kind == "L" and step >= len(inside):
            inside.append(value)
        else:
            inside[step] = value
    for path in sorted(removes, key=_places, reverse=True):
        kind, inside = _parent(new, path)
        step = path.steps[-1]
        if kind == "M":
            inside.pop(step, None)
        elif step < len(inside):
            del inside[step]
    if any(depth(value) > DEEPEST - 1 for value in new.values()):
        raise invalid()
    return new


def _places(path: Path) -> tuple[int, ...]:
    return tuple(step for step in path.steps if isinstance(step, int))


def _parent(item: Item, path: Path) -> Value:
    parent: Value | None = at(item, Path(path.steps[:-1]))
    wanted = "L" if isinstance(path.steps[-1], int) else "M"
    if parent is None or parent[0] != wanted:
        raise invalid(WRONG_PATH)
    return parent


def assigned(item: Item, node: Any) -> Value:
    if not isinstance(node, Node):
        value = operand(item, node)
        if value is None:
            raise invalid(MISSING_OPERAND)
        return copy.deepcopy(value)
    if node.op == "if_not_exists":
        held = at(item, node.args[0])
        return copy.deepcopy(held) if held is not None else assigned(item, node.args[1])
    one, two = (assigned(item, each) for each in node.args)
    wanted = "L" if node.op == "list_append" else "N"
    if (one[0], two[0]) != (wanted, wanted):
        raise invalid(WRONG_OPERAND)
    if wanted == "L":
        return "L", one[1] + two[1]
    return _sum(one, two, -1 if node.op == "-" else 1)


def _sum(one: Value, two: Value, sign: int) -> Value:
    try:
        return "N", checked((EXACT.add if sign > 0 else EXACT.subtract)(one[1], two[1]))
    except Refused as refused:
        raise invalid() from refused


def _added(held: Value | None, amount: Value) -> Value:
    if held is None:
        return amount
    if held[0] != amount[0]:
        raise invalid(WRONG_OPERAND)
    if amount[0] == "N":
        return _sum(held, amount, 1)
    return amount[0], held[1] | amount[1]


def _rest(held: Value | None, amount: Value) -> Value | None:
    """What is left of a set; of nothing, nothing."""
    if held is not None and held[0] != amount[0]:
        raise invalid(WRONG_OPERAND)
    rest = held[1] - amount[1] if held else None
    return (amount[0], rest) if rest else None
