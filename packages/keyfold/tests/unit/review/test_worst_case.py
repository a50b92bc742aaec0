"""The worst case of a pattern is what the runtime does, and a budget below it is told of."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold import Count, Db, Design, Entity, Exists, Id, Key, Merge, Query, each, merge
from keyfold.review.check import check
from keyfold.review.worst_case import most_requests, worst_case_sentence

design = Design("worst")
table = design.table("worst")


class Task(Entity, table=table):
    list_id: Id
    task_id: Id
    done: bool = False
    text: str = ""
    key = Key("LIST#{list_id}", "TASK#{task_id}")


@design.pattern()
def page_of(list_id: str, limit: int = 5) -> Query[Task]:
    return Task.key.query(list_id=list_id).limit(limit)


@design.pattern()
def open_in(list_id: str, limit: int = 5) -> Query[Task]:
    return Task.key.query(list_id=list_id).where(lambda t: t.done == False).limit(limit)  # noqa: E712


@design.pattern(requests=2)
def few_open_in(list_id: str, limit: int = 5) -> Query[Task]:
    return Task.key.query(list_id=list_id).where(lambda t: t.done == False).limit(limit)  # noqa: E712


@design.pattern(requests=1)
def is_one_open(list_id: str) -> Exists[Task]:
    return Task.key.query(list_id=list_id).where(lambda t: t.done == False).exists()  # noqa: E712


@design.pattern()
def how_many(list_id: str) -> Count[Task]:
    return Task.key.query(list_id=list_id).count()


@design.pattern()
def together(list_ids: list[str], limit: int = 5) -> Merge[Task]:
    return merge(Task.key.query(list_id=each(list_ids))).limit(limit)


WORST = {
    "page_of": 1,
    "open_in": 3,
    "few_open_in": 2,
    "is_one_open": None,
    "how_many": None,
    "together": None,
}


@pytest.fixture(scope="module")
def db() -> Any:
    with design.open(":memory:") as opened:
        tasks = [
            Task(list_id="l", task_id=f"{number:05d}", done=True, text="x" * 2000)
            for number in range(1500)
        ]
        opened.put_many(tasks)
        yield opened


@pytest.mark.parametrize("name", WORST)
def test_the_worst_case_of_a_pattern(name: str) -> None:
    assert most_requests(design.schema, design.schema.by_pattern[name]) == WORST[name]


@pytest.mark.parametrize("name", ["page_of", "open_in", "few_open_in"])
def test_a_partition_of_which_nothing_passes_takes_just_as_many(db: Db, name: str) -> None:
    with db.work("read") as work:
        design.patterns[name](db, "l")
    assert sum(one.requests for one in work.usage.values()) == WORST[name]


def test_the_worst_case_is_told_in_words() -> None:
    told = [worst_case_sentence(design.schema, one) for one in design.schema.patterns]
    assert told[0] == "One request a call."
    assert told[1].startswith("At most 3 requests a call.")
    assert "until one passes the filter" in told[3]


def test_a_budget_that_cannot_hold_is_found() -> None:
    found = [one for one in check(design.schema).findings if one.code == "Q16"]
    assert [one.subject for one in found] == ["is_one_open"]
