"""A canonical text of an item: sets are unordered, numbers have one notation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from keyfold_engine.values.number import normalise


def canonical(item: Mapping[str, Any]) -> bytes:
    return orjson.dumps({n: _canonical(v) for n, v in item.items()}, option=orjson.OPT_SORT_KEYS)


def _canonical(value: Mapping[str, Any]) -> Any:
    ((kind, content),) = value.items()
    if kind == "N":
        return {"N": normalise(content)}
    if kind == "NS":
        return {"NS": sorted(map(normalise, content))}
    if kind in ("SS", "BS"):
        return {kind: sorted(content)}
    if kind == "L":
        return {"L": [_canonical(one) for one in content]}
    if kind == "M":
        return {"M": {name: _canonical(one) for name, one in content.items()}}
    return dict(value)


def digest(wire: Mapping[str, Any]) -> str:
    """The digest of an attribute's value."""
    return hashlib.blake2b(canonical({"": wire}), digest_size=8).hexdigest()


def equal(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Whether two items are equal in any spelling."""
    if one is None or other is None:
        return one is other
    return one == other or (one.keys() == other.keys() and canonical(one) == canonical(other))


def same(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Whether two attribute values are equal; None is a missing one."""
    if one is None or other is None:
        return one is other
    return one == other or canonical({"": one}) == canonical({"": other})
