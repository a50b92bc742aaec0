"""Whatever is asked, the engine answers or refuses in DynamoDB's way; it never breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyfold.errors import OperationError
from keyfold_engine.engine import Engine, shapes
from keyfold_engine.engine.shapes.kinds import (
    Attribute,
    Boolean,
    ListOf,
    MapOf,
    Number,
    Shape,
    Structure,
    Text,
)

NAMES = st.sampled_from(("pk", "sk", "city", "a", "#n", ":v", "tab", "byCity", "nowhere"))
WORDS = st.sampled_from(
    (
        *("pk = :v", "attribute_exists(a)", "SET a = :v", "REMOVE a[0]", "ADD a :v", "#n", "a.b"),
        *("size(a) > :v AND city = :v", "pk = :v AND sk > :v", "(", "", "HASH", "RANGE", "S"),
        *("SELECT * FROM tab", "INSERT INTO tab VALUE {'pk': ?, 'sk': 1}", "PAY_PER_REQUEST"),
        *("UPDATE tab SET a = ? WHERE pk = 'x' AND sk = 1", "ALL_NEW", "EQ", "NULL", "COUNT"),
        *("INCLUDE", "NEW_IMAGE", "TRIM_HORIZON", "arn:aws:dynamodb:us-east-1:000:table/tab"),
    )
)
ATTRIBUTES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(
        (
            *({"S": "x"}, {"S": ""}, {"N": "1"}, {"N": "1e-9"}, {"B": "AA=="}, {"BOOL": True}),
            *({"NULL": True}, {"SS": ["a"]}, {"NS": ["1", "1.0"]}, {"N": "x"}, {}, {"Q": 1}),
        )
    ),
    lambda inner: (
        st.builds(lambda each: {"L": each}, st.lists(inner, max_size=2))
        | st.builds(lambda each: {"M": each}, st.dictionaries(NAMES, inner, max_size=2))
    ),
    max_leaves=4,
)
KEYS = st.fixed_dictionaries(
    {"pk": st.sampled_from(({"S": "x"}, {"S": "y"})), "sk": st.sampled_from(({"N": "1"},))}
)


def _values(shape: Shape) -> st.SearchStrategy[Any]:
    match shape:
        case Text(constraints):
            choices = [c.text for c in constraints if "enum value set" in c.text]
            known = choices[0].partition("[")[2].rstrip("]").split(", ") if choices else ["tab"]
            return st.sampled_from(known) | NAMES | WORDS
        case Number():
            return st.integers(-1, 5) | st.floats(0, 3)
        case Boolean():
            return st.booleans()
        case Attribute():
            return ATTRIBUTES
        case ListOf(element):
            return st.lists(_values(element), max_size=3)
        case MapOf(Attribute()):
            return KEYS | st.dictionaries(NAMES, ATTRIBUTES, max_size=3)
        case MapOf(content):
            return st.dictionaries(NAMES, _values(content), max_size=2)
        case Structure():
            return _requests(shape)


def _requests(shape: Structure) -> st.SearchStrategy[Any]:
    needed = {n: _values(m.shape) for n, m in shape.members.items() if m.required or m.missing}
    others = {n: _values(m.shape) for n, m in shape.members.items() if n not in needed}
    return st.fixed_dictionaries(needed, optional=others)


# The table stays, and nothing is written outside the engine's file.
REQUESTS = shapes.every()
OPERATIONS = sorted(REQUESTS.keys() - {"DeleteTable", "ExportTableToPointInTime", "ImportTable"})
CALLS = st.sampled_from(OPERATIONS).flatmap(
    lambda operation: st.tuples(st.just(operation), _requests(REQUESTS[operation]))
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine.open() as opened:
        opened.call(
            "CreateTable",
            {
                "TableName": "tab",
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "sk", "AttributeType": "N"},
                    {"AttributeName": "city", "AttributeType": "S"},
                ],
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "byCity",
                        "KeySchema": [{"AttributeName": "city", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    }
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        yield opened


@settings(suppress_health_check=list(HealthCheck))
@given(CALLS)
def test_any_request_is_answered_or_refused(
    engine: Engine, asked: tuple[str, dict[str, Any]]
) -> None:
    operation, request = asked
    try:
        answer = engine.call_bytes(operation, orjson.dumps(request))
    except OperationError as error:
        refused = error
    else:
        assert isinstance(orjson.loads(answer), dict)
        return
    assert refused.status == 400
