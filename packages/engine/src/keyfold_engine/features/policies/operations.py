"""PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.errors import (
    AccessDenied,
    PolicyNotFound,
    RequestRateExceeded,
    TableNotFound,
    ValidationError,
    parameter_invalid,
)
from keyfold_engine.features.policies import decision, document, store
from keyfold_engine.operations import OPERATIONS

_NO_POLICY = "NO_POLICY"
_OF_STREAMS = frozenset(("DescribeStream", "GetRecords", "GetShardIterator"))
_NOT_OF_TABLES = _OF_STREAMS | {"ListStreams", "ListTables", "DescribeLimits", "DescribeEndpoints"}
_MORE = frozenset(
    ("ConditionCheckItem", "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete")
)


def put_resource_policy(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    arn = request["ResourceArn"]
    _check_arn(database, arn)
    policy = read(request["Policy"], arn)
    if not request.get("ConfirmRemoveSelfResourceAccess"):
        _check_not_locked_out(database, arn, policy)

    def work(session: Session) -> str:
        _check_there(database, session, arn)
        found = store.find(session, arn)
        _check_revision(arn, request.get("ExpectedRevisionId"), found)
        if found is not None and found.policy.text == policy.text:
            return found.revision
        _check_pace(database, arn, found)
        revision = _revision(database, found)
        store.keep(database, session, arn, policy, revision)
        return revision

    return {"RevisionId": database.write(work)}


def get_resource_policy(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    arn = request["ResourceArn"]
    _check_arn(database, arn)
    with database.read() as session:
        _check_there(database, session, arn)
        found = store.find(session, arn)
    if found is None:
        raise PolicyNotFound(f"Resource-based policy not found for the provided ResourceArn: {arn}")
    return {"Policy": found.policy.text, "RevisionId": found.revision}


def delete_resource_policy(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    arn = request["ResourceArn"]
    _check_arn(database, arn)

    def work(session: Session) -> dict[str, Any]:
        _check_there(database, session, arn)
        found = store.find(session, arn)
        _check_revision(arn, request.get("ExpectedRevisionId"), found)
        if found is None:
            return {}
        _check_pace(database, arn, found)
        store.drop(session, arn)
        return {"RevisionId": found.revision}

    return database.write(work)


def read(text: str, arn: str) -> document.ResourcePolicy:
    """A validated policy of a table or stream."""
    actions = _OF_STREAMS if "/stream/" in arn else (OPERATIONS.keys() | _MORE) - _NOT_OF_TABLES
    return document.read(text, arn, actions)


def _check_arn(database: Database, arn: str) -> None:
    if not arn.startswith("arn:"):
        raise parameter_invalid(f"ARNs must start with 'arn:': {arn}")
    parts = arn.split(":", 5)
    if len(parts) < 6 or parts[2] != "dynamodb" or not parts[5].startswith("table/"):
        raise parameter_invalid(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    kind = parts[5].split("/")[2:3]
    if kind == ["backup"]:
        raise parameter_invalid(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    if kind not in ([], ["stream"]):
        raise parameter_invalid(
            f"Invalid resource arn provided, only table or stream is accepted. Provided "
            f"resource arn: {arn}"
        )
    if parts[4] != database.account:
        raise ValidationError(
            "This action is only supported by accounts that match the resource owner’s account."
        )
    if parts[3] != database.region:
        raise parameter_invalid(f"Invalid resource Arn: {arn}")


def _check_there(database: Database, session: Session, arn: str) -> None:
    table, _, label = arn.partition("/stream/")
    name = table.rpartition("/")[2]
    if database.catalog.find(session, name) is None:
        raise TableNotFound(f"Requested resource not found: Table: {name} not found")
    if label and session.stream(arn) is None:
        raise TableNotFound(
            f"Requested resource not found: Stream: {label} not found for Table: {name}"
        )


def _check_revision(arn: str, expected: str | None, found: store.StoredPolicy | None) -> None:
    name = arn.partition("/stream/")[0].rpartition("/")[2]
    if expected is None or (expected == _NO_POLICY and found is None):
        return
    if found is None:
        raise PolicyNotFound(
            f"Requested update for policy with revision id {expected}, but table {name} has no "
            "associated policy."
        )
    if expected != found.revision:
        raise PolicyNotFound(
            f"Requested update for policy with revision id {expected}, but the policy associated "
            f"to target table {name} has revision id {found.revision}."
        )


def _check_not_locked_out(database: Database, arn: str, policy: document.ResourcePolicy) -> None:
    caller = database.caller.get() or f"arn:aws:iam::{database.account}:root"
    wish = decision.Action("PutResourcePolicy", arn)
    if decision.effect(policy.statements, caller, wish) == "Deny":
        raise AccessDenied(
            "The new resource policy will not allow you to update the resource policy in the "
            "future."
        )


def _check_pace(database: Database, arn: str, found: store.StoredPolicy | None) -> None:
    """On Amazon a policy can change once in fifteen seconds."""
    since = None if found is None else int(found.revision) / 1000
    if database.delays.phase("policy", since) is not None:
        name = arn.partition("/stream/")[0].rpartition("/")[2]
        raise RequestRateExceeded(
            f"Resource-based policy for table {name} modified within the previous 15000 "
            "milliseconds. Please try again later."
        )


def _revision(database: Database, found: store.StoredPolicy | None) -> str:
    """Milliseconds of the change; unique per resource."""
    now = int(database.clock.now() * 1000)
    return str(max(now, int(found.revision) + 1) if found is not None else now)
