"""The bill as data."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from keyfold_workbench.cost.bill import Bill

WHOLE = {
    "design": "schema.name",
    "region": "prices.region",
    "indexes": "indexes",
    "index_share": "index_share",
    "consistent_share": "consistent_share",
}
DOLLARS = {
    "on_demand": "dollars",
    "provisioned": "provisioned_dollars",
    "provisioned_scaled": "scaled_dollars",
    "reads": "reads_dollars",
    "writes": "writes_dollars",
    "storage": "storage_dollars",
    "beside": "upkeep_dollars",
}
CALLED = {"rate": "rate.average", "units": "units", "requests": "requests", "dollars": "dollars"}
STORE = {"table": "path.table", "index": "path.index"}
PATTERN = {
    "name": "pattern.name",
    "table": "read.path.table",
    "index": "read.path.index",
    "consistent": "read.consistent",
    "peak": "rate.peak",
    **CALLED,
    "units": "read.total",
    "requests": "read.requests",
}
WRITE = {
    "name": "write.name",
    "rate": "rate.average",
    "peak": "rate.peak",
    "units": "write.units",
    "read_units": "write.read_units",
    "dollars": "dollars",
}
PART = {name: name for name in ("path", "entity", "units", "reading", "why")}
FEED = {"name": "feed.name", **CALLED, "units": "page.units", "requests": "page.requests"}
PURPOSE = {"why": "why", "write_units": "units", "read_units": "read_units", "dollars": "dollars"}
UPKEEP = {name: name for name in ("name", "amount", "dollars")}
PATH = {
    **STORE,
    "read_units": "read.average",
    "write_units": "written.average",
    "bytes": "bytes",
    "bytes_in_a_year": "bytes_later",
    "on_demand": "on_demand",
    "provisioned": "provisioned",
    "storage": "storage",
    "serves": "serves",
}
HOT_KEY = {name: name for name in ("path", "key", "kind", "units", "limit")}


def as_json(bill: Bill) -> dict[str, Any]:
    """The bill in the words of a report's JSON."""
    return {
        **_values(bill, WHOLE),
        "assumed": bill.assumed_rates or None,
        "dollars": _values(bill, DOLLARS),
        "patterns": [_values(line, PATTERN) for line in bill.patterns],
        "writes": [
            {**_values(line, WRITE), "parts": [_values(part, PART) for part in line.write.parts]}
            for line in bill.writes
        ],
        "feeds": [_values(line, FEED) for line in bill.feeds],
        "purposes": [_values(line, PURPOSE) for line in bill.purposes],
        "beside": [_values(line, UPKEEP) for line in bill.upkeep],
        "paths": [_values(line, PATH) for line in bill.paths],
        "hot_keys": [_values(hot, HOT_KEY) for hot in bill.hot],
        "assumptions": list(bill.assumptions),
    }


def _values(of: object, names: dict[str, str]) -> dict[str, Any]:
    found = {name: attrgetter(path)(of) for name, path in names.items()}
    return {name: str(value) if name == "path" else value for name, value in found.items()}
