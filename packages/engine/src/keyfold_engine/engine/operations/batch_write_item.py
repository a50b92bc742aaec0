"""BatchWriteItem."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import answers, write
from keyfold_engine.engine.capacity import Ledger, wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_item, place_of_key
from keyfold_engine.engine.shapes.batches import check_tables
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.write import ItemWrite, NewItem, Prepared
from keyfold_engine.errors import ValidationError
from keyfold_engine.limits import BATCH_WRITE_ITEMS
from keyfold_engine.values import Item
from keyfold_engine.values.wire import check_item


def batch_write_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    wishes = request["RequestItems"]
    check_tables(wishes)
    if sum(map(len, wishes.values())) > BATCH_WRITE_ITEMS:
        raise ValidationError("Too many items requested for the BatchWriteItem call")
    parsed = [(name, [_parsed(wish) for wish in each]) for name, each in wishes.items()]
    detail = wanted(request)

    def work(session: Session) -> list[Prepared]:
        writes = []
        for name, changes in parsed:
            table = database.catalog.get(session, name)
            places = set()
            for change in changes:
                if isinstance(change, NewItem):
                    place = place_of_item(table, change.item, explains=False)
                    made = ItemWrite(table, place, change.as_change, decodes=False)
                else:
                    place = place_of_key(table, change)
                    made = ItemWrite(table, place, write.deletion, decodes=False)
                places.add(place)
                writes.append(made)
            if len(places) != len(changes):
                raise ValidationError("Provided list of item keys contains duplicates")
        return [write.execute(database, session, each) for each in writes]

    done = database.write(work)
    answer: dict[str, Any] = {"UnprocessedItems": {}}
    if detail is not None:
        ledger = Ledger()
        for prepared in done:
            ledger.add(prepared.capacity())
        answer["ConsumedCapacity"] = ledger.answer(detail)
    if answers.wants_collection_metrics(request):
        answer["ItemCollectionMetrics"] = answers.metrics_by_table(database, done)
    return answer


def _parsed(wish: dict[str, Any]) -> NewItem | Item:
    put, delete = wish.get("PutRequest"), wish.get("DeleteRequest")
    if (put is None) == (delete is None):
        # DynamoDB's message for none as well as for both.
        raise ValidationError(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
            "the supported datatypes"
        )
    if put is not None:
        return NewItem.put(check_item(put["Item"]))
    assert delete is not None
    return check_item(delete["Key"])
