"""CreateTable."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from keyfold_engine.engine import catalog, definitions, describe, encryption, extensions, streams
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.operations.tags import read_tags
from keyfold_engine.engine.storage import Session
from keyfold_engine.errors import TableInUse, ValidationError

_COPIED = ("OnDemandThroughput", "TableClass", "ProvisionedThroughput", "WarmThroughput")


def create_table(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    for member in ("GlobalTableSourceArn", "GlobalTableSettingsReplicationMode"):
        if request.get(member) is not None:
            raise ValidationError(
                f"keyfold has no replicas in other accounts: CreateTable cannot have {member}. Add "
                "replicas of the same account with UpdateTable."
            )
    definitions.check_creation(request)
    tags = read_tags(request.get("Tags") or ())
    name = request["TableName"]
    if name.startswith("arn:"):
        name = catalog.name_in(name)
        if database.arn(f"table/{name}") != request["TableName"]:
            raise catalog.invalid_arn(request["TableName"])
    further = [each.creating(database, name, request) for each in extensions.for_request(request)]

    def work(session: Session) -> dict[str, Any]:
        if database.catalog.find(session, name) is not None:
            raise TableInUse(f"Table already exists: {name}")
        table = catalog.create(session, _definition(database, name, request, tags))
        stream = request.get("StreamSpecification")
        if stream and stream["StreamEnabled"]:
            table = streams.start(database, session, table, stream["StreamViewType"])
            session.define_table(table.id, table.stored())
        for finish in further:
            if finish is not None:
                finish(session, table)
        answer = describe.table(database, session, table, status="CREATING")
        database.catalog.remember(table)
        return {"TableDescription": answer}

    return database.write(work)


def _definition(
    database: Database, name: str, request: dict[str, Any], tags: dict[str, str]
) -> dict[str, Any]:
    now = database.clock.now()
    billing = request.get("BillingMode", "PROVISIONED")
    local = definitions.numbered(request.get("LocalSecondaryIndexes") or (), 1)
    global_ = definitions.numbered(request.get("GlobalSecondaryIndexes") or (), 1 + len(local))
    definition: dict[str, Any] = {
        "TableName": name,
        "TableId": str(uuid4()),
        "TableArn": database.arn(f"table/{name}"),
        "CreationDateTime": now,
        "KeySchema": request["KeySchema"],
        "AttributeDefinitions": request["AttributeDefinitions"],
        "BillingMode": billing,
        "DeletionProtectionEnabled": bool(request.get("DeletionProtectionEnabled")),
        "NextIndex": 1 + len(local) + len(global_),
    }
    if billing == "PAY_PER_REQUEST":
        definition["BillingChanged"] = now
    if local:
        definition["LocalSecondaryIndexes"] = local
    if global_:
        definition["GlobalSecondaryIndexes"] = [
            {**index, "IndexStatus": "ACTIVE"} for index in global_
        ]
    for extension in extensions.for_request(request):
        if indexes := request.get(extension.indexes_member):
            first = definition["NextIndex"]
            definition[extension.indexes_member] = definitions.numbered(indexes, first)
            definition["NextIndex"] = first + len(indexes)
    for member in _COPIED:
        if request.get(member) is not None:
            definition[member] = request[member]
    if (request.get("SSESpecification") or {}).get("Enabled"):
        definition["SSE"] = encryption.described(database, request["SSESpecification"])
    if tags:
        definition["Tags"] = tags
    return definition
