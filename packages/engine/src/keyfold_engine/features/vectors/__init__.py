"""Vector indexes: lists of numbers searched by nearest neighbours.

cache       which partitions are in memory
entries     how a write changes an index, and which values it refuses
index       the definition of a vector index
matrix      the first pass of an exact search
numbers     attribute values as vectors of 32-bit floats, and back
partition   the vectors of one HASH value in memory, their search and their scores
rules       the rules of CreateTable and UpdateTable
"""
