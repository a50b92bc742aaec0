"""The hash at the start of a place: spreads partitions evenly over the segments of a scan.

CRC32 alone leaves similar keys together: `userid-0` to `userid-49` filled two of four segments.
Multiplying by an odd number moves its last bits to the front, without collisions.
"""

from __future__ import annotations

from zlib import crc32

HASH_BYTES = 4
_MASK = 0xFFFF_FFFF
_MULTIPLIER = 0x9E37_79B1


def partition_hash(keys: bytes) -> bytes:
    """The hash of a partition key in order-preserving bytes."""
    return (crc32(keys) * _MULTIPLIER & _MASK).to_bytes(HASH_BYTES, "big")


def shard_of(place: bytes, shards: int) -> int:
    """The stream shard of a partition's records."""
    return crc32(place[:HASH_BYTES]) % shards
