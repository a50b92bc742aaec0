"""A probe for every constraint of the service model: a request that breaks it alone is refused.

The requests are made from botocore's model: the members that an operation requires, and the path
to the one that is wrong. What Amazon checks by other rules is listed with the reason.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest
from tests.conformance.responses import service_models

from keyfold_engine.engine import Engine
from keyfold_engine.errors import ValidationError

TEXTS = (
    "abc",
    "ABCDEFGHIJKLMNOP",
    "arn:aws:dynamodb:us-east-1:123456789012:table/abc/stream/2026-11-19T00:00:00.000",
    "123456789012",
    "2026-11-19",
    "x" * 40,
)
MOST_TEXT = 70_000
"""Longer texts are not made."""
DEEP = 6


class Probe(NamedTuple):
    operation: str
    place: str
    rule: str
    request: dict[str, Any]
    words: str


def pattern_of(shape: Mapping[str, Any]) -> re.Pattern[str] | None:
    """None for Java's names of characters, which Python does not know."""
    try:
        return re.compile(shape["pattern"]) if "pattern" in shape else None
    except re.error:
        return None


class Probes:
    """The probes of one service."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.shapes: Mapping[str, Any] = model["shapes"]
        self.operations: Mapping[str, Any] = model["operations"]

    def every(self) -> Iterator[Probe]:
        for operation, described in sorted(self.operations.items()):
            name = described["input"]["shape"]
            for place, rule, request, words in self._of(name, DEEP):
                yield Probe(operation, place, rule, request, words)

    def valid(self, name: str) -> Any:
        """The smallest value of a shape."""
        shape = self.shapes[name]
        match shape["type"]:
            case "structure":
                if name == "AttributeValue":
                    return {"S": "a"}
                needed = shape.get("required", ())
                return {one: self.valid(shape["members"][one]["shape"]) for one in needed}
            case "list":
                return [self.valid(shape["member"]["shape"])] * max(1, shape.get("min", 1))
            case "map":
                return {"abc": self.valid(shape["value"]["shape"])}
            case "string":
                return shape["enum"][0] if "enum" in shape else self._text(shape)
            case "boolean":
                return True
            case "timestamp":
                return 1_700_000_000
            case "double":
                return float(shape.get("min", 1))
            case _:
                return max(1, shape.get("min", 1))

    def _text(self, shape: Mapping[str, Any]) -> str:
        pattern = pattern_of(shape) or re.compile("(?s).*")
        for text in TEXTS:
            text = text.ljust(shape.get("min", 0), "a")
            if len(text) <= shape.get("max", len(text)) and pattern.fullmatch(text):
                return text
        raise AssertionError(f"no text for {shape}")

    def _of(self, name: str, depth: int) -> Iterator[tuple[str, str, Any, str]]:
        """Place, rule, wrong value and words, for a shape and what is inside it."""
        shape = self.shapes[name]
        if name == "AttributeValue" or not depth:
            return
        yield from (("", *one) for one in self._wrong(shape))
        match shape["type"]:
            case "structure":
                for member, inner in shape["members"].items():
                    base = self.valid(name)
                    if member in shape.get("required", ()):
                        without = {key: value for key, value in base.items() if key != member}
                        yield f".{member}", "required", without, "Member must not be null"
                    for place, rule, value, words in self._of(inner["shape"], depth - 1):
                        yield f".{member}{place}", rule, {**base, member: value}, words
            case "list":
                for place, rule, value, words in self._of(shape["member"]["shape"], depth - 1):
                    yield f"[]{place}", rule, [value], words
            case "map":
                for place, rule, value, words in self._of(shape["value"]["shape"], depth - 1):
                    yield f"{{}}{place}", rule, {"abc": value}, words

    def _wrong(self, shape: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
        kind, low, high = shape["type"], shape.get("min"), shape.get("max")
        if kind in ("integer", "long", "double"):
            if low is not None:
                yield "min", low - 1, f"Member must have value greater than or equal to {low}"
            if high is not None:
                yield "max", high + 1, f"Member must have value less than or equal to {high}"
        elif kind == "string":
            if "enum" in shape:
                yield "enum", "WRONG", "Member must satisfy enum value set: ["
            if low:
                yield "min", "a" * (low - 1), f"length greater than or equal to {low}"
            if high is not None and high < MOST_TEXT:
                yield "max", "a" * (high + 1), f"length less than or equal to {high}"
            if "pattern" in shape:
                wrong = "\u0007$\u0007".ljust(low or 0, "\u0007")
                known = pattern_of(shape)
                if known is not None and not known.fullmatch(wrong):
                    words = f"Member must satisfy regular expression pattern: {shape['pattern']}"
                    yield "pattern", wrong, words
        elif kind == "list":
            if low:
                yield "min", [], f"length greater than or equal to {low}"
            if high is not None and high <= 200:
                value = self.valid(shape["member"]["shape"])
                many = [copy.deepcopy(value) for _ in range(high + 1)]
                yield "max", many, f"length less than or equal to {high}"


OTHERWISE = {
    # Some have room for an ARN, others for a name of 3 to 255 characters.
    r" \S*\.TableName min": "length greater than or equal to [13]\\b",
    r" \S*\.TableName max": "length less than or equal to (255|1024)\\b",
    r"^(Create|Delete|Describe|Update)Table .TableName required": "'TableName' is required",
    r"^BatchGetItem .RequestItems required": "length greater than or equal to 1",
    r"^BatchWriteItem .RequestItems required": "The requestItems parameter is required",
    # Names are checked with the expressions that use them.
    r"ExpressionAttributeNames\{\} max": "",
    r"^CreateTable .TableClass enum": "'attributeDefinitions' failed to satisfy constraint",
    r"^UpdateTable .TableClass enum": "Invalid table-class parameter provided.",
    r"^SearchVectors \S+ required": "missing field `",
}
"""Where Amazon says it otherwise, as its conformance tests have it."""


@pytest.mark.parametrize("model", service_models(), ids=("dynamodb", "streams"))
def test_every_constraint_of_the_service_model_is_refused_in_its_words(model: Any) -> None:
    probes = [*Probes(model).every()]
    assert len(probes) > 20
    accepted, said = [], []
    with Engine.open(":memory:") as engine:
        for probe in probes:
            what = f"{probe.operation} {probe.place} {probe.rule}"
            words = next(
                (own for place, own in OTHERWISE.items() if re.search(place, what)),
                re.escape(probe.words),
            )
            try:
                engine.call(probe.operation, probe.request)
            except ValidationError as refused:
                if not re.search(words, refused.message):
                    said.append((what, words, refused.message[:200]))
            else:
                accepted.append(what)
    assert accepted == []
    assert said == []
