"""UpdateTimeToLive and DescribeTimeToLive."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import ttl
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.errors import ValidationError


def update_time_to_live(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    wish = request["TimeToLiveSpecification"]
    attribute, enabled = wish["AttributeName"], wish["Enabled"]

    def work(session: Session) -> None:
        table = database.catalog.changeable(session, request["TableName"])
        if enabled == (table.ttl is not None):
            state = "enabled" if enabled else "disabled"
            raise ValidationError(f"TimeToLive is already {state}")
        if not enabled and table.ttl != attribute:
            raise ValidationError("TimeToLive is active on a different AttributeName")
        change = ttl.enable(session, table, attribute) if enabled else ttl.disable(table)
        database.catalog.store(session, change)

    database.write(work)
    return {"TimeToLiveSpecification": wish}


def describe_time_to_live(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    table = database.named(request["TableName"])
    if table.ttl is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": table.ttl}}
