"""Answers that are lost while tables are made: the next attempt looks what is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from keyfold.errors import Timeout
from keyfold.migrations import Backend, add, remove
from keyfold_engine.clients.embedded import EmbeddedClient

from .conftest import Shop, new_table


class Forgetful(EmbeddedClient):
    """Carries requests out, and loses the first answer of some operation."""

    loses = ""

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        answer = super().call(operation, request)
        if operation == self.loses:
            self.loses = ""
            raise Timeout(f"no response to {operation}")
        return answer


def test_a_table_whose_answer_was_lost_is_found_by_the_next_attempt(shop: Shop) -> None:
    client = Forgetful(shop.engine)
    client.loses = "CreateTable"
    making = add(new_table.schema)
    with pytest.raises(Timeout):
        making.apply(Backend(client))
    making.apply(Backend(client))
    assert Backend(client).describe("SeasonOrders") is not None


def test_a_table_whose_deletion_was_not_answered_is_gone(shop: Shop) -> None:
    client = Forgetful(shop.engine)
    add(new_table.schema).apply(Backend(client))
    client.loses = "DeleteTable"
    remove(new_table.schema).apply(Backend(client))
    assert Backend(client).describe("SeasonOrders") is None
