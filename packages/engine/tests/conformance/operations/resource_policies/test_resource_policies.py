"""Resource policies: kept, given back, and asked. Words as measured on Amazon, October 2026
(`ack-api-quirks`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from keyfold_engine.clients.signer import Credentials
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import (
    AccessDenied,
    PolicyNotFound,
    RequestRateExceeded,
    TableNotFound,
    ValidationError,
)
from keyfold_engine.wire import ServerSettings
from keyfold_engine.wire.background import BackgroundServer

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

_INVALID = "One or more parameter values were invalid: "
_DOCUMENT = f"{_INVALID}Invalid policy document: "
_ACCOUNT = "arn:aws:iam::123456789012"
_MIA = f"{_ACCOUNT}:user/mia"
_OTHER = "arn:aws:iam::999999999999:user/eve"


def _arn(table: str) -> str:
    return f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}"


def statement(table: str, **changes: Any) -> dict[str, Any]:
    return {
        "Effect": "Deny",
        "Principal": {"AWS": _MIA},
        "Action": "dynamodb:GetItem",
        "Resource": _arn(table),
        **changes,
    }


def policy(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def _put(call: Call, table: str, text: str, **more: Any) -> str:
    answer = call("PutResourcePolicy", {"ResourceArn": _arn(table), "Policy": text, **more})
    revision: str = answer["RevisionId"]
    return revision


def test_a_policy_comes_back_in_its_canonical_spelling(call: Call, table: str) -> None:
    given = {
        "Statement": {
            "Resource": [_arn(table)],
            "Action": ["dynamodb:GetItem"],
            "Principal": {"AWS": "123456789012"},
            "Effect": "allow",
            "Sid": "one",
        }
    }
    revision = _put(call, table, json.dumps(given, indent=2))
    assert len(revision) == 13
    assert call("GetResourcePolicy", {"ResourceArn": _arn(table)}) == {
        "Policy": (
            '{"Version":"2008-10-17","Statement":[{"Sid":"one","Effect":"Allow","Principal":'
            f'{{"AWS":"{_ACCOUNT}:root"}},"Action":"dynamodb:GetItem",'
            f'"Resource":"{_arn(table)}"}}]}}'
        ),
        "RevisionId": revision,
    }


def test_the_same_policy_again_keeps_its_revision(call: Call, table: str) -> None:
    first = _put(call, table, policy(statement(table)))
    again = policy(statement(table, Action=["dynamodb:GetItem"]))
    assert _put(call, table, f" {again} ") == first
    changed = _put(call, table, policy(statement(table, Action="dynamodb:PutItem")))
    assert int(changed) > int(first)


def test_revisions_are_compared_before_a_change(call: Call, table: str) -> None:
    text = policy(statement(table))
    with pytest.raises(PolicyNotFound, match=f"but table {table} has no associated policy"):
        _put(call, table, text, ExpectedRevisionId="1")
    revision = _put(call, table, text, ExpectedRevisionId="NO_POLICY")
    with pytest.raises(PolicyNotFound, match=f"has revision id {revision}"):
        _put(call, table, policy(statement(table, Sid="x")), ExpectedRevisionId="NO_POLICY")
    delete = {"ResourceArn": _arn(table), "ExpectedRevisionId": revision}
    assert call("DeleteResourcePolicy", delete) == {"RevisionId": revision}
    assert call("DeleteResourcePolicy", {"ResourceArn": _arn(table)}) == {}
    with pytest.raises(PolicyNotFound) as refused:
        call("GetResourcePolicy", {"ResourceArn": _arn(table)})
    assert refused.value.message == (
        f"Resource-based policy not found for the provided ResourceArn: {_arn(table)}"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", f"{_DOCUMENT}This policy contains invalid Json"),
        ("", f"{_DOCUMENT}This policy contains invalid Json"),
        (policy(), f"{_DOCUMENT}Could not parse the policy: Statement is empty!"),
        (
            json.dumps({"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "*"}]}),
            f"{_DOCUMENT}Missing required field Resource",
        ),
        (
            policy(statement("T", Sid="a"), statement("T", Sid="a")),
            f"{_DOCUMENT}The Statement Ids in the policy are not unique",
        ),
        (
            policy(statement("T", Action="dynamodb:GetRecords")),
            f'{_DOCUMENT}The following action names are invalid: "dynamodb:GetRecords"',
        ),
        (
            policy(statement("T", Principal={"AWS": "mia"})),
            f"{_INVALID}Invalid principal in policy document.",
        ),
        (
            policy(statement("T", Effect="Allow", Principal="*")),
            "Resource-based policy grants unbounded access in one or more elements. Please revise "
            "the policy to ensure least-privilege form of access",
        ),
        (
            policy(statement("T", Condition={"StringEquals": {"aws:RequestTag/x": "y"}})),
            f"{_DOCUMENT}keyfold does not know the condition key aws:RequestTag/x",
        ),
        ("x" * 20_481, f"{_INVALID}Maximum policy size of 20480 bytes exceeded"),
    ],
)
def test_a_wrong_policy_is_refused(call: Call, table: str, text: str, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        _put(call, table, text)
    assert refused.value.message == message
    with pytest.raises(PolicyNotFound):
        call("GetResourcePolicy", {"ResourceArn": _arn(table)})


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("Table", f"{_INVALID}ARNs must start with 'arn:': Table"),
        (
            f"{_arn('Table')}/backup/1",
            f"{_INVALID}Provided Arn is not a DynamoDB resource arn: {_arn('Table')}/backup/1",
        ),
        (
            f"{_arn('Table')}/index/i",
            f"{_INVALID}Invalid resource arn provided, only table or stream is accepted. Provided "
            f"resource arn: {_arn('Table')}/index/i",
        ),
        (
            _arn("Table").replace("us-east-1", "eu-west-1"),
            f"{_INVALID}Invalid resource Arn: {_arn('Table').replace('us-east-1', 'eu-west-1')}",
        ),
        (
            _arn("Table").replace("123456789012", "999999999999"),
            "This action is only supported by accounts that match the resource owner’s account.",
        ),
    ],
)
def test_a_wrong_resource_is_refused(call: Call, arn: str, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        call("GetResourcePolicy", {"ResourceArn": arn})
    assert refused.value.message == message


def test_a_resource_that_is_not_there(call: Call, table: str, name: str) -> None:
    with pytest.raises(TableNotFound) as refused:
        call("GetResourcePolicy", {"ResourceArn": _arn(f"{name}x")})
    assert refused.value.message == f"Requested resource not found: Table: {name}x not found"
    with pytest.raises(TableNotFound) as refused:
        call("GetResourcePolicy", {"ResourceArn": f"{_arn(table)}/stream/1"})
    assert refused.value.message == (
        f"Requested resource not found: Stream: 1 not found for Table: {table}"
    )


_TABLE: dict[str, Any] = {
    "TableName": "Orders",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
_GET: dict[str, Any] = {"TableName": "Orders", "Key": {"pk": {"S": "mia"}}}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open() as engine:
        engine.call("CreateTable", _TABLE)
        yield engine


def _may(engine: Engine, operation: str, request: dict[str, Any], caller: str = _MIA) -> bool:
    try:
        engine.call(operation, request, caller=caller)
    except AccessDenied:
        return False
    return True


def test_a_denied_caller_is_told_and_others_are_not(engine: Engine) -> None:
    _put(engine.call, "Orders", policy(statement("Orders")))
    with pytest.raises(AccessDenied) as refused:
        engine.call("GetItem", _GET, caller=_MIA)
    assert refused.value.message == (
        f"User: {_MIA} is not authorized to perform: dynamodb:GetItem on resource: "
        f"{_arn('Orders')} with an explicit deny in a resource-based policy"
    )
    assert _may(engine, "GetItem", _GET, f"{_ACCOUNT}:user/leo")
    item = {"TableName": "Orders", "Item": {"pk": {"S": "a"}}}
    assert _may(engine, "PutItem", item)
    assert not _may(engine, "TransactGetItems", {"TransactItems": [{"Get": _GET}]})
    assert _may(engine, "BatchGetItem", {"RequestItems": {"Orders": {"Keys": [_GET["Key"]]}}})


def test_another_account_needs_to_be_allowed(engine: Engine) -> None:
    assert not _may(engine, "GetItem", _GET, _OTHER)
    allow = statement("Orders", Effect="Allow", Principal={"AWS": "999999999999"})
    _put(engine.call, "Orders", policy(allow))
    assert _may(engine, "GetItem", _GET, _OTHER)
    assert not _may(engine, "PutItem", {"TableName": "Orders", "Item": _GET["Key"]}, _OTHER)


def test_another_account_has_nothing_of_what_is_made_of_a_table(engine: Engine) -> None:
    backup = {"TableName": "Orders", "BackupName": "first"}
    arn = engine.call("CreateBackup", backup)["BackupDetails"]["BackupArn"]
    requests: list[tuple[str, dict[str, Any]]] = [
        ("DescribeBackup", {"BackupArn": arn}),
        ("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": "Copies"}),
        ("DescribeExport", {"ExportArn": f"{_arn('Orders')}/export/0123456789"}),
        ("DescribeImport", {"ImportArn": f"{_arn('Orders')}/import/0123456789"}),
        ("CancelBulkOperation", {"BulkOperationArn": f"{_arn('Orders')}/bulk/0123456789"}),
        ("DeleteBackup", {"BackupArn": arn}),
    ]
    for operation, request in requests:
        assert not _may(engine, operation, request, _OTHER)
    assert _may(engine, "DeleteBackup", {"BackupArn": arn})


@pytest.mark.parametrize(
    ("action", "operation", "request_", "denied"),
    [
        ("dynamodb:*", "PutItem", {"TableName": "Orders", "Item": _GET["Key"]}, True),
        ("dynamodb:Put*", "PutItem", {"TableName": "Orders", "Item": _GET["Key"]}, True),
        ("dynamodb:Put*", "GetItem", _GET, False),
        (
            "dynamodb:PartiQLSelect",
            "ExecuteStatement",
            {"Statement": "SELECT * FROM \"Orders\" WHERE pk = 'a'"},
            True,
        ),
        (
            "dynamodb:PutItem",
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"TableName": "Orders", "Item": _GET["Key"]}}]},
            True,
        ),
        ("dynamodb:DescribeTable", "DescribeTable", {"TableName": "Orders"}, True),
    ],
)
def test_actions_are_those_of_the_request(
    engine: Engine, action: str, operation: str, request_: dict[str, Any], denied: bool
) -> None:
    _put(engine.call, "Orders", policy(statement("Orders", Action=action)))
    assert _may(engine, operation, request_) is not denied


def test_a_pattern_of_many_stars_is_compared_at_once(engine: Engine) -> None:
    # Divided by trial, the first of them took a day.
    with pytest.raises(ValidationError, match="The following action names are invalid"):
        _put(engine.call, "Orders", policy(statement("Orders", Action=f"dynamodb:{'*?' * 16}!")))
    stars = {"StringLike": {"dynamodb:LeadingKeys": f"{'*a' * 500}!"}}
    _put(engine.call, "Orders", policy(statement("Orders", Condition=stars)))
    assert _may(engine, "GetItem", {"TableName": "Orders", "Key": {"pk": {"S": "a" * 1_000}}})


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ("Select", "SELECT * FROM -- or another\nOrders"),
        ("Select", "SELECT \"FROM Others \" FROM Orders WHERE pk = 'a'"),
        ("Select", "SELECT name FROM Orders WHERE name = ' FROM Others '"),
        ("Select", "SELECT*FROM\"Orders\"WHERE pk='a'"),
        ("Insert", "INSERT INTO Orders VALUE {'pk': 'UPDATE Others '}"),
        ("Update", "FROM Orders WHERE pk = 'a' SET name = 'b'"),
        ("Update", "UPDATE Orders SET name = 'b' WHERE pk = 'a'"),
        ("Delete", "DELETE FROM\nOrders WHERE pk = 'a'"),
    ],
)
def test_a_statement_is_about_the_table_that_it_names_however_it_is_written(
    engine: Engine, action: str, text: str
) -> None:
    engine.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "a"}}})
    requests: list[tuple[str, dict[str, Any]]] = [("ExecuteStatement", {"Statement": text})]
    if action == "Select":
        exists = f"EXISTS({text})"
        requests.append(("ExecuteTransaction", {"TransactStatements": [{"Statement": exists}]}))
    elif "pk = 'a'" in text:
        requests.append(("BatchExecuteStatement", {"Statements": [{"Statement": text}]}))
        requests.append(("ExecuteTransaction", {"TransactStatements": [{"Statement": text}]}))
    for operation, request in requests:
        assert not _may(engine, operation, request, _OTHER)
    _put(engine.call, "Orders", policy(statement("Orders", Action=f"dynamodb:PartiQL{action}")))
    for operation, request in requests:
        assert not _may(engine, operation, request)


@pytest.mark.parametrize(
    ("condition", "denied"),
    [
        ({"StringEquals": {"dynamodb:LeadingKeys": "mia"}}, True),
        ({"StringNotEquals": {"dynamodb:LeadingKeys": "mia"}}, False),
        ({"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": ["m*"]}}, True),
        ({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:user/m*"}}, True),
        ({"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}, False),
        ({"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8"}}, True),
        ({"Null": {"dynamodb:Select": "true"}}, True),
        ({"StringEqualsIfExists": {"dynamodb:Select": "COUNT"}}, True),
        ({"ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "name"]}}, True),
        ({"ForAllValues:StringEquals": {"dynamodb:Attributes": ["name"]}}, False),
    ],
)
def test_conditions_decide(engine: Engine, condition: dict[str, Any], denied: bool) -> None:
    _put(engine.call, "Orders", policy(statement("Orders", Condition=condition)))
    assert _may(engine, "GetItem", _GET) is not denied


_SECRET = {"#s": "secret"}
_X = {"ExpressionAttributeValues": {":x": {"S": "x"}}}


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("GetItem", {"ProjectionExpression": "#s", "ExpressionAttributeNames": _SECRET}),
        ("GetItem", {"AttributesToGet": ["secret"]}),
        ("UpdateItem", {"UpdateExpression": "SET secret = :x", **_X}),
        ("UpdateItem", {"UpdateExpression": "SET shown = secret.part_a"}),
        ("UpdateItem", {"UpdateExpression": "SET shown = if_not_exists(a, secret)"}),
        ("UpdateItem", {"UpdateExpression": "REMOVE #s", "ExpressionAttributeNames": _SECRET}),
        ("UpdateItem", {"AttributeUpdates": {"secret": {"Action": "DELETE"}}}),
        ("DeleteItem", {"ConditionExpression": "secret = :x", **_X}),
        ("DeleteItem", {"Expected": {"secret": {"Exists": False}}}),
    ],
)
def test_an_attribute_is_named_wherever_an_expression_has_it(
    engine: Engine, operation: str, more: dict[str, Any]
) -> None:
    condition = {"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["secret"]}}
    _put(engine.call, "Orders", policy(statement("Orders", Action="*", Condition=condition)))
    assert not _may(engine, operation, {**_GET, **more})
    assert _may(engine, operation, _GET)


@pytest.mark.parametrize(
    ("condition", "text", "denied"),
    [
        ({"dynamodb:LeadingKeys": "mia"}, "SELECT * FROM Orders WHERE pk = 'mia'", True),
        ({"dynamodb:LeadingKeys": "mia"}, "SELECT * FROM Orders WHERE pk IN ['a', 'mia']", True),
        ({"dynamodb:LeadingKeys": "mia"}, "SELECT * FROM Orders WHERE pk = 'a'", False),
        ({"dynamodb:LeadingKeys": "mia"}, "SELECT * FROM Orders WHERE pk='a' OR pk='mia'", True),
        ({"dynamodb:LeadingKeys": "mia"}, "SELECT * FROM Orders WHERE pk='mia' OR a=1", False),
        ({"dynamodb:LeadingKeys": "mia"}, "INSERT INTO Orders VALUE {'pk': 'mia'}", True),
        ({"dynamodb:LeadingKeys": "mia"}, "DELETE FROM Orders WHERE pk = 'mia'", True),
        ({"dynamodb:Attributes": "secret"}, "SELECT secret.a FROM Orders", True),
        ({"dynamodb:Attributes": "secret"}, "SELECT pk FROM Orders WHERE secret = 1", True),
        ({"dynamodb:Attributes": "secret"}, "SELECT pk FROM Orders WHERE a = 1", False),
        (
            {"dynamodb:Attributes": "secret"},
            "UPDATE Orders SET shown = secret WHERE pk = 'mia'",
            True,
        ),
        ({"dynamodb:Attributes": "secret"}, "INSERT INTO Orders VALUE {'pk': 'b'}", False),
        (
            {"dynamodb:Attributes": "secret"},
            "INSERT INTO Orders VALUE {'pk': 'b', 'secret': 1}",
            True,
        ),
    ],
)
def test_conditions_see_keys_and_attributes_of_statements(
    engine: Engine, condition: dict[str, str], text: str, denied: bool
) -> None:
    engine.call(
        "PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "mia"}, "secret": {"N": "1"}}}
    )
    wanted = {"ForAnyValue:StringEquals": condition}
    _put(engine.call, "Orders", policy(statement("Orders", Action="*", Condition=wanted)))
    assert _may(engine, "ExecuteStatement", {"Statement": text}) is not denied


def test_a_filter_names_its_attributes(engine: Engine) -> None:
    condition = {"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["secret"]}}
    _put(engine.call, "Orders", policy(statement("Orders", Action="*", Condition=condition)))
    scan = {"TableName": "Orders", "FilterExpression": "NOT contains(secret, :x)", **_X}
    assert not _may(engine, "Scan", scan)
    query = {"TableName": "Orders", "KeyConditionExpression": "pk = :x", **_X}
    assert _may(engine, "Query", query)


def test_nobody_locks_himself_out_by_mistake(engine: Engine) -> None:
    text = policy(statement("Orders", Action="dynamodb:PutResourcePolicy"))
    put = {"ResourceArn": _arn("Orders"), "Policy": text}
    with pytest.raises(AccessDenied) as refused:
        engine.call("PutResourcePolicy", put, caller=_MIA)
    assert refused.value.message == (
        "The new resource policy will not allow you to update the resource policy in the future."
    )
    engine.call("PutResourcePolicy", {**put, "ConfirmRemoveSelfResourceAccess": True}, caller=_MIA)
    assert not _may(engine, "PutResourcePolicy", put)
    everybody = policy(statement("Orders", Action="*", Principal="*"))
    _put(engine.call, "Orders", everybody, ConfirmRemoveSelfResourceAccess=True)
    delete = {"ResourceArn": _arn("Orders")}
    assert not _may(engine, "DeleteResourcePolicy", delete)
    assert _may(engine, "DeleteResourcePolicy", delete, f"{_ACCOUNT}:root")


def test_a_policy_given_with_the_table_holds_at_once_and_goes_with_it(engine: Engine) -> None:
    text = policy(statement("Notes"))
    with pytest.raises(ValidationError, match="invalid Json"):
        engine.call("CreateTable", {**_TABLE, "TableName": "Notes", "ResourcePolicy": "not json"})
    engine.call("CreateTable", {**_TABLE, "TableName": "Notes", "ResourcePolicy": text})
    assert not _may(engine, "GetItem", {**_GET, "TableName": "Notes"})
    engine.call("DeleteTable", {"TableName": "Notes"})
    engine.call("CreateTable", {**_TABLE, "TableName": "Notes"})
    assert _may(engine, "GetItem", {**_GET, "TableName": "Notes"})


def test_with_amazons_delays_a_policy_changes_once_in_fifteen_seconds() -> None:
    clock = ManualClock()
    with Engine.open(clock=clock, delays="amazon") as engine:
        engine.call("CreateTable", _TABLE)
        _put(engine.call, "Orders", policy(statement("Orders")))
        with pytest.raises(RequestRateExceeded, match="modified within the previous 15000"):
            _put(engine.call, "Orders", policy(statement("Orders", Sid="other")))
        clock.advance(16)
        _put(engine.call, "Orders", policy(statement("Orders", Sid="other")))


def test_signed_callers_of_a_server_are_kept_to_the_policy() -> None:
    mia, leo = Credentials("MIA", "m", None, _MIA), Credentials("LEO", "l", None, _OTHER)
    settings = ServerSettings(port=0, credentials=(mia, leo))
    with Engine.open() as engine, BackgroundServer(engine, settings) as server:

        def client(known: Credentials) -> Any:
            return boto3.client(
                "dynamodb",
                endpoint_url=server.url,
                region_name="us-east-1",
                aws_access_key_id=known.access_key,
                aws_secret_access_key=known.secret_key,
            )

        own, other = client(mia), client(leo)
        own.create_table(**_TABLE)
        assert "Item" not in own.get_item(**_GET)
        with pytest.raises(ClientError, match="no resource-based policy allows"):
            other.get_item(**_GET)
        allow = statement("Orders", Effect="Allow", Principal={"AWS": _OTHER})
        text = policy(allow, statement("Orders", Sid="d", Action="dynamodb:PutItem"))
        own.put_resource_policy(ResourceArn=_arn("Orders"), Policy=text)
        assert "Item" not in other.get_item(**_GET)
        with pytest.raises(ClientError) as refused:
            own.put_item(TableName="Orders", Item=_GET["Key"])
        assert refused.value.response["Error"]["Code"] == "AccessDeniedException"
        own.delete_resource_policy(ResourceArn=_arn("Orders"))
        own.put_item(TableName="Orders", Item=_GET["Key"])
