"""The result as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from keyfold_workbench.simulate.answer.changes import Cure
from keyfold_workbench.simulate.answer.prediction import Prediction


def plain(answer: Prediction, cure: Cure | None = None) -> dict[str, Any]:
    seen = answer.outcome
    return {
        "design": answer.load.schema.name,
        "users": answer.users,
        "seconds": seen.seconds,
        "lost_share": seen.lost_share,
        "first_throttles": [
            {
                "at": each.at,
                "store": str(each.store),
                "place": str(each.place),
                "kind": each.kind,
                "reason": each.reason,
                "key": each.key,
                "wanted": each.wanted,
                "limit": each.limit,
                "partitions": each.partitions,
                "calls": list(each.calls),
            }
            for each in sorted(seen.firsts, key=lambda each: each.at)
        ],
        "calls": {name: asdict(each) for name, each in seen.calls.items()},
        "stores": {str(store): asdict(each) for store, each in seen.stores.items()},
        "streams": {name: asdict(each) for name, each in seen.queues.items()},
        "transactions": {name: asdict(each) for name, each in seen.contentions.items()},
        "copies": [asdict(each) for each in answer.copying],
        "fan_outs": [asdict(each) for each in answer.fan_outs],
        "dollars": {**asdict(answer.cost), "total": answer.cost.total},
        "quotas": [
            {"store": str(each.store), "kind": each.kind, "units": each.units}
            for each in answer.quotas
        ],
        "changes": [asdict(each) for each in cure.tried] if cure else [],
        "assumptions": asdict(answer.assumptions),
    }
