"""The hash that begins a place: partitions in no useful order, evenly over the segments of a scan.

CRC32 alone leaves similar keys beside each other: `userid-0` to `userid-49` filled two of four
segments. Multiplied by an odd number, its last bits reach the first ones, and no two values become
one.
"""

from __future__ import annotations

from zlib import crc32

HASH_BYTES = 4
_MASK = 0xFFFF_FFFF
_MULTIPLIER = 0x9E37_79B1
_INVERSE = pow(_MULTIPLIER, -1, _MASK + 1)


def partition_hash(keys: bytes) -> bytes:
    """The hash of a partition key in order-preserving bytes."""
    return (crc32(keys) * _MULTIPLIER & _MASK).to_bytes(HASH_BYTES, "big")


def spread(place: bytes) -> bytes:
    """A place that begins with a CRC32, as places did up to format 4, as they begin today."""
    checksum = int.from_bytes(place[:HASH_BYTES], "big")
    return (checksum * _MULTIPLIER & _MASK).to_bytes(HASH_BYTES, "big") + place[HASH_BYTES:]


def shard_of(place: bytes, shards: int) -> int:
    """The shard of a stream that has a partition's records.

    It follows from the CRC32 still: the records of an item stay in the shard that they began in.
    """
    hashed = int.from_bytes(place[:HASH_BYTES], "big")
    return crc32((hashed * _INVERSE & _MASK).to_bytes(HASH_BYTES, "big")) % shards
