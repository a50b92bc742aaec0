"""The bill as data."""

from __future__ import annotations

from typing import Any

from keyfold_workbench.cost.bill import Bill


def as_json(bill: Bill) -> dict[str, Any]:
    return {
        "design": bill.schema.name,
        "region": bill.prices.region,
        "assumed": "every call once a second" if bill.is_assumed else None,
        "dollars": {
            "on_demand": bill.dollars,
            "provisioned": bill.provisioned_dollars,
            "provisioned_scaled": bill.scaled_dollars,
            "reads": bill.reads_dollars,
            "writes": bill.writes_dollars,
            "storage": bill.storage_dollars,
            "beside": bill.upkeep_dollars,
        },
        "indexes": bill.indexes,
        "index_share": bill.index_share,
        "consistent_share": bill.consistent_share,
        "patterns": [
            {
                "name": line.pattern.name,
                "table": line.read.path.table,
                "index": line.read.path.index,
                "consistent": line.read.consistent,
                "rate": line.rate.average,
                "peak": line.rate.peak,
                "units": line.read.total,
                "requests": line.read.requests,
                "dollars": line.dollars,
            }
            for line in bill.patterns
        ],
        "writes": [
            {
                "name": line.write.name,
                "rate": line.rate.average,
                "peak": line.rate.peak,
                "units": line.write.units,
                "read_units": line.write.read_units,
                "parts": [
                    {
                        "path": str(part.path),
                        "entity": part.entity,
                        "units": part.units,
                        "reading": part.reading,
                        "why": part.why,
                    }
                    for part in line.write.parts
                ],
                "dollars": line.dollars,
            }
            for line in bill.writes
        ],
        "views": [
            {
                "name": line.name,
                "rate": line.rate.average,
                "units": line.units,
                "requests": line.requests,
                "dollars": line.dollars,
            }
            for line in bill.views
        ],
        "feeds": [
            {
                "name": line.feed.name,
                "rate": line.rate.average,
                "units": line.page.units,
                "requests": line.page.requests,
                "dollars": line.dollars,
            }
            for line in bill.feeds
        ],
        "purposes": [
            {
                "why": line.why,
                "write_units": line.units,
                "read_units": line.read_units,
                "dollars": line.dollars,
            }
            for line in bill.purposes
        ],
        "beside": [
            {"name": line.name, "amount": line.amount, "dollars": line.dollars}
            for line in bill.upkeep
        ],
        "paths": [
            {
                "table": line.path.table,
                "index": line.path.index,
                "read_units": line.read.average,
                "write_units": line.written.average,
                "bytes": line.bytes,
                "bytes_in_a_year": line.bytes_later,
                "on_demand": line.on_demand,
                "provisioned": line.provisioned,
                "storage": line.storage,
                "serves": list(line.serves),
            }
            for line in bill.paths
        ],
        "hot_keys": [
            {
                "path": str(hot.path),
                "key": hot.key,
                "kind": hot.kind,
                "units": hot.units,
                "limit": hot.limit,
            }
            for hot in bill.hot
        ],
        "assumptions": list(bill.assumptions),
    }
