"""Our request shapes against the model that botocore carries of DynamoDB and its streams.

A newer botocore tells of new operations and members by failing here. What Amazon's front checks by
other rules than its model has is listed with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore import xform_name
from botocore.loaders import Loader

from keyfold_engine.engine import shapes
from keyfold_engine.engine.shapes.kinds import (
    Attribute,
    Boolean,
    ListOf,
    MapOf,
    Member,
    Number,
    Shape,
    Structure,
    Text,
)
from keyfold_engine.errors.answers import OperationError

SERVICES = ("dynamodb", "dynamodbstreams")
KINDS: Mapping[str, type] = {
    **dict.fromkeys(("integer", "long", "double", "timestamp"), Number),
    "string": Text,
    "boolean": Boolean,
    "list": ListOf,
    "map": MapOf,
    "structure": Structure,
}

# Amazon's front is stricter than its model, or says the same in other words.
RIGHT = (
    # Names have 3 to 255 characters of a few kinds; the model has room for ARNs.
    r"TableName (min|max|pattern)",
    # A table has two key attributes, an index eight.
    r"KeySchema max",
    r"AttributesToGet max",
    # These have messages of their own, from the operations.
    r"ExpressionAttributeNames\{\} max",
    r"^Batch(Get|Write)Item RequestItems(\{\})? (min|max|pattern)",
    r"^(Create|Update)Table TableClass enum",
    r"^(ListStreams|DescribeStream|GetRecords) Limit max",
    r"^DescribeStream ShardFilter\.\w+ required",
    # Left out only where the table of another account is given.
    r"^CreateTable (AttributeDefinitions|KeySchema) required",
    # Java's names for all characters, and for those that can be printed.
    r"AutoScalingRoleArn pattern",
    r"PolicyName pattern",
)


def _models() -> Iterator[dict[str, Any]]:
    for service in SERVICES:
        yield Loader().load_service_model(service, "service-2")


def _differences() -> Iterator[str]:
    known = shapes.every()
    for model in _models():
        for operation, described in sorted(model["operations"].items()):
            if operation not in known:
                yield f"{operation}: missing"
                continue
            name = described["input"]["shape"]
            yield from _of_shape(model["shapes"], name, known[operation], operation)


def _of_shape(shapes: Any, name: str, ours: Shape, place: str) -> Iterator[str]:
    theirs = shapes[name]
    kind = theirs["type"]
    if isinstance(ours, Attribute):
        if name != "AttributeValue":
            yield f"{place} is a {kind}, not an attribute value"
        return
    if not isinstance(ours, KINDS[kind]):
        yield f"{place} is a {kind}, not a {type(ours).__name__}"
        return
    found = _rules(ours)
    for rule in ("min", "max", "pattern", "enum"):
        wanted = theirs.get(rule)
        if rule == "enum" and wanted is not None:
            wanted = sorted(wanted)
        if (wanted or None) != (found.get(rule) or None):
            yield f"{place} {rule}: {wanted!r}, not {found.get(rule)!r}"
    match ours:
        case Structure():
            yield from _of_members(shapes, theirs, ours, place)
        case ListOf(element):
            yield from _of_shape(shapes, theirs["member"]["shape"], element, f"{place}[]")
        case MapOf(value):
            yield from _of_shape(shapes, theirs["value"]["shape"], value, f"{place}{{}}")


def _of_members(shapes: Any, theirs: Any, ours: Structure, place: str) -> Iterator[str]:
    for name, described in theirs["members"].items():
        path = f"{place}.{name}" if " " in place else f"{place} {name}"
        mine: Member | None = ours.members.get(name)
        if mine is None:
            yield f"{path}: missing"
            continue
        is_needed = mine.required or mine.missing is not None
        if (name in theirs.get("required", ())) is not is_needed:
            yield f"{path} required: {not is_needed}, not {is_needed}"
        yield from _of_shape(shapes, described["shape"], mine.shape, path)
    for name in ours.members.keys() - theirs["members"].keys():
        yield f"{place} {name}: unknown to the model"


_TEXTS = {
    "min": re.compile(r"greater than or equal to (-?\d+)$"),
    "max": re.compile(r"less than or equal to (-?\d+)$"),
    "pattern": re.compile(r"expression pattern: (.*)$"),
    "enum": re.compile(r"enum value set: \[(.*)\]$"),
}


def _rules(ours: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for constraint in ours.constraints:
        for rule, expression in _TEXTS.items():
            if match := expression.search(constraint.text):
                text = match[1]
                if rule in ("min", "max"):
                    found[rule] = int(text)
                else:
                    found[rule] = sorted(text.split(", ")) if rule == "enum" else text
    return found


def test_requests_have_the_shapes_of_the_service_model() -> None:
    news = [line for line in _differences() if not any(re.search(right, line) for right in RIGHT)]
    assert news == []


def test_every_operation_has_conformance_tests() -> None:
    tests = Path(__file__).with_name("operations").rglob("test_*.py")
    called = "".join(path.read_text() for path in tests)
    names = [name for model in _models() for name in model["operations"]]
    missing = [
        name for name in names if f'"{name}"' not in called and xform_name(name) not in called
    ]
    assert missing == []


@pytest.mark.parametrize("service", SERVICES)
def test_every_error_of_the_service_model_has_a_class(service: str) -> None:
    model = Loader().load_service_model(service, "service-2")
    modelled = {name for name, shape in model["shapes"].items() if shape.get("exception")}
    assert modelled <= _wire_names(OperationError)


def _wire_names(kind: type[OperationError]) -> set[str]:
    return {kind.wire_name}.union(*map(_wire_names, kind.__subclasses__()))
