"""Vector indexes in CreateTable, UpdateTable and what tells of them.

Words as captured from Amazon in August to October 2026 (the public conformance suite, dynoxide,
ExtendDB)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import LimitExceeded, TableNotFound, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

_INVALID = "One or more parameter values were invalid: "


def vector_index(name: str = "near", **changes: Any) -> dict[str, Any]:
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": "emb"},
        "Dimensions": 3,
        "DistanceFunction": "COSINE",
        "Projection": {"ProjectionType": "ALL"},
        **changes,
    }


def definition(name: str, *indexes: dict[str, Any], **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    }
    if indexes:
        made["VectorIndexes"] = list(indexes)
    return {**made, **changes}


def defined(**types: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def _refusal(call: Call, operation: str, request: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refused:
        call(operation, request)
    return refused.value.message


def test_a_vector_index_is_created_and_told(call: Call, name: str) -> None:
    schema = [{"AttributeName": "tenant", "SearchSchemaElementType": "HASH"}]
    made = call(
        "CreateTable",
        definition(
            name,
            vector_index(SearchSchema=schema),
            AttributeDefinitions=defined(pk="S", tenant="S"),
        ),
    )["TableDescription"]
    assert made["VectorIndexes"][0]["IndexStatus"] == "CREATING"
    assert "Backfilling" not in made["VectorIndexes"][0]
    [index] = call("DescribeTable", {"TableName": name})["Table"]["VectorIndexes"]
    assert index == {
        "IndexName": "near",
        "VectorAttribute": {"AttributeName": "emb"},
        "SearchSchema": schema,
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": 3,
        "DistanceFunction": "COSINE",
        "IndexStatus": "ACTIVE",
        "IndexSizeBytes": 0,
        "ItemCount": 0,
        "IndexArn": f"arn:aws:dynamodb:us-east-1:123456789012:table/{name}/index/near",
    }


def test_dimensions_that_are_not_whole_are_cut(call: Call, name: str) -> None:
    call("CreateTable", definition(name, vector_index(Dimensions=3.5)))
    [index] = call("DescribeTable", {"TableName": name})["Table"]["VectorIndexes"]
    assert index["Dimensions"] == 3


_SCHEMA = [
    {"AttributeName": "a", "SearchSchemaElementType": "HASH"},
    {"AttributeName": "b", "SearchSchemaElementType": "HASH"},
]
_REPEATED = [
    {"AttributeName": "a", "SearchSchemaElementType": "HASH"},
    {"AttributeName": "a", "SearchSchemaElementType": "INLINE_FILTER"},
]
_PROVISIONED = {
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
}


@pytest.mark.parametrize(
    ("indexes", "changes", "message"),
    [
        (
            [vector_index()],
            _PROVISIONED,
            f"{_INVALID}Vector indexes are only supported for PAY_PER_REQUEST tables",
        ),
        (
            [vector_index(Dimensions=0)],
            {},
            "1 validation error detected: Value '0' at 'vectorIndexes.1.member.dimensions' failed "
            "to satisfy constraint: Member must have value greater than or equal to 1",
        ),
        (
            [vector_index(Dimensions=4097)],
            {},
            f"{_INVALID}Number of dimensions must be between 1 and 4096 inclusive.",
        ),
        (
            [vector_index(f"near{number}") for number in range(6)],
            {},
            f"{_INVALID}VectorIndex count exceeds the per-table limit of 5",
        ),
        ([], {"VectorIndexes": []}, f"{_INVALID}List of VectorIndexes is empty"),
        (
            [vector_index(), vector_index()],
            {},
            f"{_INVALID}Duplicate index name: near",
        ),
        (
            [vector_index(SearchSchema=_SCHEMA[:1])],
            {},
            f"{_INVALID}One element in SearchSchema is not defined in attribute definitions",
        ),
        (
            [vector_index()],
            {"AttributeDefinitions": defined(pk="S", emb="S")},
            f"{_INVALID}Conflicting attribute definition for 'emb'. An attribute cannot be defined "
            "in AttributeDefinitions when used as a VectorAttribute.",
        ),
        (
            [vector_index(), vector_index("other", Dimensions=4)],
            {},
            f"{_INVALID}Conflicting attribute definition for 'emb'. All VectorIndexes on the same "
            "vector attribute must use the same dimensions.",
        ),
        (
            [vector_index(SearchSchema=_SCHEMA)],
            {"AttributeDefinitions": defined(pk="S", a="S", b="S")},
            f"{_INVALID}Value '2' at 'SearchSchema' failed to satisfy constraint: Member must have "
            "HASH count less than or equal to 1",
        ),
        (
            [vector_index(SearchSchema=_REPEATED)],
            {"AttributeDefinitions": defined(pk="S", a="S")},
            f"{_INVALID}SearchSchema contains a duplicate AttributeName",
        ),
        (
            [vector_index(DistanceFunction="MANHATTAN")],
            {},
            "1 validation error detected: Value 'MANHATTAN' at "
            "'vectorIndexes.1.member.distanceFunction' failed to satisfy constraint: Member must "
            "satisfy enum value set: [COSINE, DOT_PRODUCT, EUCLIDEAN]",
        ),
    ],
)
def test_a_wrong_vector_index_is_refused_and_no_table_is_made(
    call: Call,
    name: str,
    indexes: list[dict[str, Any]],
    changes: dict[str, Any],
    message: str,
) -> None:
    assert _refusal(call, "CreateTable", definition(name, *indexes, **changes)) == message
    with pytest.raises(TableNotFound):
        call("DescribeTable", {"TableName": name})


def _updated(call: Call, name: str, **changes: Any) -> dict[str, Any]:
    answer = call("UpdateTable", {"TableName": name, **changes})
    described: dict[str, Any] = answer["TableDescription"]
    return described


def _create(index: dict[str, Any]) -> dict[str, Any]:
    return {"VectorIndexUpdates": [{"Create": index}]}


def test_an_index_is_added_with_the_items_that_are_there(call: Call, name: str) -> None:
    call("CreateTable", definition(name))
    vector = {"L": [{"N": "1"}, {"N": "0"}, {"N": "0"}]}
    call("PutItem", {"TableName": name, "Item": {"pk": {"S": "a"}, "emb": vector}})
    call("PutItem", {"TableName": name, "Item": {"pk": {"S": "b"}, "emb": {"S": "not a vector"}}})
    told = _updated(call, name, **_create(vector_index()))
    assert told["TableStatus"] == "UPDATING"
    assert told["VectorIndexes"][0]["IndexStatus"] == "CREATING"
    [index] = call("DescribeTable", {"TableName": name})["Table"]["VectorIndexes"]
    assert (index["IndexStatus"], index["ItemCount"]) == ("ACTIVE", 1)
    search = {"TableName": name, "IndexName": "near", "SearchVector": vector["L"], "TopK": 5}
    assert call("SearchVectors", search)["SearchResults"] == [
        {"Item": {"pk": {"S": "a"}}, "Score": 0.0}
    ]


def test_a_deleted_index_is_gone_and_its_definitions_with_it(call: Call, name: str) -> None:
    schema = [{"AttributeName": "tenant", "SearchSchemaElementType": "HASH"}]
    call(
        "CreateTable",
        definition(
            name,
            vector_index(SearchSchema=schema),
            AttributeDefinitions=defined(pk="S", tenant="S"),
        ),
    )
    _updated(call, name, VectorIndexUpdates=[{"Delete": {"IndexName": "near"}}])
    table = call("DescribeTable", {"TableName": name})["Table"]
    assert "VectorIndexes" not in table
    assert table["AttributeDefinitions"] == defined(pk="S")


def test_what_a_search_schema_uses_stays_defined_when_another_index_goes(
    call: Call, name: str
) -> None:
    schema = [{"AttributeName": "tenant", "SearchSchemaElementType": "HASH"}]
    by_tenant = {
        "IndexName": "by_tenant",
        "KeySchema": [{"AttributeName": "tenant", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    types = defined(pk="S", tenant="S")
    call(
        "CreateTable",
        definition(
            name,
            vector_index(SearchSchema=schema),
            AttributeDefinitions=types,
            GlobalSecondaryIndexes=[by_tenant],
        ),
    )
    _updated(call, name, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by_tenant"}}])
    assert call("DescribeTable", {"TableName": name})["Table"]["AttributeDefinitions"] == types


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (_create(vector_index()), "Attempting to create an index which already exists"),
        (
            _create(
                vector_index(
                    "other",
                    SearchSchema=[{"AttributeName": "pk", "SearchSchemaElementType": "HASH"}],
                )
            ),
            f"{_INVALID}One element in SearchSchema is not defined in attribute definitions",
        ),
        (
            {
                "VectorIndexUpdates": [
                    {"Create": vector_index("other"), "Delete": {"IndexName": "near"}}
                ]
            },
            f"{_INVALID}Only one vector index action is allowed per VectorIndexUpdate object",
        ),
        (
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
            },
            f"{_INVALID}Tables with vector indexes must be in PAY_PER_REQUEST mode",
        ),
        (
            {
                "AttributeDefinitions": defined(emb="S"),
                "GlobalSecondaryIndexUpdates": [
                    {
                        "Create": {
                            "IndexName": "by_emb",
                            "KeySchema": [{"AttributeName": "emb", "KeyType": "HASH"}],
                            "Projection": {"ProjectionType": "ALL"},
                        }
                    }
                ],
            },
            f"{_INVALID}Attributes cannot be redefined. Please check that your attribute has the "
            "same type as previously defined. Existing schema: VectorIndexSchema:[VectorAttribute: "
            "key{emb:L:3}] New schema: Schema:[SchemaElement: key{emb:S:HASH}]",
        ),
        (
            _create({**vector_index("other"), "Dimensions": None}),
            "1 validation error detected: Value null at "
            "'vectorIndexUpdates.1.member.create.dimensions' failed to satisfy constraint: Member "
            "must not be null",
        ),
    ],
)
def test_a_wrong_update_is_refused_and_changes_nothing(
    call: Call, name: str, update: dict[str, Any], message: str
) -> None:
    call("CreateTable", definition(name, vector_index()))
    before = call("DescribeTable", {"TableName": name})
    assert _refusal(call, "UpdateTable", {"TableName": name, **update}) == message
    assert call("DescribeTable", {"TableName": name}) == before


def test_one_index_is_made_or_deleted_at_a_time(call: Call, name: str) -> None:
    call("CreateTable", definition(name, vector_index()))
    updates = [{"Create": vector_index("other")}, {"Delete": {"IndexName": "near"}}]
    with pytest.raises(LimitExceeded, match="Only 1 online index can be created or deleted"):
        call("UpdateTable", {"TableName": name, "VectorIndexUpdates": updates})


def test_an_index_that_is_not_there_cannot_be_deleted(call: Call, name: str) -> None:
    call("CreateTable", definition(name))
    with pytest.raises(TableNotFound) as refused:
        _updated(call, name, VectorIndexUpdates=[{"Delete": {"IndexName": "near"}}])
    told = f"Requested resource not found: Index near for table {name}"
    assert refused.value.message == told


def test_a_table_becomes_on_demand_and_gets_an_index_in_one_request(call: Call, name: str) -> None:
    call("CreateTable", definition(name, **_PROVISIONED))
    _updated(call, name, BillingMode="PAY_PER_REQUEST", **_create(vector_index()))
    assert call("DescribeTable", {"TableName": name})["Table"]["VectorIndexes"]


def test_a_vector_index_is_searched_and_never_read(call: Call, name: str) -> None:
    call("CreateTable", definition(name, vector_index()))
    query = {
        "TableName": name,
        "IndexName": "near",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
    }
    assert _refusal(call, "Query", query) == "Query operation not supported on this index type."
    no_scan = "Scan operation not supported on this index type"
    assert _refusal(call, "Scan", {"TableName": name, "IndexName": "near"}) == no_scan
    statement = {"Statement": f'SELECT * FROM "{name}"."near"'}
    assert _refusal(call, "ExecuteStatement", statement) == no_scan


def test_backups_tell_of_vector_indexes_and_restores_search_them(call: Call, name: str) -> None:
    call("CreateTable", definition(name, vector_index(), vector_index("other")))
    vector = {"L": [{"N": "1"}, {"N": "0"}, {"N": "0"}]}
    call("PutItem", {"TableName": name, "Item": {"pk": {"S": "a"}, "emb": vector}})
    backup = call("CreateBackup", {"TableName": name, "BackupName": "backup"})["BackupDetails"]
    told = call("DescribeBackup", {"BackupArn": backup["BackupArn"]})["BackupDescription"]
    assert told["SourceTableFeatureDetails"]["VectorIndexes"] == [
        vector_index(),
        vector_index("other"),
    ]
    restore = {"BackupArn": backup["BackupArn"], "TargetTableName": f"{name}again"}
    wrong = {**restore, "VectorIndexOverride": [vector_index(Dimensions=4)]}
    assert _refusal(call, "RestoreTableFromBackup", wrong) == (
        "Invalid Request: Index near does not match a secondary index that existed in the source "
        "table and cannot be created during the restore operation"
    )
    call("RestoreTableFromBackup", {**restore, "VectorIndexOverride": [vector_index()]})
    table = call("DescribeTable", {"TableName": f"{name}again"})["Table"]
    assert [index["IndexName"] for index in table["VectorIndexes"]] == ["near"]
    search = {"IndexName": "near", "SearchVector": vector["L"], "TopK": 1}
    found = call("SearchVectors", {"TableName": f"{name}again", **search})
    assert found["SearchResults"][0]["Item"] == {"pk": {"S": "a"}}
