"""Tables that an opened design creates where they are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from keyfold import Design
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

design = Design("notes")
design.table("Notes", ttl="ends")


class Late(EmbeddedClient):
    """Another process opens the design just before this one's request."""

    def __init__(self, engine: Engine, before: str) -> None:
        super().__init__(engine)
        self.engine, self.before = engine, before

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if operation == self.before:
            self.before = ""
            design.open(EmbeddedClient(self.engine), create_tables=True)
        return super().call(operation, request)


@pytest.mark.parametrize("before", ["DescribeTable", "CreateTable", "UpdateTimeToLive"])
def test_processes_that_start_at_once_make_a_table_and_its_expiry_once(before: str) -> None:
    with Engine.open(":memory:") as engine:
        design.open(Late(engine, before), create_tables=True)
        found = engine.call("DescribeTimeToLive", {"TableName": "Notes"})
        assert found["TimeToLiveDescription"]["AttributeName"] == "ends"
