"""Parses request bodies: at once, or in steps that let other threads run."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import orjson

from keyfold_engine.limits import KB

LARGE: Final = 256 * KB
"""Smaller bodies have too few members to delay anybody."""
_MANY: Final = 20_000
_half_a_pair = re.compile(rb"\\u[dD][89a-fA-F]").search


def has_many(body: bytes) -> bool:
    """Whether it has more members than a step can parse quickly."""
    return len(body) > LARGE and body.count(b"{") > _MANY


def read(body: bytes) -> Any:
    """The JSON of a body; raises ValueError.

    orjson holds the GIL until it is done, which is long for very many members. Those are parsed by
    a decoder that calls Python for each of them.
    """
    if not has_many(body):
        return orjson.loads(body)
    checks = _checked if _half_a_pair(body) else _unchanged
    try:
        return json.loads(body, object_hook=checks, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dispose(tree: Any) -> None:
    """Take a large body apart: freeing it at once would hold the GIL."""
    left = [tree]
    while left:
        container = left.pop()
        while container:
            child = container.popitem()[1] if isinstance(container, dict) else container.pop()
            if isinstance(child, dict | list) and child:
                left.append(child)


def _unchanged(members: dict[str, Any]) -> dict[str, Any]:
    return members


def _checked(members: dict[str, Any]) -> dict[str, Any]:
    """Refuse text that is not Unicode, such as lone surrogates."""
    for name, value in members.items():
        name.encode()
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                text.encode()
    return members


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"not JSON: {constant}")
