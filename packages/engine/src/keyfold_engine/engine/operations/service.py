"""DescribeLimits and DescribeEndpoints."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine.database import Database

_ACCOUNT_UNITS = 80_000
_TABLE_UNITS = 40_000
_ENDPOINT_MINUTES = 1440


def describe_limits(_database: Database, _request: dict[str, Any]) -> dict[str, Any]:
    return {
        "AccountMaxReadCapacityUnits": _ACCOUNT_UNITS,
        "AccountMaxWriteCapacityUnits": _ACCOUNT_UNITS,
        "TableMaxReadCapacityUnits": _TABLE_UNITS,
        "TableMaxWriteCapacityUnits": _TABLE_UNITS,
    }


def describe_endpoints(database: Database, _request: dict[str, Any]) -> dict[str, Any]:
    return {
        "Endpoints": [
            {
                # Amazon's own host would redirect the client's next requests there.
                "Address": (database.regions or database).endpoint,
                "CachePeriodInMinutes": _ENDPOINT_MINUTES,
            }
        ]
    }
