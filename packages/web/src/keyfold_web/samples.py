"""Example values for the documentation, generated from a JSON schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

DAY: Final = "2030-01-01"
_HOUR: Final = 10
_FORMATS: Final = {
    "date": DAY,
    "time": "10:00:00Z",
    "duration": "PT1H",
    "email": "ada@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


class Samples:
    """Generates samples of schemas that refer to each other by name."""

    def __init__(self, components: Mapping[str, Schema]) -> None:
        self._components = components
        self._moments = 0

    def of(self, schema: Schema, name: str = "") -> Any:
        """A valid value: the required fields, or the first field if none is required."""
        if "$ref" in schema:
            return self.of(self._components[schema["$ref"].rpartition("/")[2]], name)
        if schema.get("examples"):
            return schema["examples"][0]
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        for choice in ("anyOf", "oneOf", "allOf"):
            if choice in schema:
                present = [one for one in schema[choice] if one.get("type") != "null"]
                return self.of(present[0], name)
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            return self._array(schema, name)
        if kind in ("integer", "number"):
            return _number(schema)
        if kind == "boolean":
            return True
        return self._text(schema, name) if kind == "string" else {}

    def _object(self, schema: Schema) -> dict[str, Any]:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        wanted = schema.get("required") or list(properties)[:1]
        return {name: self.of(properties[name], name) for name in wanted}

    def _array(self, schema: Schema, name: str) -> list[Any]:
        one = self.of(schema.get("items", {}), name.removesuffix("s"))
        return [one] * max(1, schema.get("minItems", 0))

    def _text(self, schema: Schema, name: str) -> str:
        if schema.get("format") == "date-time":
            # Increasing times, so that an end comes after its start.
            self._moments += 1
            return f"{DAY}T{_HOUR + self._moments - 1:02d}:00:00Z"
        text = _FORMATS.get(schema.get("format", ""))
        if text is None:
            text = _FORMATS["email"] if name.lower().endswith("email") else _words(name)
        most, least = schema.get("maxLength"), schema.get("minLength", 0)
        return text[:most].ljust(least, "x")


def _words(name: str) -> str:
    """`firstName` as "First name"; ids and codes stay as they are."""
    if re.search(r"(Id|Code|Key)$", name):
        return name
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda at: f" {at[1].lower()}", name).capitalize()


def _number(schema: Schema) -> float:
    low: float = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
    high: float = schema.get("maximum", max(1, low))
    return min(max(1, low), high)
