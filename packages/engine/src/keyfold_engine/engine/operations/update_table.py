"""UpdateTable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyfold_engine.engine import (
    backfill,
    catalog,
    definitions,
    describe,
    extensions,
    leftovers,
    streams,
)
from keyfold_engine.engine import throughput as units
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.encryption import check_encryption
from keyfold_engine.engine.encryption import described as encrypted
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import (
    TableNotFound,
    ValidationError,
    in_use,
    parameter_invalid,
)
from keyfold_engine.limits import INDEX_CHANGES_PER_UPDATE

_NO_LIMIT = -1
_NOTHING = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
    "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, "
    "WarmThroughput or TableClass is required"
)
# Changes that must be alone, in order of precedence.
_ALONE = {
    "SSESpecification": "Server-Side Encryption modification",
    "TableClass": "TableClass modification",
    "DeletionProtectionEnabled": "DeletionProtection modification",
    "ReplicaUpdates": "Replica modification",
    "WarmThroughput": "WarmThroughput",
}
_NO_CHANGES = ("TableName", "AttributeDefinitions")


def update_table(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    asked = extensions.for_request(request)
    for extension in asked:
        if (alone := extension.update_alone(database, request)) is not None:
            return alone
    _check_combination(request)
    definitions.check_table_class(request.get("TableClass"))
    check_encryption(request.get("SSESpecification"))
    if request.get("OnDemandThroughput") == {}:
        raise parameter_invalid("OnDemandThroughput has no limit in it")
    billing, throughput = request.get("BillingMode"), request.get("ProvisionedThroughput")
    if billing == "PAY_PER_REQUEST":
        definitions.check_billing(request, billing)
    definitions.check_units(throughput)
    definitions.check_stream(request.get("StreamSpecification"))
    updates = request.get("GlobalSecondaryIndexUpdates") or ()
    _check_updates(updates)
    further = [update for each in asked for update in each.index_updates(request)]
    created = [
        update["Create"] for update in (*updates, *further) if update.get("Create") is not None
    ]

    def work(session: Session) -> tuple[dict[str, Any], TableDefinition, int | None]:
        table = database.catalog.changeable(session, request["TableName"])
        allocates = describe.making(database, table) == "allocating" and not further
        if allocates or any(index.status != "ACTIVE" for index in table.global_indexes):
            raise in_use(f"Table is being updated: {table.name}")
        for extension in dict.fromkeys((*table.extensions, *asked)):
            extension.check_update(table, request)
        table = _with_settings(database, table, request)
        table = _with_indexes(session, table, request, updates, database.clock.now())
        for extension in asked:
            table = extension.update(database, session, table, request)
        table = _with_stream(database, session, table, request.get("StreamSpecification"))
        database.catalog.store(session, table)
        answer = describe.table(database, session, table, status="UPDATING")
        if "SSESpecification" in request:
            answer["SSEDescription"] = {**answer.get("SSEDescription", {}), "Status": "UPDATING"}
        row = None
        for index in created:
            # The first step is part of this commit: a small table's index is complete at once.
            row = backfill.advance(database, table.name, index["IndexName"], 0, session)
        return answer, table, row

    answer, table, row = database.write(work)
    if row is not None:
        database.backfills.start(table, created[0]["IndexName"], row)
    if any("Delete" in update for update in (*updates, *further)):
        leftovers.clear(database)
    return {"TableDescription": answer}


def _check_combination(request: dict[str, Any]) -> None:
    """Refuse an UpdateTable without a change, or with changes that cannot be combined."""
    changes = {name for name, value in request.items() if name not in _NO_CHANGES}
    indexes = request.get("GlobalSecondaryIndexUpdates")
    if not changes or (changes == {"GlobalSecondaryIndexUpdates"} and not indexes):
        raise ValidationError(_NOTHING)
    if indexes == []:
        raise parameter_invalid("List of GlobalSecondaryIndexUpdates is empty")
    others = changes - {"GlobalSecondaryIndexUpdates"}
    if "WarmThroughput" in changes and any("Create" in update for update in indexes or ()):
        raise parameter_invalid(
            "Create global secondary index cannot be specified when updating WarmThroughput"
        )
    for change, told in _ALONE.items():
        if change in changes and len(changes) > 1:
            raise parameter_invalid(f"{told} must be the only operation in the request")
    if "OnDemandThroughput" in changes and changes - {"OnDemandThroughput", "BillingMode"}:
        raise parameter_invalid(
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
        )
    moves = [update for update in indexes or () if "Update" not in update]
    if "ProvisionedThroughput" in others:
        if "StreamSpecification" in others:
            raise ValidationError("You cannot modify stream status while updating table IOPS")
        if moves and "BillingMode" not in others:
            raise ValidationError("You cannot create or delete index while updating table IOPS")
    if moves and "StreamSpecification" in others:
        raise ValidationError("You cannot create or delete index while changing stream status")


def _check_updates(updates: Sequence[dict[str, Any]]) -> None:
    seen = set()
    for update in updates:
        if not update:
            raise parameter_invalid(
                "One of GlobalSecondaryIndexUpdate.Update, "
                "GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be "
                "null"
            )
        if len(update) > 1:
            raise parameter_invalid(
                "Only one of GlobalSecondaryIndexUpdate.Update, "
                "GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete may be given"
            )
        for wish in update.values():
            if wish["IndexName"] in seen:
                raise parameter_invalid(
                    f"Only one global secondary index update per index is allowed "
                    f"simultaneously. Index: {wish['IndexName']}"
                )
            seen.add(wish["IndexName"])
            definitions.check_units(wish.get("ProvisionedThroughput"))


def _with_settings(
    database: Database, table: TableDefinition, request: dict[str, Any]
) -> TableDefinition:
    changes: dict[str, Any] = {}
    billing, throughput = request.get("BillingMode"), request.get("ProvisionedThroughput")
    current = table.definition["BillingMode"]
    if throughput is not None or (billing or current) != current:
        definitions.check_billing(request, billing or current)
    if throughput is not None:
        _refuse_same_throughput(table, throughput)
        changes |= units.changed(table.definition, throughput, database.clock.now())
    definitions.check_most(
        request.get("OnDemandThroughput"),
        billing or current,
        definitions.UPDATED,
        removes=True,
    )
    if billing is not None and billing != current:
        changes["BillingMode"] = billing
        if billing == "PAY_PER_REQUEST":
            changes["BillingChanged"] = database.clock.now()
            changes["ProvisionedThroughput"] = None
        else:
            changes["OnDemandThroughput"] = None
    if request.get("TableClass") is not None:
        changes["TableClass"] = request["TableClass"]
        changes["TableClassChanged"] = database.clock.now()
    if request.get("WarmThroughput") is not None:
        warm = request["WarmThroughput"]
        units.check_warmer(table.definition, current, warm, "table")
        changes["WarmThroughput"] = {**table.definition.get("WarmThroughput", {}), **warm}
    if request.get("DeletionProtectionEnabled") is not None:
        changes["DeletionProtectionEnabled"] = request["DeletionProtectionEnabled"]
    if request.get("OnDemandThroughput") is not None:
        changes["OnDemandThroughput"] = _most(table, request["OnDemandThroughput"])
    encryption = request.get("SSESpecification")
    if encryption is not None:
        enabled = encryption.get("Enabled")
        changes["SSE"] = encrypted(database, encryption) if enabled else None
    return table.with_changes(**changes)


def _most(table: TableDefinition, wanted: dict[str, int]) -> dict[str, int] | None:
    """The table's on-demand limits with the requested changes."""
    merged = {**table.definition.get("OnDemandThroughput", {}), **wanted}
    return {name: units for name, units in merged.items() if units != _NO_LIMIT} or None


