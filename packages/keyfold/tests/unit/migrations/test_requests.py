"""How many requests a migration takes: little for a small table, and few more for more items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from keyfold.migrations import Backend, Migrator, ScanPace
from keyfold.migrations.progress import silent
from keyfold.migrations.state_store import StateStore
from keyfold.migrations.table_scan import Scan
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


@pytest.mark.parametrize(("items", "most"), [(1, 105), (101, 126)])
def test_a_small_table_takes_few_requests(shop: Shop, items: int, most: int) -> None:
    for number in range(items):
        shop.old_order(f"o{number:03d}")
    counted = Counted(shop.backend.client)
    Migrator(shop.migration, Backend(counted), without_routers=True).apply("contract")
    # Reads of the stream go on beside the scans, as long as these take.
    assert sum(n for name, n in counted.requests.items() if name != "GetRecords") <= most
    assert counted.requests["Query"] <= 12
    assert counted.requests["DescribeTable"] <= 25


def test_a_table_of_several_pages_is_read_in_segments(shop: Shop) -> None:
    for number in range(25):
        shop.old_order(f"o{number:03d}")
    counted = Counted(shop.backend.client)
    pace = ScanPace(segments=3, page=10)
    found: list[Any] = []
    scan = Scan(StateStore(Backend(counted), "scan"), "read", "Orders", pace, silent)
    scan.run_each(found.append, resume=False)
    assert len({item["orderId"]["S"] for item in found}) == len(found) == 25
    assert counted.requests["Scan"] >= 4
