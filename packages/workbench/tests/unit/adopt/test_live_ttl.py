"""A time to live that items of a running table have in a form that DynamoDB does not act on."""

from __future__ import annotations

import pytest

from keyfold.design.file import loads
from keyfold.review.check import check
from keyfold.runtime.tables import create_request
from keyfold_engine.clients import connect
from keyfold_engine.values import AttributeValue
from keyfold_workbench.adopt.inspection import observe_design

DESIGN = """
design: sessions
tables: {sessions: {key: [PK, SK], ttl: ttl}}
entities:
  Session:
    key: {PK: SESSION#<sessionId>, SK: SESSION}
    ttl: {attribute: ttl}
    attributes: {sessionId: id, ttl: timestamp epoch}
"""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"N": "1790000000"}, ""),
        ({"N": "1790000000000"}, "holds milliseconds"),
        ({"S": "2026-11-16T00:00:00Z"}, "is text"),
    ],
)
def test_the_items_of_a_table_are_looked_at(value: AttributeValue, words: str) -> None:
    schema = loads(DESIGN)
    (table,) = schema.tables
    client = connect(":memory:")
    try:
        client.call("CreateTable", create_request(table, table.name))
        enabled = {"Enabled": True, "AttributeName": "ttl"}
        client.call(
            "UpdateTimeToLive", {"TableName": table.name, "TimeToLiveSpecification": enabled}
        )
        for number in range(9):
            item = {"PK": {"S": f"SESSION#{number}"}, "SK": {"S": "SESSION"}, "ttl": value}
            client.call("PutItem", {"TableName": table.name, "Item": item})
        found = check(observe_design(client, schema, "", {}, 50), select=["L4"]).findings
    finally:
        client.close()
    assert [words in finding.message for finding in found] == ([True] if words else [])
