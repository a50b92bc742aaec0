"""How many requests a migration takes: little for a small table, and few more for more items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from keyfold.migrations import Backend, Migrator
from keyfold_engine.clients import Client

from .conftest import Shop


class Counted:
    """A client that counts requests."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.requests: Counter[str] = Counter()

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.requests[operation] += 1
        return self.client.call(operation, request)

    def close(self) -> None:
        self.client.close()


@pytest.mark.parametrize(("items", "most"), [(1, 175), (101, 190)])
def test_a_small_table_takes_few_requests(shop: Shop, items: int, most: int) -> None:
    for number in range(items):
        shop.old_order(f"o{number:03d}")
    counted = Counted(shop.backend.client)
    Migrator(shop.migration, Backend(counted), without_routers=True).apply("contract")
    # Polls of the stream go on beside the scans, as long as these take.
    polls = ("GetRecords", "DescribeStream", "GetShardIterator")
    assert sum(n for name, n in counted.requests.items() if name not in polls) <= most
    assert counted.requests["Query"] <= 21
    assert counted.requests["DescribeTable"] <= 40
