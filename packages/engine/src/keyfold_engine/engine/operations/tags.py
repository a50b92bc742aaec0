"""TagResource, UntagResource and ListTagsOfResource."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unicodedata import category

from keyfold_engine.engine import catalog
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import AccessDenied, TableNotFound, ValidationError, parameter_invalid

TAGS_PER_RESOURCE = 50
_SIGNS = "_.:/=+-@"


def tag_resource(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    _check_arn(request["ResourceArn"])
    added = read_tags(request["Tags"])
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
        _check_count(tags)
        database.catalog.store(session, table, Tags=tags or None)

    database.write(work)
    return {}


def read_tags(given: Sequence[dict[str, str]]) -> dict[str, str]:
    """The tags of a request by key, if the resource can have them."""
    tags: dict[str, str] = {}
    for tag in given:
        if tag["Key"] in tags:
            raise ValidationError(
                "Duplicate Tag Keys provided as input: Duplicate Tag Key found " + tag["Key"]
            )
        tags[tag["Key"]] = tag["Value"]
    for text in (*tags, *tags.values()):
        if not all(category(each)[0] in "LZN" or each in _SIGNS for each in text):
            raise parameter_invalid(
                f"Tags consist of letters, numbers, spaces and {_SIGNS}: {text}"
            )
    for key in tags:
        if key.lower().startswith("aws:"):
            raise ValidationError(f"Tag Key cannot be prefixed with aws:, Key: {key}")
    _check_count(tags)
    return tags


def _check_count(tags: dict[str, str]) -> None:
    if len(tags) > TAGS_PER_RESOURCE:
        raise parameter_invalid(f"Too many tags: {len(tags)} of at most {TAGS_PER_RESOURCE}")


def _check_arn(arn: str) -> None:
    """As ExtendDB's authors saw it on Amazon in July 2026."""
    if not arn.startswith("arn:"):
        raise parameter_invalid(f"ARNs must start with 'arn:': {arn}")
    service, resource = (*arn.split(":", 5), "", "", "", "")[2:6:3]
    if service != "dynamodb":
        raise _denied(arn)
    if not resource.startswith("table/"):
        raise parameter_invalid(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    if "/index/" in resource:
        raise parameter_invalid(
            f"Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {arn}"
        )
    catalog.name_in(arn)


def _denied(arn: str) -> AccessDenied:
    return AccessDenied(f"User is not authorized to perform this operation on resource: {arn}")


def _table(database: Database, session: Session, arn: str) -> TableDefinition:
    _check_arn(arn)
    region, account = arn.split(":")[3:5]
    if account != database.account:
        raise _denied(arn)
    if region != database.region:
        raise catalog.invalid_arn(arn)
    table = database.catalog.find(session, arn)
    if table is None:
        raise TableNotFound(f"Requested resource not found: ResourceArn: {arn} not found")
    return table
