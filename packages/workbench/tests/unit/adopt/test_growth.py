"""`keyfold inspect` says how an entity grows, by the months of its items."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.adopt.public.made import table
from tests.unit.adopt.test_inspect import drafted

ORDERS = table("orders", "PK SK")
MONTHS = {"2026-01": 6, "2026-02": 6, "2026-03": 6, "2026-05": 30, "2026-06": 30, "2026-07": 2}


def orders(moments: list[Any]) -> list[dict[str, Any]]:
    return [
        {"PK": f"ORDER#{n}", "SK": "ORDER", "orderId": str(n), "seen": "x", "placedAt": moment}
        for n, moment in enumerate(moments)
    ]


def iso() -> list[str]:
    days = [(month, day) for month, count in MONTHS.items() for day in range(count)]
    return [f"{month}-{day % 28 + 1:02d}T10:00:00Z" for month, day in days]


def told(moments: list[Any]) -> list[str]:
    return [note for note in drafted(ORDERS, *orders(moments)).notes if "a month" in note]


def test_growth_is_told_by_months_without_the_one_that_runs() -> None:
    [note] = told(iso())
    assert "from 2026-01 to 2026-07" in note
    assert "6 items a month at the beginning and 20 at the end" in note


def test_times_as_numbers_are_read_too() -> None:
    from datetime import datetime

    [note] = told([int(datetime.fromisoformat(one).timestamp()) for one in iso()])
    assert "from 2026-01 to 2026-07" in note


@pytest.mark.parametrize("moments", [iso()[:20], [iso()[0]] * 40])
def test_few_items_or_few_months_say_nothing(moments: list[str]) -> None:
    assert told(moments) == []
