"""PartiQL's refusals, in the words that DynamoDB had for them in October 2026."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import TransactionCanceled, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
BROKEN = "Statement wasn't well formed, can't be processed: "


def _refusal(call: Call, statement: str, *parameters: dict[str, Any]) -> str:
    request: dict[str, Any] = {"Statement": statement}
    if parameters:
        request["Parameters"] = list(parameters)
    with pytest.raises(ValidationError) as caught:
        call("ExecuteStatement", request)
    return caught.value.message


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("SELECT * FROM {} WHERE", "Unexpected term"),
        ("SELECT * FROM {} WHERE ;", "Unexpected term"),
        ("SELECT * FROM {} WHERE (", "Unexpected term"),
        ("SELECT * FROM {} WHERE NOT", "Unexpected term"),
        ("SELECT * FROM", "Unexpected term"),
        ("SELECT *", "Expected FROM after SELECT list"),
        (
            "SELECT * FROM {} WHERE pk = 'a' AND",
            "Missing right-hand side expression of infix operator",
        ),
        ("SELECT * FROM {} WHERE pk =", "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM {} WHERE sk BETWEEN 1 AND", "Expected expression after AND"),
        ("SELECT * FROM {} WHERE ORDER BY pk", "Unexpected keyword"),
        ("SELECT * FROM {} WHERE user = 'a'", "Unexpected keyword"),
        ("SELECT user FROM {}", "Unexpected keyword"),
        ("SELECT * FROM {} WHERE IS NULL", "Unexpected operator"),
        ("SELECT * FROM {} WHERE pk = LIKE", "Unexpected operator"),
        ("SELECT * FROM {} WHERE pk = 'a' AND x IS FOO", "Expected type name"),
        ("SELECT * FROM {} WHERE pk = 'a' AND m.inner = 1", "Invalid path dot component"),
        ("UPDATE {} SET m.inner = 1 WHERE pk = 'a' AND sk = 1", "Invalid path dot component"),
        ("UPDATE {} SET user = 1 WHERE pk = 'a'", "Expected identifier for simple path"),
        ("UPDATE {}", "Expected data manipulation"),
        ("DELETE FROM", "Expected identifier for simple path"),
        ("DELETE FROM WHERE pk = 'a'", "Expected identifier for simple path"),
        ("DELETE {}", "Expected FROM after DELETE"),
    ],
)
def test_a_statement_that_is_not_well_formed(
    call: Call, table: str, statement: str, reason: str
) -> None:
    assert _refusal(call, statement.format(table)) == f"{BROKEN}{reason}"


def test_a_reserved_word_is_a_name_when_it_is_quoted(call: Call, table: str, put: Any) -> None:
    item = put("a", 1, user="mia", m={"M": {"inner": {"N": "1"}}})
    statement = (
        f"SELECT * FROM {table} WHERE pk = 'a' AND sk = 1 AND \"user\" = 'mia' AND m.\"inner\" = 1"
    )
    assert call("ExecuteStatement", {"Statement": statement})["Items"] == [item]


@pytest.mark.parametrize("kind", ["INT4", "INT8", "DOUBLE PRECISION", "CHARACTER VARYING"])
def test_a_question_is_no_statement(call: Call, kind: str) -> None:
    assert _refusal(call, f"x IS {kind}") == "Unsupported operation: IsType"


def test_writes_do_not_go_to_an_index(call: Call, table: str, put: Any) -> None:
    put("a", 1, g="x")
    where = "WHERE pk = 'a' AND sk = 1"
    index = f'"{table}"."everything"'
    on_index = "This operation is not supported on an index"
    assert _refusal(call, f"UPDATE {index} SET a = 1 {where}") == on_index
    assert _refusal(call, f"DELETE FROM {index} {where}") == on_index
    for name in ("everything", "none"):
        inserted = f"INSERT INTO \"{table}\".\"{name}\" VALUE {{'pk': 'b', 'sk': 1}}"
        assert _refusal(call, inserted) == "FROM clause may only contain a single table name"
    assert call("Scan", {"TableName": table})["Count"] == 1


def test_a_function_is_no_value_of_an_item(call: Call, table: str) -> None:
    statement = f"INSERT INTO {table} VALUE {{'pk': 'a', 'sk': 1, 'ss': set_add(ss, <<'a'>>)}}"
    column = statement.index("set_add") + 1
    assert _refusal(call, statement) == (
        f"Unsupported data type: set_add under key root at 1:{column}:7"
    )
    assert _refusal(call, f"SELECT COUNT(*) FROM {table}") == "Unexpected path component at 1:8:5"


@pytest.mark.parametrize(
    "where",
    [
        "pk = 'a' AND x = '1' OR pk = 'a' AND sk = 2",
        "pk = 'a' AND x <> '1' OR pk = 'a' AND sk = 2",
        "pk = 'a' AND (sk > 1 OR sk < 5)",
        "pk = 'a' AND (sk = 1 OR x = '1')",
        "pk IN ['a', 'b', 'a']",
    ],
)
def test_alternatives_may_not_overlap(call: Call, table: str, where: str) -> None:
    assert _refusal(call, f"SELECT * FROM {table} WHERE {where}") == (
        "Overlapping conditions with range keys are not supported in where clause"
    )


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("pk = 'a' AND NOT sk = 1 OR pk = 'a' AND sk = 2", [2, 3]),
        ("pk = 'a' AND sk <> 1 OR pk = 'a' AND sk = 2", [2, 3]),
        ("pk = 'a' OR pk = 'a' AND NOT sk = 1", [1, 2, 3]),
        ("pk = 'a' AND (sk = 1 OR sk = 3)", [1, 3]),
        ("pk = 'a' AND (sk < 2 OR sk > 2)", [1, 3]),
        ("pk = 'a' AND (x = '1' OR y = '2')", [1]),
        ("pk = 'a' OR x = '1'", [1, 2, 3]),
    ],
)
def test_alternatives_that_do_not_overlap(
    call: Call, table: str, put: Any, where: str, found: list[int]
) -> None:
    for sk in (1, 2, 3):
        put("a", sk, x=str(sk), y="9")
    answer = call("ExecuteStatement", {"Statement": f"SELECT * FROM {table} WHERE {where}"})
    assert sorted(int(item["sk"]["N"]) for item in answer["Items"]) == found


def test_how_many_values_in_can_have(call: Call, table: str, put: Any) -> None:
    def listed(count: int) -> str:
        return ", ".join(f"'k{at}'" for at in range(count))

    for at in range(50):
        put(f"k{at}", 1)
    select = f"SELECT * FROM {table} WHERE"
    assert _refusal(call, f"{select} x IN [{listed(101)}]") == (
        "The IN operator is provided with too many operands; number of operands: 101"
    )
    too_many = "Too many decomposed read operations for a given query."
    assert _refusal(call, f"{select} pk IN [{listed(51)}]") == too_many
    assert _refusal(call, f"{select} pk IN [{listed(26)}] AND sk IN [1, 2]") == too_many
    # A page of what is read by IN has at most ten items.
    request: dict[str, Any] = {"Statement": f"{select} pk IN [{listed(50)}]"}
    sizes = []
    while True:
        answer = call("ExecuteStatement", request)
        sizes.append(len(answer["Items"]))
        if "NextToken" not in answer:
            break
        request["NextToken"] = answer["NextToken"]
    assert (sum(sizes), max(sizes)) == (50, 10)


def test_reads_of_batches_and_transactions_name_the_key_and_nothing_else(
    call: Call, table: str, put: Any
) -> None:
    put("a", 1, x="1")
    key = "pk = 'a' AND sk = 1"
    for condition in ("attribute_exists(x)", "x = '1'"):
        statement = f"SELECT * FROM {table} WHERE {key} AND {condition}"
        [answer] = call("BatchExecuteStatement", {"Statements": [{"Statement": statement}]})[
            "Responses"
        ]
        assert answer["Error"] == {
            "Code": "ValidationError",
            "Message": "Select statements within BatchExecuteStatement must specify the primary "
            "key in the where clause.",
        }
        with pytest.raises(ValidationError) as caught:
            call("ExecuteTransaction", {"TransactStatements": [{"Statement": statement}]})
        assert caught.value.message == (
            "Validation failed in TransactStatements[0]: Select statements within "
            "ExecuteTransaction must specify the primary key in the where clause."
        )


def test_exists_says_something_about_its_item(call: Call, table: str, put: Any) -> None:
    put("a", 1, x="1")
    write = {"Statement": f"INSERT INTO {table} VALUE {{'pk': 'b', 'sk': 1}}"}
    key = f"SELECT * FROM {table} WHERE pk = 'a' AND sk = 1"
    alone = {"Statement": f"EXISTS({key})"}
    with pytest.raises(ValidationError) as caught:
        call("ExecuteTransaction", {"TransactStatements": [alone, write]})
    assert caught.value.message == (
        "Validation failed in TransactStatements[0]: EXISTS() must contain a single item read with "
        "additional condition"
    )
    wrong = {"Statement": f"EXISTS({key} AND x = '2')"}
    with pytest.raises(TransactionCanceled):
        call("ExecuteTransaction", {"TransactStatements": [wrong, write]})
    right = {"Statement": f"EXISTS({key} AND x = '1')"}
    call("ExecuteTransaction", {"TransactStatements": [right, write]})
    assert call("Scan", {"TableName": table})["Count"] == 2


def test_a_transaction_says_which_statement_is_not_well_formed(call: Call, table: str) -> None:
    statements = [
        f"SELECT * FROM {table} WHERE pk = 'a' AND sk = 1",
        f"SELECT * FROM {table} WHERE",
    ]
    request = {"TransactStatements": [{"Statement": each} for each in statements]}
    with pytest.raises(ValidationError) as caught:
        call("ExecuteTransaction", request)
    assert caught.value.message == (
        f"Validation failed in TransactStatements[1]: {BROKEN}Unexpected term"
    )


@pytest.mark.parametrize("number", ["1e99999999999", "1e2147483648", "-1e99999999999"])
def test_a_parameter_is_read_as_javas_bigdecimal_does(call: Call, table: str, number: str) -> None:
    value = {"N": number}
    reason = f"The parameter cannot be converted to a numeric value: {number}"
    for given in (value, {"L": [value]}, {"M": {"x": value}}, {"NS": [number]}):
        statement = f"INSERT INTO {table} VALUE {{'pk': 'a', 'sk': 1, 'x': ?}}"
        assert _refusal(call, statement, given) == reason
    wish = {"Statement": f"SELECT * FROM {table} WHERE pk = ?", "Parameters": [value]}
    with pytest.raises(ValidationError) as caught:
        call("ExecuteTransaction", {"TransactStatements": [wish]})
    assert caught.value.message == reason
