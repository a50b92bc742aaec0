"""ExecuteStatement, BatchExecuteStatement, ExecuteTransaction."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold_engine.errors import (
    ConditionFailed,
    DuplicateItem,
    TableNotFound,
    TransactionCanceled,
    ValidationError,
)


def _run(call: Any, statement: str, *parameters: Any, **more: Any) -> dict[str, Any]:
    request = {"Statement": statement, **more}
    if parameters:
        request["Parameters"] = list(parameters)
    answer: dict[str, Any] = call("ExecuteStatement", request)
    return answer


def test_a_statement_of_each_kind(call: Any, table: str) -> None:
    _run(call, f"INSERT INTO {table} VALUE {{'pk': 'a', 'sk': 1, 'n': 1}}")
    with pytest.raises(DuplicateItem, match="Duplicate primary key exists in table"):
        _run(call, f"INSERT INTO {table} VALUE {{'pk': 'a', 'sk': 1}}")
    update = f"UPDATE {table} SET n = n + ? WHERE pk = ? AND sk = 1 RETURNING ALL NEW *"
    updated = _run(call, update, {"N": "4"}, {"S": "a"})
    assert updated["Items"] == [{"pk": {"S": "a"}, "sk": {"N": "1"}, "n": {"N": "5"}}]
    found = _run(call, f"SELECT n FROM {table} WHERE pk = 'a' AND sk = 1")
    assert found["Items"] == [{"n": {"N": "5"}}]
    with pytest.raises(ConditionFailed):
        _run(call, f"DELETE FROM {table} WHERE pk = 'a' AND sk = 1 AND n = 1")
    _run(call, f"DELETE FROM {table} WHERE pk = 'a' AND sk = 1")
    assert call("Scan", {"TableName": table})["Count"] == 0


def test_pages_of_a_select(call: Any, table: str, put: Any) -> None:
    for number in range(5):
        put("a", number)
    statement = f"SELECT sk FROM {table} WHERE pk = 'a' ORDER BY sk DESC"
    found: list[str] = []
    more: dict[str, Any] = {}
    while True:
        answer = _run(call, statement, Limit=2, **more)
        found += [item["sk"]["N"] for item in answer["Items"]]
        if "NextToken" not in answer:
            break
        more = {"NextToken": answer["NextToken"]}
    assert found == ["4", "3", "2", "1", "0"]


def test_a_batch_answers_each_statement(call: Any, table: str) -> None:
    answer = call(
        "BatchExecuteStatement",
        {
            "Statements": [
                {"Statement": f"INSERT INTO {table} VALUE {{'pk': 'a', 'sk': 1}}"},
                {"Statement": f"UPDATE {table} SET n = 1 WHERE pk = 'nobody' AND sk = 1"},
            ]
        },
    )
    done, failed = answer["Responses"]
    assert done == {"TableName": table}
    assert failed["Error"] == {
        "Code": "ConditionalCheckFailed",
        "Message": "The conditional request failed",
    }


def test_a_transaction_does_all_or_nothing(call: Any, table: str) -> None:
    def transaction(*statements: str) -> None:
        wishes = [{"Statement": statement} for statement in statements]
        call("ExecuteTransaction", {"TransactStatements": wishes})

    transaction(
        f"INSERT INTO {table} VALUE {{'pk': 'a', 'sk': 1}}",
        f"INSERT INTO {table} VALUE {{'pk': 'b', 'sk': 1}}",
    )
    with pytest.raises(TransactionCanceled) as caught:
        transaction(
            f"DELETE FROM {table} WHERE pk = 'a' AND sk = 1",
            f"INSERT INTO {table} VALUE {{'pk': 'b', 'sk': 1}}",
        )
    assert [reason.code for reason in caught.value.reasons] == ["None", "DuplicateItem"]
    assert call("Scan", {"TableName": table})["Count"] == 2


def test_refusals(call: Any) -> None:
    with pytest.raises(ValidationError) as malformed:
        _run(call, "SLECT 1")
    assert malformed.value.message == (
        "Statement wasn't well formed, can't be processed: Expected data manipulation"
    )
    with pytest.raises(TableNotFound, match=r"^Requested resource not found"):
        _run(call, "SELECT * FROM nowhere WHERE pk = 'a'")


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("attribute_exists(tags)", True),
        ("attribute_exists(nope)", False),
        ("NOT ATTRIBUTE_EXISTS(nope)", True),
        ("attribute_not_exists(nope)", True),
        ("attribute_exists(tags) = true", True),
        ("attribute_exists(tags) = false", False),
        ("attribute_exists(m.x)", True),
        ("attribute_exists(m.y)", False),
        ("word IS STRING", True),
        ("word IS BOOL", False),
        ("flag IS BOOL", True),
        ("flag IS NOT BOOL", False),
        ("/* a note */ size(word) = 4 -- another", True),
    ],
)
def test_what_a_where_clause_can_ask(
    call: Any, table: str, put: Any, where: str, holds: bool
) -> None:
    put("a", 1, word="word", flag={"BOOL": True}, tags={"SS": ["x"]}, m={"M": {"x": {"S": ""}}})
    found = _run(call, f"SELECT * FROM {table} WHERE pk = 'a' AND sk = 1 AND {where}")["Items"]
    assert len(found) == holds
    change = f"UPDATE {table} SET seen = 1 WHERE pk = 'a' AND sk = 1 AND {where}"
    if holds:
        _run(call, change)
    else:
        with pytest.raises(ConditionFailed):
            _run(call, change)


def test_an_update_can_begin_with_from(call: Any, table: str, put: Any) -> None:
    item = put("a", 1, word="word")
    changed = _run(
        call,
        f"FROM {table} WHERE pk = 'a' AND sk = 1 SET n = 2 REMOVE word RETURNING ALL NEW *",
    )
    assert changed["Items"] == [{"pk": item["pk"], "sk": item["sk"], "n": {"N": "2"}}]
    with pytest.raises(ConditionFailed):
        _run(call, f"FROM {table} WHERE pk = 'b' AND sk = 1 SET n = 2")


def test_a_transaction_of_writes_answers_nothing(call: Any, table: str) -> None:
    statement = f"INSERT INTO {table} VALUE {{'pk': 'a', 'sk': 1}}"
    answer = call("ExecuteTransaction", {"TransactStatements": [{"Statement": statement}]})
    assert answer == {"Responses": []}


def test_indexes_with_several_key_attributes_of_a_kind_are_not_for_partiql(
    call: Any, name: str
) -> None:
    keys = {"pk": "HASH", "g": "HASH", "h": "HASH"}
    call(
        "CreateTable",
        {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": k, "AttributeType": "S"} for k in keys],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "several",
                    "KeySchema": [{"AttributeName": k, "KeyType": "HASH"} for k in ("g", "h")],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        },
    )
    statement = f"SELECT * FROM {name}.several WHERE g = 'a' AND h = 'b'"
    refusal = (
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
        "multi-attribute RANGE keys."
    )
    with pytest.raises(ValidationError) as caught:
        _run(call, statement)
    assert caught.value.message == refusal
    batch = call("BatchExecuteStatement", {"Statements": [{"Statement": statement}]})
    assert batch["Responses"][0]["Error"]["Message"] == refusal


def test_reads_and_writes_do_not_go_together(call: Any, table: str) -> None:
    read = {"Statement": f"SELECT * FROM {table} WHERE pk = 'a' AND sk = 1"}
    write = {"Statement": f"DELETE FROM {table} WHERE pk = 'b' AND sk = 1"}
    with pytest.raises(ValidationError) as batch:
        call("BatchExecuteStatement", {"Statements": [read, write]})
    assert batch.value.message == (
        "Read and write requests together in the same batch is not supported."
    )
    with pytest.raises(ValidationError) as transaction:
        call("ExecuteTransaction", {"TransactStatements": [read, write]})
    assert transaction.value.message == (
        "ExecuteTransaction API does not support both read and write operations in the same "
        "request."
    )


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM {} WHERE pk = 'a' AND sk = 1",
        "DELETE FROM {} WHERE pk = 'a' AND sk = 1",
        "INSERT INTO {} VALUE {{'pk': 'a', 'sk': 1}}",
    ],
)
def test_an_item_is_named_once_in_a_batch_and_a_transaction(
    call: Any, table: str, statement: str
) -> None:
    twice = [{"Statement": statement.format(table)}] * 2
    with pytest.raises(ValidationError) as batch:
        call("BatchExecuteStatement", {"Statements": twice})
    assert batch.value.message == "Provided list of item keys contains duplicates"
    with pytest.raises(ValidationError) as transaction:
        call("ExecuteTransaction", {"TransactStatements": twice})
    assert transaction.value.message == (
        "Transaction request cannot include multiple operations on one item"
    )
    assert call("Scan", {"TableName": table})["Count"] == 0


def test_a_wrong_statement_of_a_batch_does_not_name_its_table(
    call: Any, table: str, put: Any
) -> None:
    put("a", 1)
    statements = [
        f"INSERT INTO {table} VALUE {{'pk': 'a', 'sk': 1}}",
        f"INSERT INTO {table} VALUE {{'pk': 'b'}}",
    ]
    request = {"Statements": [{"Statement": each} for each in statements]}
    taken, wrong = call("BatchExecuteStatement", request)["Responses"]
    assert (taken["TableName"], taken["Error"]["Code"]) == (table, "DuplicateItem")
    assert wrong["Error"]["Code"] == "ValidationError"
    assert "TableName" not in wrong
