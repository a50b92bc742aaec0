"""The checker of histories finds what is planted, and nothing in what is right."""

from __future__ import annotations

from math import inf

import pytest
from tests.fault.history import Access, Anomaly, Transaction, check_lists, check_register


def append(
    start: float, end: float, *appends: tuple[str, int], failed: bool = False
) -> Transaction:
    return Transaction(start, end, appends=appends, failed=failed)


def read(start: float, end: float, **reads: tuple[int, ...]) -> Transaction:
    return Transaction(start, end, reads=tuple(reads.items()))


RIGHT_LISTS = {
    "one after another": [append(0, 1, ("x", 1)), append(2, 3, ("x", 2)), read(4, 5, x=(1, 2))],
    "at once, in either order": [
        append(0, 5, ("x", 1)),
        append(0, 5, ("x", 2)),
        read(6, 7, x=(2, 1)),
    ],
    "unknown, and not done": [append(0, inf, ("x", 1)), read(2, 3, x=())],
    "unknown, and done later": [append(0, inf, ("x", 1)), read(2, 3, x=()), read(4, 5, x=(1,))],
    "failed, and not there": [append(0, 1, ("x", 1), failed=True), read(2, 3, x=())],
}
WRONG_LISTS = {
    "lost append": [append(0, 1, ("x", 1)), append(2, 3, ("x", 2)), read(4, 5, x=(2,))],
    "lost append that nobody ever saw": [append(0, 1, ("x", 1)), read(2, 3, x=())],
    "stale read": [append(0, 1, ("x", 1)), read(2, 3, x=(1,)), read(4, 5, x=())],
    "read of what failed": [append(0, 1, ("x", 1), failed=True), read(2, 3, x=(1,))],
    "read of what never was": [read(0, 1, x=(7,))],
    "done twice": [append(0, 1, ("x", 1)), read(2, 3, x=(1, 1))],
    "two orders": [
        append(0, 9, ("x", 1)),
        append(0, 9, ("x", 2)),
        read(10, 11, x=(1, 2)),
        read(10, 11, x=(2, 1)),
    ],
    "against time": [append(0, 1, ("x", 1)), append(2, 3, ("x", 2)), read(4, 5, x=(2, 1))],
    "half of a transaction": [append(0, 9, ("x", 1), ("y", 1)), read(1, 8, x=(1,), y=())],
    "two reads see two writes in two orders": [
        append(0, 9, ("x", 1)),
        append(0, 9, ("y", 1)),
        read(0, 9, x=(1,), y=()),
        read(0, 9, x=(), y=(1,)),
    ],
    "writes cross": [
        append(0, 9, ("x", 1), ("y", 1)),
        append(0, 9, ("x", 2), ("y", 2)),
        read(10, 11, x=(1, 2), y=(2, 1)),
    ],
}


@pytest.mark.parametrize("name", RIGHT_LISTS)
def test_right_lists_pass(name: str) -> None:
    check_lists(RIGHT_LISTS[name])


@pytest.mark.parametrize("name", WRONG_LISTS)
def test_planted_anomalies_of_lists_are_found(name: str) -> None:
    with pytest.raises(Anomaly):
        check_lists(WRONG_LISTS[name])


def test_an_anomaly_is_found_in_a_long_history() -> None:
    history = []
    for number in range(500):
        history.append(append(4 * number, 4 * number + 1, ("x", number)))
        history.append(read(4 * number + 2, 4 * number + 3, x=tuple(range(number + 1))))
    check_lists(history)
    history[601] = read(history[601].start, history[601].end, x=tuple(range(300)))
    with pytest.raises(Anomaly):
        check_lists(history)


RIGHT_REGISTERS = {
    "one after another": [
        Access(0, 1, "write", 1),
        Access(2, 3, "cas", 2, expects=1),
        Access(4, 5, "read", 2),
    ],
    "at once": [Access(0, 9, "write", 1), Access(1, 2, "read", None), Access(3, 4, "read", 1)],
    "unknown": [Access(0, inf, "write", 1), Access(1, 2, "read", None), Access(3, 4, "read", 1)],
    "refused": [Access(0, 1, "write", 1), Access(2, 3, "cas", 2, expects=7, succeeded=False)],
}
WRONG_REGISTERS = {
    "stale read": [Access(0, 1, "write", 1), Access(2, 3, "write", 2), Access(4, 5, "read", 1)],
    "lost write": [Access(0, 1, "write", 1), Access(2, 3, "read", None)],
    "back in time": [
        Access(0, 9, "write", 1),
        Access(1, 2, "read", 1),
        Access(3, 4, "read", None),
    ],
    "out of nowhere": [Access(0, 1, "read", 5)],
    "both conditions held": [
        Access(0, 1, "write", 1),
        Access(2, 5, "cas", 2, expects=1),
        Access(2, 5, "cas", 3, expects=1),
    ],
    "refused for nothing": [
        Access(0, 1, "write", 1),
        Access(2, 3, "cas", 2, expects=1, succeeded=False),
    ],
}


@pytest.mark.parametrize("name", RIGHT_REGISTERS)
def test_right_registers_pass(name: str) -> None:
    check_register(RIGHT_REGISTERS[name])


@pytest.mark.parametrize("name", WRONG_REGISTERS)
def test_planted_anomalies_of_registers_are_found(name: str) -> None:
    with pytest.raises(Anomaly):
        check_register(WRONG_REGISTERS[name])
