"""The hash at the start of a place: spreads partitions evenly over the segments of a scan.

CRC32 alone leaves similar keys together: `userid-0` to `userid-49` filled two of four segments.
Multiplying by an odd number moves its last bits to the front, without collisions.
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
    """A place of format 4 or older, which begins with a CRC32, converted to today's hash."""
    checksum = int.from_bytes(place[:HASH_BYTES], "big")
    return (checksum * _MULTIPLIER & _MASK).to_bytes(HASH_BYTES, "big") + place[HASH_BYTES:]


def shard_of(place: bytes, shards: int) -> int:
    """The stream shard of a partition's records.

    It still uses CRC32, so that an item's records stay in their shard.
    """
    hashed = int.from_bytes(place[:HASH_BYTES], "big")
    return crc32((hashed * _INVERSE & _MASK).to_bytes(HASH_BYTES, "big")) % shards
