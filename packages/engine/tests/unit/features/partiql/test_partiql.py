from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.engine import Engine
from keyfold_engine.errors import (
    ConditionFailed,
    DuplicateItem,
    IdempotentParameterMismatch,
    TableNotFound,
    TransactionCanceled,
    ValidationError,
)
from keyfold_engine.expressions.ast import (
    AddAction,
    And,
    Arithmetic,
    Between,
    Compare,
    DeleteAction,
    Function,
    In,
    Not,
    Path,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
)
from keyfold_engine.features.partiql.parser import parse
from keyfold_engine.features.partiql.statements import (
    ExistsStatement,
    Insert,
    Ordering,
    Removal,
    Select,
    UpdateStatement,
)

A, PK = Path(("a",)), Path(("pk",))
ONE, X = Value({"N": "1"}), Value({"S": "x"})
MALFORMED = "Statement wasn't well formed, can't be processed: "
OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open() as opened:
        opened.call(
            "CreateTable",
            {
                "TableName": "tab",
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "sk", "AttributeType": "N"},
                    {"AttributeName": "city", "AttributeType": "S"},
                ],
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "byCity",
                        "KeySchema": [{"AttributeName": "city", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    },
                    {
                        "IndexName": "cities",
                        "KeySchema": [{"AttributeName": "city", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    },
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        for at in range(5):
            opened.call(
                "ExecuteStatement",
                {
                    "Statement": "INSERT INTO tab VALUE {'pk': 'p', 'sk': ?, 'a': {'b': [?]}}",
                    "Parameters": [{"N": str(at)}, {"N": str(at * 10)}],
                },
            )
        yield opened


def _run(engine: Engine, statement: str, *parameters: Any, **more: Any) -> dict[str, Any]:
    request = {"Statement": statement, **more}
    if parameters:
        request["Parameters"] = list(parameters)
    return engine.call("ExecuteStatement", request)


def _sort_keys(answer: dict[str, Any]) -> list[int]:
    return [int(item["sk"]["N"]) for item in answer["Items"]]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("SELECT * FROM tab", Select("tab", None, None, None)),
        (
            "select a, m.b[0]['c d'] from \"t-1\".\"i.x\" where pk = 'it''s' order by sk desc;",
            Select(
                "t-1",
                "i.x",
                (A, Path(("m", "b", 0, "c d"))),
                Compare("=", PK, Value({"S": "it's"})),
                (Ordering("sk", descending=True),),
            ),
        ),
        (
            "INSERT INTO tab VALUE {'a': -1.50, 'l': [true, null, {}], 's': <<'x','y'>>}",
            Insert(
                "tab",
                {
                    "a": {"N": "-1.5"},
                    "l": {"L": [{"BOOL": True}, {"NULL": True}, {"M": {}}]},
                    "s": {"SS": ["x", "y"]},
                },
            ),
        ),
        (
            "UPDATE tab SET a = a + 1 SET b = list_append(b, [1]) REMOVE c, d WHERE pk = 'x' "
            "RETURNING MODIFIED NEW *",
            UpdateStatement(
                "tab",
                UpdateActions(
                    (
                        SetAction(A, Arithmetic("+", A, ONE)),
                        SetAction(
                            Path(("b",)),
                            Function("list_append", (Path(("b",)), Value({"L": [{"N": "1"}]}))),
                        ),
                        RemoveAction(Path(("c",))),
                        RemoveAction(Path(("d",))),
                    )
                ),
                Compare("=", PK, X),
                "MODIFIED_NEW",
            ),
        ),
        (
            "UPDATE tab SET a = set_add(a, <<1>>), b = set_delete(b, <<'x'>>)",
            UpdateStatement(
                "tab",
                UpdateActions(
                    (
                        AddAction(A, Value({"NS": ["1"]})),
                        DeleteAction(Path(("b",)), Value({"SS": ["x"]})),
                    )
                ),
                None,
                None,
            ),
        ),
        (
            "DELETE FROM tab WHERE pk = 'x' RETURNING ALL OLD *",
            Removal("tab", Compare("=", PK, X), "ALL_OLD"),
        ),
        (
            "EXISTS(SELECT * FROM tab WHERE pk = 'x')",
            ExistsStatement(Select("tab", None, None, Compare("=", PK, X))),
        ),
    ],
)
def test_statements(text: str, statement: object) -> None:
    assert parse(text) == statement


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("a BETWEEN 1 AND 1", Between(A, ONE, ONE)),
        ("a IN [1, 'x']", In(A, (ONE, X))),
        ("a IN (1, 'x')", In(A, (ONE, X))),
        ("a IS MISSING", Function("attribute_not_exists", (A,))),
        ("a IS NOT MISSING", Not(Function("attribute_not_exists", (A,)))),
        ("a IS NULL", Compare("=", A, Value({"NULL": True}))),
        ("NOT BEGINS_WITH(a, 'x')", Not(Function("begins_with", (A, X)))),
        ("size(a) > 1", Compare(">", Function("size", (A,)), ONE)),
        ("a != 1", And((Function("attribute_exists", (A,)), Compare("<>", A, ONE)))),
        ("(a = 1)", Compare("=", A, ONE)),
    ],
)
def test_conditions(text: str, condition: object) -> None:
    statement = parse(f"SELECT * FROM tab WHERE {text}")
    assert isinstance(statement, Select)
    assert statement.where == condition


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECTT * FROM tab",
        "SELECT",
        "SELECT * FROM",
        "SELECT * FROM tab WHERE",
        "SELECT * FROM tab WHERE a",
        "SELECT * FROM tab WHERE size(a)",
        "INSERT INTO tab VALUE 5",
        "INSERT INTO tab VALUE {'a': <<1, 'x'>>}",
        "INSERT INTO tab VALUE {'a': 'unclosed}",
        "UPDATE tab WHERE pk = 'x'",
        "SELECT * FROM tab WHERE " + "(" * 500,
        "INSERT INTO tab VALUE " + "[" * 500,
    ],
)
def test_statements_that_are_not_well_formed(text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        parse(text)
    assert caught.value.message.startswith(MALFORMED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (text, f"{MALFORMED}Unexpected token after expression")
            for text in (
                "SELECT * FROM tab WHERE pk = 1 foo",
                "SELECT * FROM tab WHERE pk = 1 e5",
                "SELECT * FROM tab WHERE pk = 1)",
                "SELECT * FROM tab ORDER BY pk WHERE pk = 1",
                "INSERT INTO tab VALUE {'pk': 1} foo",
                "INSERT INTO tab t VALUE {'pk': 1}",
                "UPDATE tab SET a = 9 WHERE pk = 1 foo",
                "DELETE FROM tab WHERE pk = 1 ORDER BY pk",
            )
        ),
        *(
            (f"SELECT * FROM tab WHERE pk = {text}", MALFORMED)
            for text in ("1e2147483648", "1.5e-2147483647", f"1e{'9' * 5000}", "1 # a", "1 /* a")
        ),
        *(
            (text, "Aliasing is not supported")
            for text in (
                "SELECT * FROM tab t WHERE pk = 1",
                "SELECT * FROM tab AS t WHERE pk = 1",
                "UPDATE tab t SET a = 3 WHERE pk = 1",
                "DELETE FROM tab t WHERE pk = 1",
            )
        ),
        *(
            (f"INSERT INTO tab VALUE {{'pk': 1, 'a': {text}}}", f"{OVERFLOW} under root{where}")
            for text, where in (("1e126", ""), ("{'x': 1e126}", ".x"), ("[1, 1e126]", "[1]"))
        ),
        ("SELECT * FROM tab WHERE pk = 1e126", f"{OVERFLOW} under root"),
        ("SELECT * FROM tab WHERE frob(a) = 1", "Unrecognized function: frob at 1:25:4"),
        ("SELECT * FROM tab\nWHERE EXISTS(a)", "Unrecognized function: exists at 2:7:6"),
        (
            "SELECT * FROM tab WHERE attribute_exists('a')",
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        (
            "SELECT * FROM tab WHERE attribute_exists()",
            "Incorrect number of operands for operator or function; operator or function: "
            "attribute_exists, number of operands: 0",
        ),
        (
            "UPDATE tab SET t = set_add(ss, <<'x'>>) WHERE pk = 1",
            "The first argument to SET_ADD must equal the assignment value at 1:20:7",
        ),
        (
            "UPDATE tab SET ss = set_delete(ss, 'x') WHERE pk = 1",
            "The second argument to SET_DELETE must be a value with type SET at 1:32:2",
        ),
        (
            "UPDATE tab SET ss = set_add(ss) WHERE pk = 1",
            "SET_ADD must have exactly two arguments at 1:21:7",
        ),
        ("UPDATE tab SET ss = set_add(ss, <<>>) WHERE pk = 1", "Empty bags are not supported"),
        ('SELECT * FROM ""', "Path component cannot be an empty string"),
        ('SELECT * FROM tab.""', "Path component cannot be an empty string"),
        ("SELECT * FROM a.b.c", "A path may contain at most 2 components in the FROM clause"),
        (
            "DELETE FROM tab WHERE pk = 'x' RETURNING MODIFIED NEW *",
            "Invalid returning clause: RETURNING MODIFIED NEW *. Only RETURNING ALL OLD * is "
            "allowed in DELETE statements.",
        ),
        (
            "SELECT * FROM tab WHERE a >= true",
            "Incorrect operand type for operator or function; operator or function: >=, operand "
            "type: BOOL",
        ),
        (
            "SELECT * FROM tab WHERE a BETWEEN null AND null",
            "Incorrect operand type for operator or function; operator or function: BETWEEN, "
            "operand type: NULL",
        ),
    ],
)
def test_statements_that_cannot_work(text: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        parse(text)
    assert caught.value.message == message


@pytest.mark.parametrize("parameters", [[], [{"S": "a"}], [{"S": "a"}] * 3])
def test_parameters_and_question_marks_must_match(parameters: list[Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        parse("SELECT * FROM tab WHERE a = ? AND b = ?", parameters)
    assert caught.value.message == "Number of parameters in request and statement don't match."


WORDS = st.sampled_from(
    (
        *("SELECT", "*", "FROM", "tab", "WHERE", "a", "=", "1", "'x'", "?", "AND", "OR", "NOT"),
        *("INSERT", "INTO", "VALUE", "{", "}", "[", "]", "<<", ">>", ":", ",", "UPDATE", "SET"),
        *("REMOVE", "DELETE", "IS", "MISSING", "IN", "(", ")", "size", "-", '"', "'"),
    )
)


@given(st.text(max_size=60) | st.lists(WORDS, max_size=25).map(" ".join))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with suppress(ValidationError):
        parse(text, [{"S": "x"}])


def test_select_by_key_range_and_order(engine: Engine) -> None:
    answer = _run(
        engine, "SELECT sk FROM tab WHERE pk = 'p' AND sk BETWEEN 1 AND 3 ORDER BY sk DESC"
    )
    assert _sort_keys(answer) == [3, 2, 1]


def test_select_names_columns_by_the_last_name_and_its_indexes(engine: Engine) -> None:
    # PyDynamoDB's tests, which run on Amazon, expect `size[0]` and `max[1]` for `col_map."max"[1]`.
    answer = _run(engine, "SELECT a.b, a.b[0] FROM tab WHERE pk = 'p' AND sk = 2")
    assert answer["Items"] == [{"b": {"L": [{"N": "20"}]}, "b[0]": {"N": "20"}}]


def test_select_without_keys_reads_the_table(engine: Engine) -> None:
    assert sorted(_sort_keys(_run(engine, "SELECT * FROM tab WHERE a.b[0] > 15"))) == [2, 3, 4]


def test_select_from_several_partitions(engine: Engine) -> None:
    _run(engine, "INSERT INTO tab VALUE {'pk': 'q', 'sk': 7}")
    answer = _run(engine, "SELECT * FROM tab WHERE pk IN ['q', 'p'] AND sk > 3")
    assert _sort_keys(answer) == [7, 4]


def test_select_goes_on_with_its_token(engine: Engine) -> None:
    _run(engine, "INSERT INTO tab VALUE {'pk': 'q', 'sk': 7}")
    statement = "SELECT * FROM tab WHERE pk IN ['p', 'q']"
    found: list[int] = []
    more: dict[str, Any] = {}
    while True:
        answer = _run(engine, statement, Limit=2, **more)
        found += _sort_keys(answer)
        if "NextToken" not in answer:
            break
        more = {"NextToken": answer["NextToken"]}
    assert found == [0, 1, 2, 3, 4, 7]


def test_a_token_belongs_to_its_statement(engine: Engine) -> None:
    token = _run(engine, "SELECT * FROM tab", Limit=1)["NextToken"]
    with pytest.raises(ValidationError, match=r"^NextToken does not match request$"):
        _run(engine, "SELECT sk FROM tab", NextToken=token)
    with pytest.raises(ValidationError, match=r"^Invalid NextToken$"):
        _run(engine, "SELECT * FROM tab", NextToken="garbage")


def test_select_from_an_index(engine: Engine) -> None:
    _run(engine, "UPDATE tab SET city = 'Rome' WHERE pk = 'p' AND sk = 3")
    assert _sort_keys(_run(engine, "SELECT * FROM tab.\"byCity\" WHERE city = 'Rome'")) == [3]
    (item,) = _run(engine, "SELECT * FROM tab.cities WHERE city = 'Rome'")["Items"]
    assert sorted(item) == ["city", "pk", "sk"]


def test_select_without_keys_sees_only_what_an_index_shows(engine: Engine) -> None:
    _run(engine, "UPDATE tab SET city = 'Rome' WHERE pk = 'p' AND sk = 3")
    assert _run(engine, "SELECT * FROM tab.cities WHERE a IS NOT MISSING")["Items"] == []
    assert len(_run(engine, "SELECT * FROM tab.cities WHERE NOT a = 1")["Items"]) == 1


@pytest.mark.parametrize(
    ("statement", "more", "message"),
    [
        ("SELECT * FROM tab.nope", {}, "The table does not have the specified index"),
        (
            "SELECT * FROM tab.cities",
            {"ConsistentRead": True},
            "Strongly consistent read is not supported on Global Secondary Indexes",
        ),
        (
            "SELECT a FROM tab.cities WHERE city = 'Rome'",
            {},
            "One or more parameter values were invalid: Global secondary index cities does not "
            "project [a]",
        ),
        (
            "SELECT pk FROM tab.cities WHERE city = 'Rome' AND a = 1",
            {},
            "One or more parameter values were invalid: Secondary index cities does not project "
            "one or more filter attributes: [a]",
        ),
    ],
)
def test_reads_that_an_index_does_not_allow(
    engine: Engine, statement: str, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        _run(engine, statement, **more)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "SELECT * FROM tab ORDER BY sk",
            "Must have WHERE clause in the statement when using ORDER BY clause.",
        ),
        (
            "SELECT * FROM tab WHERE sk = 1 ORDER BY sk",
            "Must have at least one non-optional hash key condition in WHERE clause when using "
            "ORDER BY clause.",
        ),
        (
            "SELECT * FROM tab WHERE pk = 'p' ORDER BY a",
            "Variable reference a in ORDER BY clause must be part of the primary key",
        ),
        (
            "SELECT * FROM tab WHERE pk = 5",
            "Key attribute's data type should match its data type in table's schema, key: pk",
        ),
        (
            "UPDATE tab SET a = 1 WHERE pk = 'p'",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
        (
            "DELETE FROM tab WHERE sk = 1",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
    ],
)
def test_statements_that_the_table_does_not_allow(
    engine: Engine, statement: str, message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        _run(engine, statement)
    assert caught.value.message == message


def test_insert_never_replaces(engine: Engine) -> None:
    with pytest.raises(DuplicateItem, match=r"^Duplicate primary key exists in table$"):
        _run(engine, "INSERT INTO tab VALUE {'pk': 'p', 'sk': 1}")


def test_update_changes_what_is_there_and_makes_nothing(engine: Engine) -> None:
    answer = _run(
        engine,
        "UPDATE tab SET n = 1 SET t = set_add(t, <<'z'>>) REMOVE a WHERE pk = 'p' AND sk = 1 "
        "RETURNING ALL NEW *",
    )
    assert answer["Items"] == [
        {"pk": {"S": "p"}, "sk": {"N": "1"}, "n": {"N": "1"}, "t": {"SS": ["z"]}}
    ]
    with pytest.raises(ConditionFailed):
        _run(engine, "UPDATE tab SET n = 1 WHERE pk = 'new' AND sk = 1")
    with pytest.raises(ConditionFailed):
        _run(engine, "UPDATE tab SET n = 2 WHERE pk = 'p' AND sk = 1 AND n = 5")
    assert _run(engine, "SELECT * FROM tab WHERE pk = 'new'")["Items"] == []


def test_update_returns_what_it_modified(engine: Engine) -> None:
    old = _run(
        engine,
        "UPDATE tab SET a.b[0] = 5 WHERE pk = 'p' AND sk = 3 RETURNING MODIFIED OLD *",
    )
    assert old["Items"] == [{"a": {"M": {"b": {"L": [{"N": "30"}]}}}}]
    new = _run(
        engine, "UPDATE tab SET a.b[0] = 6 WHERE pk = 'p' AND sk = 3 RETURNING MODIFIED NEW *"
    )
    assert new["Items"] == [{"a": {"M": {"b": {"L": [{"N": "6"}]}}}}]


def test_delete_returns_what_was_there(engine: Engine) -> None:
    gone = "DELETE FROM tab WHERE pk = 'p' AND sk = 0 RETURNING ALL OLD *"
    assert _sort_keys(_run(engine, gone)) == [0]
    assert _run(engine, gone)["Items"] == []


def test_delete_checks_conditions_only_on_items_that_are_there(engine: Engine) -> None:
    with pytest.raises(ConditionFailed):
        _run(engine, "DELETE FROM tab WHERE pk = 'p' AND sk = 0 AND a = 1")
    assert _run(engine, "DELETE FROM tab WHERE pk = 'nobody' AND sk = 0 AND a = 1") == {"Items": []}


def test_a_missing_attribute_differs_from_nothing(engine: Engine) -> None:
    assert _run(engine, "SELECT * FROM tab WHERE pk = 'p' AND nope <> 1")["Items"] == []
    assert len(_run(engine, "SELECT * FROM tab WHERE pk = 'p' AND NOT nope = 1")["Items"]) == 5


def test_consumed_capacity_counts_what_was_read(engine: Engine) -> None:
    answer = _run(
        engine, "SELECT sk FROM tab WHERE pk = 'p' AND a = 1", ReturnConsumedCapacity="TOTAL"
    )
    assert answer["ConsumedCapacity"] == {"TableName": "tab", "CapacityUnits": 0.5}


def _batch(engine: Engine, *statements: str) -> list[dict[str, Any]]:
    request = {"Statements": [{"Statement": statement} for statement in statements]}
    responses: list[dict[str, Any]] = engine.call("BatchExecuteStatement", request)["Responses"]
    return responses


def test_a_batch_answers_each_statement(engine: Engine) -> None:
    found, absent, lost, partial = _batch(
        engine,
        "SELECT sk FROM tab WHERE pk = 'p' AND sk = 1",
        "SELECT * FROM tab WHERE pk = 'p' AND sk = 99",
        "SELECT * FROM nowhere WHERE pk = 'p'",
        "SELECT * FROM tab WHERE pk = 'p'",
    )
    assert found == {"TableName": "tab", "Item": {"sk": {"N": "1"}}}
    assert absent == {"TableName": "tab"}
    assert lost["Error"]["Code"] == "ResourceNotFound"
    assert partial["Error"] == {
        "Code": "ValidationError",
        "Message": "Select statements within BatchExecuteStatement must specify the primary key "
        "in the where clause.",
    }


def test_failed_writes_of_a_batch_leave_the_others(engine: Engine) -> None:
    inserted, twice, changed, malformed = _batch(
        engine,
        "INSERT INTO tab VALUE {'pk': 'n', 'sk': 1}",
        "INSERT INTO tab VALUE {'pk': 'p', 'sk': 1}",
        "UPDATE tab SET a = 1 WHERE pk = 'nobody' AND sk = 1",
        "INSERT",
    )
    assert inserted == {"TableName": "tab"}
    assert twice["Error"]["Code"] == "DuplicateItem"
    assert changed["Error"]["Code"] == "ConditionalCheckFailed"
    assert malformed["Error"]["Code"] == "ValidationError"
    assert len(_run(engine, "SELECT * FROM tab WHERE pk = 'n'")["Items"]) == 1


def test_a_batch_reads_or_writes(engine: Engine) -> None:
    with pytest.raises(ValidationError):
        _batch(
            engine,
            "SELECT * FROM tab WHERE pk = 'p' AND sk = 1",
            "DELETE FROM tab WHERE pk = 'p' AND sk = 1",
        )


def _transaction(engine: Engine, *statements: str, **more: Any) -> list[dict[str, Any]]:
    request = {"TransactStatements": [{"Statement": each} for each in statements], **more}
    responses: list[dict[str, Any]] = engine.call("ExecuteTransaction", request)["Responses"]
    return responses


def test_a_transaction_does_all(engine: Engine) -> None:
    _transaction(
        engine,
        "EXISTS(SELECT * FROM tab WHERE pk = 'p' AND sk = 1 AND a IS NOT MISSING)",
        "INSERT INTO tab VALUE {'pk': 't', 'sk': 1}",
        "DELETE FROM tab WHERE pk = 'p' AND sk = 0",
    )
    found = _transaction(
        engine,
        "SELECT * FROM tab WHERE pk = 't' AND sk = 1",
        "SELECT * FROM tab WHERE pk = 'p' AND sk = 0",
    )
    assert found == [{"Item": {"pk": {"S": "t"}, "sk": {"N": "1"}}}, {}]


def test_a_transaction_does_all_or_nothing(engine: Engine) -> None:
    with pytest.raises(TransactionCanceled) as caught:
        _transaction(
            engine,
            "INSERT INTO tab VALUE {'pk': 't', 'sk': 1}",
            "INSERT INTO tab VALUE {'pk': 'p', 'sk': 1}",
            "EXISTS(SELECT * FROM tab WHERE pk = 'p' AND sk = 2 AND a = 1)",
        )
    codes = [reason.code for reason in caught.value.reasons]
    assert codes == ["None", "DuplicateItem", "ConditionalCheckFailed"]
    assert _run(engine, "SELECT * FROM tab WHERE pk = 't'")["Items"] == []


def test_a_repeated_transaction_costs_a_read(engine: Engine) -> None:
    request = {
        "TransactStatements": [{"Statement": "UPDATE tab SET n = 1 WHERE pk = 'p' AND sk = 1"}],
        "ClientRequestToken": "token",
        "ReturnConsumedCapacity": "TOTAL",
    }
    (first,) = engine.call("ExecuteTransaction", request)["ConsumedCapacity"]
    (again,) = engine.call("ExecuteTransaction", request)["ConsumedCapacity"]
    assert first == {"TableName": "tab", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}
    assert again == {"TableName": "tab", "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}


def test_a_transaction_with_a_token_happens_once(engine: Engine) -> None:
    statement = "UPDATE tab SET n = if_not_exists(n, 0) + 1 WHERE pk = 'p' AND sk = 1"
    for _ in range(2):
        _transaction(engine, statement, ClientRequestToken="once")
    (item,) = _run(engine, "SELECT n FROM tab WHERE pk = 'p' AND sk = 1")["Items"]
    assert item == {"n": {"N": "1"}}
    with pytest.raises(IdempotentParameterMismatch):
        _transaction(engine, "DELETE FROM tab WHERE pk = 'p' AND sk = 1", ClientRequestToken="once")


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            (
                "SELECT * FROM tab WHERE pk = 'p' AND sk = 1",
                "DELETE FROM tab WHERE pk = 'p' AND sk = 2",
            ),
            "ExecuteTransaction API does not support both read and write operations in the same "
            "request.",
        ),
        (
            (
                "INSERT INTO tab VALUE {'pk': 't', 'sk': 1}",
                "DELETE FROM tab WHERE pk = 'p' AND sk = 2 RETURNING ALL OLD *",
            ),
            "Validation failed in TransactStatements[1]: RETURNING clause is not supported in "
            "ExecuteTransaction.",
        ),
        (
            ("SELECT * FROM tab.cities WHERE city = 'Rome'",),
            "Validation failed in TransactStatements[0]: Reads on indices are not supported within "
            "transactions.",
        ),
    ],
)
def test_transactions_that_are_not_allowed(
    engine: Engine, statements: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        _transaction(engine, *statements)
    assert caught.value.message == message


def test_exists_is_for_transactions(engine: Engine) -> None:
    with pytest.raises(ValidationError, match="ExecuteTransaction"):
        _run(engine, "EXISTS(SELECT * FROM tab WHERE pk = 'p' AND sk = 1)")


def test_a_table_that_is_not_there(engine: Engine) -> None:
    with pytest.raises(TableNotFound):
        _run(engine, "SELECT * FROM nowhere WHERE pk = 'x'")
    with pytest.raises(TableNotFound):
        _transaction(engine, "INSERT INTO nowhere VALUE {'pk': 'x'}")


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT * FROM tab WHERE {'(' * 1_000}pk = 'a'{')' * 1_000}",
        f"INSERT INTO tab VALUE {{'pk': 'a', 'l': {'[' * 1_000}{']' * 1_000}}}",
        f"INSERT INTO tab VALUE {{'pk': 'a', 'm': {'{' + chr(39) + 'a' + chr(39) + ':'}",
        f"UPDATE tab SET a = {'list_append(' * 500}a{', a)' * 500} WHERE pk = 'a'",
        f"UPDATE tab SET a = {'if_not_exists(a, ' * 400}1{')' * 400} WHERE pk = 'a'",
        f"SELECT * FROM tab WHERE {'NOT ' * 2_000}pk = 'a'",
        f"EXISTS({'(' * 500}SELECT * FROM tab",
    ],
)
def test_a_statement_that_nests_too_deep_is_refused(engine: Engine, text: str) -> None:
    with pytest.raises(ValidationError):
        engine.call("ExecuteStatement", {"Statement": text})