def _refuse_same_throughput(table: TableDefinition, wanted: dict[str, int]) -> None:
    current = table.definition.get("ProvisionedThroughput")
    if current is None or any(current[unit] != wanted[unit] for unit in wanted):
        return
    told = " ".join(
        f"Current {unit} provisioned for the table: {current[unit]}. "
        f"Requested {unit}: {wanted[unit]}."
        for unit in ("ReadCapacityUnits", "WriteCapacityUnits")
    )
    raise ValidationError(
        "The provisioned throughput for the table will not change. The requested value equals the "
        f"current value. {told} Refer to the Amazon DynamoDB Developer Guide for current limits "
        "and how to request higher limits."
    )


def _with_indexes(
    session: Session,
    table: TableDefinition,
    request: dict[str, Any],
    updates: Sequence[dict[str, Any]],
    now: float,
) -> TableDefinition:
    if sum("Update" not in update for update in updates) > INDEX_CHANGES_PER_UPDATE:
        raise catalog.one_index_at_a_time()
    for update in updates:
        ((kind, wish),) = update.items()
        if kind == "Update":
            table = _update_index(table, wish, request, now)
        else:
            table = _INDEX_CHANGES[kind](session, table, wish, request)
    return table


def _create_index(
    session: Session, table: TableDefinition, wish: dict[str, Any], request: dict[str, Any]
) -> TableDefinition:
    if wish["IndexName"] in table.indexes_by_name:
        raise ValidationError("Attempting to create an index which already exists")
    known = table.definition["AttributeDefinitions"]
    defined = request.get("AttributeDefinitions") or ()
    definitions.check_index_keys(wish, definitions.attribute_names(defined))
    types = definitions.attribute_types
    definitions.check_same_types(wish, types(known), types(defined))
    definitions.check_projection(wish)
    definitions.check_throughput(
        wish, request.get("BillingMode") or table.definition["BillingMode"]
    )
    definitions.check_global_count(len(table.global_indexes) + 1)
    number = table.definition["NextIndex"]
    index = {**wish, "Number": number, "IndexStatus": "CREATING"}
    definitions.check_included([*(each.definition for each in table.indexes), index])
    session.create_index(table.id, number)
    return definitions.with_index(table, "GlobalSecondaryIndexes", index, defined)


