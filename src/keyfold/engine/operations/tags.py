"""TagResource, UntagResource and ListTagsOfResource."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from keyfold.engine.database import Database
from keyfold.engine.storage import Session
from keyfold.engine.tables import Table
from keyfold.errors import AccessDenied, TableNotFound, ValidationError

TAGS_PER_RESOURCE = 50
_TABLE_ARN = re.compile(r"arn:aws:dynamodb:[^:]+:\d+:table/[^/]{3,}").fullmatch


def tag_resource(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    added = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
    _check_arn(request["ResourceArn"])
    if not added:
        raise ValidationError("Atleast one Tag needs to be provided as Input.")
    return _change(database, request, lambda tags: {**tags, **added})


def untag_resource(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    removed = set(request["TagKeys"])
    _check_arn(request["ResourceArn"])
    if not removed:
        raise ValidationError("Atleast one Tag Key needs to be provided as Input.")
    return _change(
        database, request, lambda tags: {k: v for k, v in tags.items() if k not in removed}
    )


def list_tags_of_resource(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    with database.read() as session:
        table = _table(database, session, request["ResourceArn"])
    tags = table.definition.get("Tags", {})
    return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}


def _change(
    database: Database,
    request: dict[str, Any],
    change: Callable[[dict[str, str]], dict[str, str]],
) -> dict[str, Any]:
    def work(session: Session) -> None:
        table = _table(database, session, request["ResourceArn"])
        tags = change(table.definition.get("Tags", {}))
        if len(tags) > TAGS_PER_RESOURCE:
            raise ValidationError(
                f"One or more parameter values were invalid: Too many tags: {len(tags)} of at "
                f"most {TAGS_PER_RESOURCE}"
            )
        changed = table.with_changes(Tags=tags or None)
        session.define_table(table.id, changed.stored())
        database.catalog.remember(changed)

    database.write(work)
    return {}


def _check_arn(arn: str) -> None:
    if not _TABLE_ARN(arn):
        raise ValidationError(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")


def _table(database: Database, session: Session, arn: str) -> Table:
    _check_arn(arn)
    if not arn.startswith(database.arn("")):
        raise AccessDenied(f"User is not authorized to perform this operation on resource: {arn}")
    table = database.catalog.find(session, arn)
    if table is None:
        raise TableNotFound(f"Requested resource not found: ResourcArn: {arn} not found")
    return table
