"""Requests on tables of several regions: shared settings are applied everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyfold_engine.engine.capacity import tables_of
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import parameter_invalid
from keyfold_engine.features.replicas.regions import Regions
from keyfold_engine.features.replicas.replicated_table import replicas_of

Work = Callable[[Database, dict[str, Any]], dict[str, Any]]
_Run = Callable[[Work, dict[str, Any]], dict[str, Any]]

# The parts of an UpdateTable that apply to the other regions too.
_EVERYWHERE = frozenset(
    (
        "AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexUpdates",
        "ProvisionedThroughput", "SSESpecification", "TimeToLiveSpecification",
        "VectorIndexUpdates",
    )
)  # fmt: skip
_NEVER_STRONG = frozenset(("transact_write_items", "execute_transaction", "update_time_to_live"))


def run_in_step(
    database: Database, regions: Regions, run: _Run, work: Work, request: dict[str, Any]
) -> dict[str, Any]:
    """Execute a request of one region, in step with the others if its table requires it."""
    table = _table(database, request)
    if table is None or not replicas_of(table):
        return run(work, request)
    if table.definition.get("Consistency") == "STRONG" and work.__name__ in _NEVER_STRONG:
        raise parameter_invalid(
            "Transactions and time to live are not "
            "supported for global tables with MultiRegionConsistency set to STRONG."
        )
    if work.__name__ == "update_table" and request.get("StreamSpecification") is not None:
        raise parameter_invalid("Disabling Stream is not allowed for a Global Table replica.")
    with regions.in_step(table):
        answer = run(work, request)
    if work.__name__ in ("update_table", "update_time_to_live"):
        _follow(regions, table, work, request)
    return answer


def _table(database: Database, request: dict[str, Any]) -> TableDefinition | None:
    """The first table that a request names, if it is known."""
    with database.read() as session:
        found = (database.catalog.find(session, name) for name in tables_of(request))
        return next(filter(None, found), None)


def _follow(regions: Regions, table: TableDefinition, work: Work, request: dict[str, Any]) -> None:
    """Apply the shared settings of a global table to the other regions."""
    shared = {name: value for name, value in request.items() if name in _EVERYWHERE}
    if not shared.keys() - {"AttributeDefinitions"}:
        return
    with regions.following():
        for region in replicas_of(table):
            work(regions.database(region), {**shared, "TableName": table.name})
