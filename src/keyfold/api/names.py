"""Public names: Python's snake_case is camelCase on REST, GraphQL and in Lambda events."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict
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
    """A model of a request or an answer: camelCase outside, unknown fields refused."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )
