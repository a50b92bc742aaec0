"""PynamoDB against `keyfold serve`."""

from __future__ import annotations

from typing import Any

import pytest
from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import PutError, TransactWriteError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

pytestmark = pytest.mark.usefixtures("credentials")


@pytest.fixture
def thread(keyfold_url: str) -> Any:
    class ByViews(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
        class Meta:
            index_name = "by-views"
            projection = AllProjection()

        forum = UnicodeAttribute(hash_key=True)
        views = NumberAttribute(range_key=True)

    class Thread(Model):
        class Meta:
            table_name = "PynamoThreads"
            host = keyfold_url
            region = "us-east-1"
            billing_mode = "PAY_PER_REQUEST"

        forum = UnicodeAttribute(hash_key=True)
        subject = UnicodeAttribute(range_key=True)
        views = NumberAttribute(default=0)
        tags = UnicodeSetAttribute(null=True)
        by_views = ByViews()

    Thread.create_table(wait=True)
    yield Thread
    Thread.delete_table()


def test_models_are_saved_queried_updated_and_guarded(thread: Any, keyfold_url: str) -> None:
    with thread.batch_write() as batch:
        for number in range(40):
            batch.save(thread("python", f"subject {number:02}", views=number, tags={"x"}))
    assert thread.count("python") == 40
    found = thread.query(
        "python", thread.subject.startswith("subject 1"), filter_condition=thread.views > 15
    )
    assert [each.views for each in found] == [16, 17, 18, 19]
    popular = thread.by_views.query("python", scan_index_forward=False, limit=3)
    assert [each.views for each in popular] == [39, 38, 37]

    one = thread.get("python", "subject 01")
    one.update(actions=[thread.views.add(5), thread.tags.add({"y"})], condition=thread.views == 1)
    assert (one.views, one.tags) == (6, {"x", "y"})
    with pytest.raises(PutError):
        thread("python", "subject 01").save(thread.subject.does_not_exist())

    connection = Connection(region="us-east-1", host=keyfold_url)
    with TransactWrite(connection=connection) as transaction:
        transaction.save(thread("rust", "a"))
        transaction.update(one, actions=[thread.views.set(100)])
    one.refresh()
    assert one.views == 100
    doomed = TransactWrite(connection=connection)
    doomed.save(thread("rust", "b"))
    doomed.delete(one, condition=thread.views == 1)
    with pytest.raises(TransactWriteError) as caught:
        doomed._commit()
    reasons = [reason and reason.code for reason in caught.value.cancellation_reasons]
    assert sorted(reasons, key=str) == ["ConditionalCheckFailed", None]
    with pytest.raises(thread.DoesNotExist):
        thread.get("rust", "b")
