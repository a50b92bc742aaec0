"""Vector indexes: lists of numbers searched by nearest neighbours.

index       the definition of a vector index rules       the rules of CreateTable and UpdateTable
numbers     attribute values as vectors of 32-bit floats, and back scores      the distance of two
vectors entries     how a write changes an index, and which values it refuses partition   the
vectors of one HASH value in memory, and their search matrix      the first pass of an exact search
cache       which partitions are in memory
"""
