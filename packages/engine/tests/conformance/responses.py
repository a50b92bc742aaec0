"""Responses against the model that botocore carries of DynamoDB and its streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from botocore.loaders import Loader

SERVICES = ("dynamodb", "dynamodbstreams")
_TYPES: Mapping[str, Any] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "long": int,
    "double": (int, float),
    "timestamp": (int, float),
    "blob": (str, bytes),
    "list": list,
    "map": dict,
    "structure": dict,
}


@cache
def service_models() -> list[dict[str, Any]]:
    return [Loader().load_service_model(service, "service-2") for service in SERVICES]


def differences(operation: str, response: Any, seen: set[str]) -> Iterator[str]:
    """What the model does not have, or has as another type; `seen` gets each member that came."""
    for model in service_models():
        if described := model["operations"].get(operation):
            output = described.get("output", {"shape": None})["shape"]
            if output is not None:
                yield from _differences(model["shapes"], output, response, operation, seen)
            elif response:
                yield f"{operation} answers {sorted(response)}, the model nothing"


def _differences(
    shapes: Mapping[str, Any], name: str, value: Any, place: str, seen: set[str]
) -> Iterator[str]:
    shape = shapes[name]
    kind = shape["type"]
    if name == "AttributeValue":
        return
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield f"{place} is {type(value).__name__}, not a {kind}"
    elif kind == "structure":
        for member, inner in value.items():
            at = f"{place}.{member}"
            if member not in shape["members"]:
                yield f"{at} is unknown to the model"
                continue
            seen.add(f"{name}.{member}")
            yield from _differences(shapes, shape["members"][member]["shape"], inner, at, seen)
    elif kind == "list":
        for inner in value:
            yield from _differences(shapes, shape["member"]["shape"], inner, f"{place}[]", seen)
    elif kind == "map":
        for inner in value.values():
            yield from _differences(shapes, shape["value"]["shape"], inner, f"{place}{{}}", seen)
    elif "enum" in shape and value not in shape["enum"]:
        yield f"{place} is {value!r}, which the model does not list"


def members() -> set[str]:
    """Every member of every response, as `Shape.Member`."""
    found: set[str] = set()
    for model in service_models():
        shapes = model["shapes"]
        due = [one["output"]["shape"] for one in model["operations"].values() if "output" in one]
        done = {"AttributeValue"}
        while due:
            name = due.pop()
            if name in done:
                continue
            done.add(name)
            shape = shapes[name]
            found |= {f"{name}.{member}" for member in shape.get("members", ())}
            due += [inner["shape"] for inner in shape.get("members", {}).values()]
            due += [shape[part]["shape"] for part in ("member", "value") if part in shape]
    return found
