"""Bodies of requests: JSON read at once, or so that other threads get their turn meanwhile."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import orjson

from keyfold.limits import KB

_LARGE: Final = 256 * KB
_MANY: Final = 20_000
_half_a_pair = re.compile(rb"\\u[dD][89a-fA-F]").search


def read(body: bytes) -> Any:
    """The JSON of a body; raises ValueError.

    orjson keeps all other threads waiting until it is done, which takes long if there are very many
    members. Then a decoder reads that calls Python for each of them.
    """
    if len(body) <= _LARGE or body.count(b"{") <= _MANY:
        return orjson.loads(body)
    checks = _checked if _half_a_pair(body) else _unchanged
    try:
        return json.loads(body, object_hook=checks, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unchanged(members: dict[str, Any]) -> dict[str, Any]:
    return members


def _checked(members: dict[str, Any]) -> dict[str, Any]:
    """Text has to be Unicode, which halves of surrogate pairs are not."""
    for name, value in members.items():
        name.encode()
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                text.encode()
    return members


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"not JSON: {constant}")