def _delete_index(
    session: Session, table: TableDefinition, wish: dict[str, Any], _request: dict[str, Any]
) -> TableDefinition:
    index = table.indexes_by_name.get(wish["IndexName"])
    if index is None or index.is_local:
        raise TableNotFound("Requested resource not found")
    session.drop_index(table.id, index.number)
    return definitions.without_index(table, "GlobalSecondaryIndexes", index.name)


def _update_index(
    table: TableDefinition, wish: dict[str, Any], request: dict[str, Any], now: float
) -> TableDefinition:
    index = table.indexes_by_name.get(wish["IndexName"])
    if index is None or index.is_local:
        raise TableNotFound("Requested resource not found")
    billing = request.get("BillingMode") or table.definition["BillingMode"]
    changed = {**index.definition, **wish}
    if "ProvisionedThroughput" in wish:
        definitions.check_throughput(wish, billing)
        changed |= units.changed(index.definition, wish["ProvisionedThroughput"], now)
    if "WarmThroughput" in wish:
        of = f"index {index.name}"
        units.check_warmer(index.definition, billing, wish["WarmThroughput"], of)
        warm = {**index.definition.get("WarmThroughput", {}), **wish["WarmThroughput"]}
        changed["WarmThroughput"] = warm
    return table.with_changes(
        GlobalSecondaryIndexes=[
            changed if each is index else each.definition for each in table.global_indexes
        ]
    )


_INDEX_CHANGES = {"Create": _create_index, "Delete": _delete_index}


def _with_stream(
    database: Database, session: Session, table: TableDefinition, wish: dict[str, Any] | None
) -> TableDefinition:
    if wish is None:
        return table
    if wish["StreamEnabled"]:
        if table.stream is not None:
            raise ValidationError(f"Table already has an enabled stream: TableName: {table.name}")
        return streams.start(database, session, table, wish["StreamViewType"])
    if table.stream is None:
        raise ValidationError(f"Table already has its stream disabled: TableName: {table.name}")
    return streams.stop(database, session, table)
