"""Conditions against a plain oracle, and the corners of DynamoDB's comparison."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    Not,
    Or,
    Path,
    Value,
)
from keyfold_engine.expressions.bind import Placeholders
from keyfold_engine.expressions.evaluate import matches
from keyfold_engine.values.codec import decode, encode

ITEM: dict[str, Any] = {
    "s": {"S": "hello"},
    "n": {"N": "42"},
    "b": {"B": "aGVsbG8="},
    "t": {"BOOL": True},
    "z": {"NULL": True},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2.5"]},
    "bs": {"BS": ["aGk="]},
    "l": {"L": [{"N": "1"}, {"S": "x"}, {"SS": ["q", "p"]}]},
    "m": {"M": {"k": {"M": {"d": {"S": "deep"}}}}},
}


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("s = :v", ["hello"], True),
        ("n = :v", [42], True),
        ("n = :v", ["42"], False),
        ("ss = :v", [{"b", "a"}], True),
        ("l[2] = :v", [{"p", "q"}], True),
        ("m.k.d = :v", ["deep"], True),
        ("m.k.gone = :v", ["deep"], False),
        ("l[9] = :v", [1], False),
        ("s.k = :v", ["x"], False),
        ("gone <> :v", ["x"], True),
        ("NOT gone = :v", ["x"], True),
        ("gone < :v", ["x"], False),
        ("n <> :v", ["42"], True),
        ("n > :v", [5], True),
        ("n > :v", ["5"], False),
        ("n BETWEEN :v AND :w", [42, 42], True),
        ("n IN (:v, :w)", ["42", 42], True),
        ("gone IN (:v)", [1], False),
        ("attribute_exists(z)", [], True),
        ("attribute_not_exists(m.k.nope)", [], True),
        ("attribute_type(ns, :v)", ["NS"], True),
        ("attribute_type(gone, :v)", ["S"], False),
        ("attribute_type(:v, :w)", ["x", "S"], True),
        ("attribute_type(:v, :w)", ["x", "N"], False),
        ("begins_with(s, :v)", ["he"], True),
        ("begins_with(b, :v)", [b"he"], True),
        ("begins_with(n, :v)", ["4"], False),
        ("contains(s, :v)", ["ell"], True),
        ("contains(b, :v)", [b"ell"], True),
        ("contains(ss, :v)", ["a"], True),
        ("contains(ns, :v)", [2.5], True),
        ("contains(ns, :v)", ["1"], False),
        ("contains(l, :v)", ["x"], True),
        ("contains(l, :v)", [{"p", "q"}], True),
        ("contains(m, :v)", ["k"], False),
        ("contains(gone, :v)", ["k"], False),
        ("size(s) = :v", [5], True),
        ("size(b) = :v", [5], True),
        ("size(l) = :v", [3], True),
        ("size(m) = :v", [1], True),
        ("size(n) = :v", [2], False),
        ("size(gone) <> :v", [2], True),
        ("s = :v OR n = :w", ["x", 42], True),
        ("s = :v AND n = :w", ["x", 42], False),
    ],
)
def test_conditions_on_an_item(text: str, values: list[Any], expected: bool) -> None:
    given = dict(zip((":v", ":w"), map(encode, values), strict=False))
    condition = Placeholders.with_literals(None, given or None).condition(text)
    assert matches(condition, ITEM, given) is expected


def test_an_absent_item_is_an_empty_one() -> None:
    assert matches(Placeholders().condition("attribute_not_exists(pk)"), {})


NAMES = st.sampled_from(("a", "b", "c"))
NUMBERS = st.integers(-3, 3)
TEXTS = st.text("xy", max_size=3)
PLAIN = NUMBERS | TEXTS | st.booleans() | st.none() | st.frozensets(TEXTS.filter(bool), min_size=1)
ITEMS = st.dictionaries(NAMES, PLAIN | st.lists(PLAIN, max_size=3), max_size=3)


def _values(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Value]:
    return of.map(lambda value: Value(encode(value)))


PATHS = NAMES.map(lambda name: Path((name,)))
LEAVES: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Compare, st.sampled_from(("=", "<>")), PATHS, _values(PLAIN)),
    st.builds(Compare, st.sampled_from(("<", "<=", ">", ">=")), PATHS, _values(NUMBERS | TEXTS)),
    st.builds(
        lambda path, low, high: Between(
            path, Value(encode(min(low, high))), Value(encode(max(low, high)))
        ),
        PATHS,
        NUMBERS,
        NUMBERS,
    ),
    st.builds(In, PATHS, st.lists(_values(PLAIN), min_size=1, max_size=3).map(tuple)),
    st.builds(
        lambda name, path: Function(name, (path,)),
        st.sampled_from(("attribute_exists", "attribute_not_exists")),
        PATHS,
    ),
    st.builds(lambda path, value: Function("begins_with", (path, value)), PATHS, _values(TEXTS)),
    st.builds(lambda path, value: Function("contains", (path, value)), PATHS, _values(PLAIN)),
)
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda terms: And(tuple(terms)), st.lists(inner, min_size=2, max_size=3))
        | st.builds(lambda terms: Or(tuple(terms)), st.lists(inner, min_size=2, max_size=3))
        | st.builds(Not, inner)
    ),
    max_leaves=6,
)


def _same(a: Any, b: Any) -> bool:
    """Equality as DynamoDB sees it: True is not 1."""
    return type(a) is type(b) and a == b


ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _subject(node: Condition) -> Path:
    match node:
        case Compare(_, Path() as path) | Between(Path() as path) | In(Path() as path):
            return path
        case Function(_, (Path() as path, *_)):
            return path
    raise AssertionError(node)


def _oracle(node: Condition, item: dict[str, Any]) -> bool:
    match node:
        case And(terms):
            return all(_oracle(term, item) for term in terms)
        case Or(terms):
            return any(_oracle(term, item) for term in terms)
        case Not(term):
            return not _oracle(term, item)
        case Function("attribute_exists", (Path() as path,)):
            return path.root in item
        case Function("attribute_not_exists", (Path() as path,)):
            return path.root not in item
    path = _subject(node)
    present = path.root in item
    value: Any = item.get(path.root)
    match node:
        case Compare("<>", _, Value(content)):
            return not (present and _same(value, decode(content)))
        case Compare("=", _, Value(content)):
            return present and _same(value, decode(content))
        case Compare(order, _, Value(content)):
            other: Any = decode(content)
            if not present or type(value) is not type(other):
                return False
            return bool(ORDERS[order](value, other))
        case Between(_, Value(low), Value(high)):
            bounds = decode(low), decode(high)
            same_type = present and type(value) is type(bounds[0])
            return same_type and bounds[0] <= value <= bounds[1]
        case In(_, options):
            return present and any(_same(value, decode(o.content)) for o in options)  # type: ignore[union-attr]
        case Function("begins_with", (_, Value(content))):
            return isinstance(value, str) and value.startswith(decode(content))
        case Function("contains", (_, Value(content))):
            wanted = decode(content)
            if isinstance(value, str):
                return isinstance(wanted, str) and wanted in value
            if isinstance(value, (set, list)):
                return any(_same(each, wanted) for each in value)
            return False
    raise AssertionError(node)


@given(CONDITIONS, ITEMS)
def test_conditions_agree_with_a_plain_oracle(node: Condition, item: dict[str, Any]) -> None:
    wire = {name: encode(value) for name, value in item.items()}
    plain = {name: decode(value) for name, value in wire.items()}
    assert matches(node, wire) == _oracle(node, plain)
