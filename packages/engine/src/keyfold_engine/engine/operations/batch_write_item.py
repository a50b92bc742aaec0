"""BatchWriteItem."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import answers, write
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.operations.item_writes import Located, deleting, item_write, putting
from keyfold_engine.engine.shapes.batches import check_tables
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.write import Prepared
from keyfold_engine.errors import ValidationError
from keyfold_engine.limits import BATCH_WRITE_ITEMS
from keyfold_engine.values.wire import check_item


def batch_write_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    wishes = request["RequestItems"]
    check_tables(wishes)
    if sum(map(len, wishes.values())) > BATCH_WRITE_ITEMS:
        raise ValidationError("Too many items requested for the BatchWriteItem call")
    parsed = [(name, [_located(wish) for wish in each]) for name, each in wishes.items()]

    def work(session: Session) -> list[Prepared]:
        writes = []
        for name, located in parsed:
            table = database.catalog.get(session, name)
            made = [item_write(table, each, {}, None) for each in located]
            if len({each.place for each in made}) != len(made):
                raise ValidationError("Provided list of item keys contains duplicates")
            writes += made
        return [write.execute(database, session, each) for each in writes]

    return answers.of_writes(database, {"UnprocessedItems": {}}, request, database.write(work))


def _located(wish: dict[str, Any]) -> Located:
    put, delete = wish.get("PutRequest"), wish.get("DeleteRequest")
    if (put is None) == (delete is None):
        # DynamoDB's message for none as well as for both.
        raise ValidationError(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
            "the supported datatypes"
        )
    if put is not None:
        return putting(put["Item"], explains=False)
    assert delete is not None
    return deleting(check_item(delete["Key"]))
