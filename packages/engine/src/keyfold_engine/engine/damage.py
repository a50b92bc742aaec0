"""Names the tables and keys of a request that met damage."""

from __future__ import annotations

from typing import Any

import orjson

from keyfold_engine.errors import Corrupt


def named(damage: Corrupt, request: dict[str, Any]) -> Corrupt:
    """The same error with the tables and keys of the request."""
    if damage.where:
        return damage
    return Corrupt(str(damage), request_place(request))


def request_place(request: dict[str, Any]) -> str:
    """The tables of a request, with the key or index if there is one."""
    if (table := request.get("TableName")) is not None:
        return _within(table, request)
    if isinstance(parts := request.get("TransactItems"), list):
        wishes = [wish for part in parts for wish in part.values()]
        return "; ".join(_within(wish["TableName"], wish) for wish in wishes)
    if isinstance(tables := request.get("RequestItems"), dict):
        return "table " + ", ".join(tables)
    return ""


def _within(table: str, request: dict[str, Any]) -> str:
    if (key := request.get("Key")) is not None:
        return f"table {table}, key {orjson.dumps(key).decode()}"
    if (index := request.get("IndexName")) is not None:
        return f"table {table}, index {index}"
    return f"table {table}"
