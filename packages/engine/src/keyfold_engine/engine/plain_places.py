"""The place of an item whose keys are plainly valid, computed in one pass.

Every request goes through here. On None, the slow path finds what is wrong or unusual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from keyfold_engine.engine.place_hash import partition_hash
from keyfold_engine.values.key_order import key_bytes

END_OF_COMPONENT: Final = b"\0\0"
NOT_PLAIN: Final = (LookupError, TypeError, ValueError, AttributeError)
"""What reading something unusual raises."""

PlainPlace = Callable[[Mapping[str, Any]], bytes | None]


def place_function(roles: Sequence[tuple[str, str, int]], partition: int) -> PlainPlace:
    """A function of items in normal form. `roles` are the name, type and maximum size of each key
    attribute, the first `partition` of the partition key.
    """
    if partition == 1 and len(roles) <= 2 and all(kind == "S" for _, kind, _ in roles):
        return _of_one_text(*roles) if len(roles) == 1 else _of_two_texts(*roles)

    def place(item: Mapping[str, Any]) -> bytes | None:
        keys = []
        try:
            for name, kind, limit in roles:
                value = item[name]
                raw = key_bytes(value)
                if kind not in value or not value[kind] or len(raw) > limit:
                    return None
                keys.append(raw.replace(b"\0", b"\0\xff") + END_OF_COMPONENT)
        except NOT_PLAIN:
            return None
        return partition_hash(b"".join(keys[:partition])) + b"".join(keys)

    return place


# A character is at most four bytes, so that shorter texts need no counting.


def _of_one_text(role: tuple[str, str, int]) -> PlainPlace:
    name, most = role[0], role[2] // 4

    def place(item: Mapping[str, Any]) -> bytes | None:
        try:
            text = item[name]["S"]
            if not text or len(text) > most or "\0" in text:
                return None
            key: bytes = text.encode() + END_OF_COMPONENT
        except NOT_PLAIN:
            return None
        return partition_hash(key) + key

    return place


def _of_two_texts(first: tuple[str, str, int], second: tuple[str, str, int]) -> PlainPlace:
    partition, sort = first[0], second[0]
    most, most_sort = first[2] // 4, second[2] // 4

    def place(item: Mapping[str, Any]) -> bytes | None:
        try:
            text, more = item[partition]["S"], item[sort]["S"]
            if (
                not text
                or not more
                or len(text) > most
                or len(more) > most_sort
                or "\0" in text
                or "\0" in more
            ):
                return None
            key: bytes = text.encode() + END_OF_COMPONENT
            return b"%b%b%b\0\0" % (partition_hash(key), key, more.encode())
        except NOT_PLAIN:
            return None

    return place
