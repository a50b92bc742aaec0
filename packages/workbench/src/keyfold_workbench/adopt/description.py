"""Tables of a backend, as a design declares them."""

from __future__ import annotations

from keyfold.design.schema import TableSchema
from keyfold.errors import OperationError
from keyfold.runtime.table_description import table_schema, ttl_attribute
from keyfold_engine.clients.protocol import Client


def live_table(client: Client, name: str) -> TableSchema:
    """A table of a backend."""
    described = client.call("DescribeTable", {"TableName": name})["Table"]
    return table_schema(described, _ttl(client, name))


def _ttl(client: Client, name: str) -> str | None:
    try:
        return ttl_attribute(client.call("DescribeTimeToLive", {"TableName": name}))
    except OperationError:
        return None
