"""The definition of a restored table: its source's, with what the request overrides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from keyfold_engine.engine import definitions, encryption
from keyfold_engine.errors import ValidationError, parameter_invalid
from keyfold_engine.features.vectors import rules

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

# Settings that a restored table does not inherit from its source.
_LEFT_BEHIND = frozenset(
    (
        "Stream",
        "LatestStream",
        "TimeToLive",
        "ExpiryNotedTo",
        "Recovery",
        "Backups",
        "Tags",
        "RestoreSummary",
        "RestoredFrom",
        "ThroughputChanges",
    )
)
# What a billing mode has no use for.
_UNUSED = {"PAY_PER_REQUEST": "ProvisionedThroughput", "PROVISIONED": "OnDemandThroughput"}

Definition = dict[str, Any]


def restored_definition(database: Database, request: Definition, source: Definition) -> Definition:
    """The definition of the table that a request restores from a source with this one."""
    definition = {name: value for name, value in source.items() if name not in _LEFT_BEHIND}
    now = database.clock.now()
    definition.update(
        TableName=request["TargetTableName"],
        TableId=str(uuid4()),
        TableArn=database.arn(f"table/{request['TargetTableName']}"),
        CreationDateTime=now,
        DeletionProtectionEnabled=False,
    )
    if request.get("BillingModeOverride") is not None:
        definition.update(BillingMode=request["BillingModeOverride"], BillingChanged=now)
    _override_throughput(definition, request)
    _override_encryption(database, definition, request)
    local = definition.pop("LocalSecondaryIndexes", ())
    if chosen := _chosen(local, request.get("LocalSecondaryIndexOverride")):
        definition["LocalSecondaryIndexes"] = chosen
    _override_global_indexes(definition, request)
    _override_vectors(definition, request, now)
    definition["AttributeDefinitions"] = definitions.used_attributes(definition)
    return definition


def _override_throughput(definition: Definition, request: Definition) -> None:
    billing = definition["BillingMode"]
    definition.pop(_UNUSED[billing], None)
    for member in _UNUSED.values():
        if request.get(f"{member}Override") is not None:
            definition[member] = request[f"{member}Override"]
    definitions.check_billing(definition, billing)
    definitions.check_most(definition.get("OnDemandThroughput"), billing, definitions.CREATED)


def _override_encryption(database: Database, definition: Definition, request: Definition) -> None:
    wanted = request.get("SSESpecificationOverride")
    encryption.check_encryption(wanted)
    if wanted is not None:
        definition.pop("SSE", None)
        if wanted.get("Enabled"):
            definition["SSE"] = encryption.described(database, wanted)


def _override_global_indexes(definition: Definition, request: Definition) -> None:
    billing = definition["BillingMode"]
    # Their entries are created with the items, also of an index that the source had not finished.
    known = [
        {
            **{
                name: index[name]
                for name in index
                if name not in (_UNUSED[billing], "ThroughputChanges")
            },
            "IndexStatus": "ACTIVE",
        }
        for index in definition.pop("GlobalSecondaryIndexes", ())
    ]
    chosen = _chosen(known, request.get("GlobalSecondaryIndexOverride"))
    for index in chosen:
        definitions.check_throughput(index, billing)
        definitions.check_most(index.get("OnDemandThroughput"), billing, definitions.CREATED)
    if chosen:
        definition["GlobalSecondaryIndexes"] = chosen


def _chosen(known: Sequence[Definition], wanted: Sequence[Definition] | None) -> list[Definition]:
    """The source's indexes that a request names, or all, with the request's throughput."""
    if wanted is None:
        return [*known]
    by_name = {index["IndexName"]: index for index in known}
    chosen = []
    for wish in wanted:
        index = by_name.get(wish["IndexName"])
        if index is None or _shape(index) != _shape(wish):
            raise _differs(wish)
        given = ("ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput")
        chosen.append({**index, **{name: wish[name] for name in given if name in wish}})
    return chosen


def _shape(index: Definition) -> object:
    """What a restore cannot change of an index."""
    projection = index["Projection"]
    included = sorted(projection.get("NonKeyAttributes") or ())
    return index["KeySchema"], projection.get("ProjectionType"), included


def _override_vectors(definition: Definition, request: Definition, now: float) -> None:
    known = definition.pop("VectorIndexes", ())
    wanted = request.get("VectorIndexOverride")
    if wanted is not None:
        by_name = {index["IndexName"]: index for index in known}
        for wish in wanted:
            index = by_name.get(wish["IndexName"])
            if index is None or rules.description(index) != rules.description(wish):
                raise _differs(wish)
        known = [by_name[wish["IndexName"]] for wish in wanted]
    if known:
        if definition["BillingMode"] != "PAY_PER_REQUEST":
            raise parameter_invalid("Tables with vector indexes must be in PAY_PER_REQUEST mode")
        # They are filled with the items, and from now on behave like newly added ones.
        definition["VectorIndexes"] = [
            {**{name: each[name] for name in each if name != "IsFilling"}, "Since": now}
            for each in known
        ]


def _differs(wish: Definition) -> ValidationError:
    return ValidationError(
        f"Invalid Request: Index {wish['IndexName']} does not match a secondary index that existed "
        "in the source table and cannot be created during the restore operation"
    )
