"""New identifiers."""

from __future__ import annotations

from uuid import UUID

from keyfold import new_ulid, new_uuid
from keyfold.design.ids import UlidFactory


def test_ulids_sort_by_the_moment_they_were_made() -> None:
    moments = iter([5, 1_000, 1_700_000_000_000])
    make = UlidFactory(lambda: next(moments))
    made = [make() for _ in range(3)]
    assert made == sorted(made)
    assert {len(one) for one in made} == {26}


def test_ulids_of_one_millisecond_and_of_a_clock_set_back_still_ascend() -> None:
    moments = iter([1_000, 1_000, 999, 1_000])
    make = UlidFactory(lambda: next(moments))
    made = [make() for _ in range(4)]
    assert made == sorted(set(made))


def test_ids_are_new_each_time() -> None:
    assert len({new_ulid() for _ in range(1000)}) == 1000
    assert UUID(new_uuid()).version == 4
