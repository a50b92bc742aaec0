"""Places of keys: the hash that they begin with, and one pass for plainly valid keys.

The hash spreads partitions evenly over the segments of a scan. CRC32 alone leaves similar keys
together: `userid-0` to `userid-49` filled two of four segments. Multiplying by an odd number moves
its last bits to the front, without collisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

from keyfold_engine.values.key_order import key_bytes

HASH_BYTES = 4
_MASK = 0xFFFF_FFFF
_MULTIPLIER = 0x9E37_79B1
END_OF_COMPONENT: Final = b"\0\0"
NOT_PLAIN: Final = (LookupError, TypeError, ValueError, AttributeError)
"""What reading something unusual raises."""

PlainPlace = Callable[[Mapping[str, Any]], bytes | None]
"""The place of an item; on None, the slow path finds what is wrong or unusual."""


def partition_hash(keys: bytes) -> bytes:
    """The hash of a partition key in order-preserving bytes."""
    return (crc32(keys) * _MULTIPLIER & _MASK).to_bytes(HASH_BYTES, "big")


def shard_of(place: bytes, shards: int) -> int:
    """The stream shard of a partition's records."""
    return crc32(place[:HASH_BYTES]) % shards


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
