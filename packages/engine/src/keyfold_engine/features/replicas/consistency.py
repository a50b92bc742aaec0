"""Strongly consistent groups: MultiRegionConsistency set to STRONG."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import parameter_invalid
from keyfold_engine.features.replicas.membership import add, answer, remove
from keyfold_engine.features.replicas.replicated_table import replicas_of
from keyfold_engine.features.replicas.rules import check_region, refuse

_STRONG_ELSEWHERE = frozenset(("us-west-1", "ca-central-1", "sa-east-1"))


def begin(
    database: Database, table: TableDefinition, request: dict[str, Any], kinds: list[str]
) -> dict[str, Any]:
    """Create a strongly consistent group of three regions, one of them possibly a witness."""
    updates = request.get("ReplicaUpdates") or []
    witnesses = request.get("GlobalTableWitnessUpdates") or []
    if request.get("MultiRegionConsistency") != "STRONG":
        if table.definition.get("Consistency") == "STRONG":
            return change(database, table, request, kinds)
        refuse(
            "MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter "
            "is present."
        )
    if any(kind != "Create" for kind in kinds):
        refuse(
            "Only Replica Create actions are supported when MultiRegionConsistency parameter is "
            "provided."
        )
    if table.definition.get("Consistency") == "STRONG":
        refuse("MultiRegionConsistency parameter is unsupported on existing global table")
    wishes = {each["Create"]["RegionName"]: each["Create"] for each in updates}
    witness = [each["Create"]["RegionName"] for each in witnesses if each.get("Create")]
    wrong = [region for region in (*wishes, *witness) if region in _STRONG_ELSEWHERE]
    if wrong:
        refuse(
            "Unsupported Region(s) specified for global tables with MultiRegionConsistency set to "
            f"STRONG: [{', '.join(wrong)}]."
        )
    if set(witness) & wishes.keys():
        refuse("Cannot target multiple regions with the same action")
    if database.region in witness:
        refuse(
            "Cannot add a witness in the same region as an existing replica when creating a global "
            "table with MultiRegionConsistency set to STRONG."
        )
    if len(wishes) + len(witness) != 2 or replicas_of(table):
        refuse(
            "Unsupported replica count for global tables with MultiRegionConsistency set to STRONG."
        )
    for region in wishes:
        check_region(database, table, region, there=False)
    _check_can_be_strong(database, table)
    more: dict[str, Any] = {"Consistency": "STRONG"}
    if witness:
        more["Witness"] = {"RegionName": witness[0], "Since": database.clock.now()}
    add(database, table, wishes, more)
    return answer(database, table)


def _check_can_be_strong(database: Database, table: TableDefinition) -> None:
    """Our own messages: Amazon's are unknown."""
    with database.read() as session:
        count, _size = session.count_items(table.id, 1)
    if count:
        raise parameter_invalid(f"A table becomes STRONG only while it is empty: {table.name}")
    if table.ttl is not None or table.local_indexes:
        raise parameter_invalid(
            "Time to live and local secondary indexes are not supported for global "
            "tables with MultiRegionConsistency set to STRONG."
        )


def change(
    database: Database, table: TableDefinition, request: dict[str, Any], kinds: list[str]
) -> dict[str, Any]:
    """Refuse changes of a strongly consistent group, which can only be dissolved as a whole."""
    if "Create" in kinds:
        refuse("Cannot add replicas to a global table with strong MultiRegionConsistency")
    updates = request.get("ReplicaUpdates") or ()
    regions = {each["Delete"]["RegionName"] for each in updates if "Delete" in each}
    witness = table.definition.get("Witness")
    dropped = [each for each in request.get("GlobalTableWitnessUpdates") or () if "Delete" in each]
    if witness and not dropped:
        refuse("Update table delete operation does not include all witnesses.")
    if regions != set(replicas_of(table)):
        refuse(
            "Deletion of only one table replica is not supported for global tables with "
            "MultiRegionConsistency set to STRONG."
        )
    for region in regions:
        remove(database, database.named(table.name), {"RegionName": region})
    return answer(database, table)
