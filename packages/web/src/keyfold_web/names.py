"""Public names: Python's snake_case becomes camelCase in REST, GraphQL and Lambda events."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def camel(name: str) -> str:
    """`group_id` as `groupId`."""
    return to_camel(name)


def placeholders(path: str) -> list[str]:
    """The names in braces of a path, in order."""
    return _PLACEHOLDER.findall(path)


def public_path(path: str) -> str:
    """`/groups/{group_id}` as `/groups/{groupId}`."""
    return _PLACEHOLDER.sub(lambda match: f"{{{camel(match[1])}}}", path)


class Payload(BaseModel):
    """A request or answer model: camelCase outside, unknown fields refused."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )

    def given(self) -> dict[str, Any]:
        """The fields that the caller sent; null gives a field's default.

        For `db.update(ref, **input.given())`: null clears a value, omitted fields stay.
        """
        sent = {name: getattr(self, name) for name in self.model_fields_set}
        fields = type(self).model_fields
        return {k: fields[k].get_default() if v is None else v for k, v in sent.items()}


def unchanged() -> Any:
    """The default of a field that may be omitted but not null: `title: Title = unchanged()`."""
    return Field(default=None, json_schema_extra=_without_default)


def cleared(to: Any) -> Any:
    """The default of a field that null sets to a value: `place: Place | None = cleared("")`."""
    return Field(default=to, json_schema_extra=_without_default)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)
