"""Secondary structures that keep themselves right: pointers, counters, unique values."""

from keyfold.maintain.counter import Counter
from keyfold.maintain.pointer import Pointer
from keyfold.maintain.unique import Unique

__all__ = ["Counter", "Pointer", "Unique"]
