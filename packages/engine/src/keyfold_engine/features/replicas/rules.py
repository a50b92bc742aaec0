"""Which regions a table may have, with DynamoDB's messages."""

from __future__ import annotations

from typing import NoReturn

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import ValidationError
from keyfold_engine.features.replicas.regions import KNOWN
from keyfold_engine.features.replicas.replicated_table import regions_of, replicas_of

INVALID = "One or more parameter values were invalid: "


def refuse(message: str) -> NoReturn:
    raise ValidationError(message)


def check_region(database: Database, table: TableDefinition, region: str, *, there: bool) -> None:
    """A region can be added only if it is another and lacks the table, and removed only if it
    has it.
    """
    if region == database.region:
        refuse(
            "Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, "
            "DeleteTable, or UpdateTable as required."
        )
    if region not in KNOWN:
        refuse(
            f"Region {region} is not supported. The latest version of global tables are only "
            f"supported in the following regions: [{', '.join(sorted(KNOWN))}]"
        )
    if there and region not in replicas_of(table):
        refuse(
            "Update global table operation failed because one or more replicas were not part of "
            f"the global table. Please retry the request without these replicas: [{region}]."
        )
    if not there:
        other = regions_of(database).database(region)
        with other.read() as session:
            if other.catalog.load(session, table.name) is not None:
                refuse(
                    f"Failed to create a the new replica of table with name: ‘{table.name}’ "
                    "because one or more replicas already existed as tables."
                )


def check_writes(database: Database, table: TableDefinition) -> None:
    """Writes of all regions arrive everywhere, so fixed write units would be too few."""
    if table.definition["BillingMode"] == "PROVISIONED" and not regions_of(database).scales_writes:
        refuse("Table write capacity should either be Pay-Per-Request or AutoScaled.")


def check_source(database: Database, table: TableDefinition) -> None:
    """On Amazon the source region of a replica must stay for a day."""
    if database.delays.phase("source of a replica", table.definition.get("SourceSince")):
        refuse(
            "Replica cannot be deleted because it has acted as a source region for new replica(s) "
            "being added to the table in the last 24 hours."
        )
