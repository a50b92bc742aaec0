"""Vector indexes: lists of numbers that are searched for their nearest neighbours.

index       what a vector index is made of
rules       what CreateTable and UpdateTable ask of it
numbers     attribute values as vectors of 32-bit floats, and back
scores      how near two vectors are
entries     what a write does to an index, and which values it refuses
partition   the vectors of one HASH value in memory, and the search among them
cache       which partitions are in memory
"""
