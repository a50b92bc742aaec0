"""Vectors: what is near a given one."""

from keyfold.design import Nearest, Neighbour, Vector, nearest

__all__ = [
    "Nearest",
    "Neighbour",
    "Vector",
    "nearest",
]
