"""The same model as AWS's own calculator: its published figures are ours.

They stand in awslabs/mcp, `src/dynamodb-mcp-server` (January 2026, us-east-1, on demand): a report
on three tables, 837.69 dollars a month. A month has 30.5 days there and 730 hours here.
"""

from __future__ import annotations

import pytest

from keyfold.design.file import loads
from keyfold.prices import SECONDS_A_MONTH
from keyfold_workbench.cost import bill
from keyfold_workbench.cost import loads as workload
from keyfold_workbench.cost.bill import Bill

THEIR_MONTH = 2_635_200

MODEL = """
design: published
tables:
  Users: {key: [userId], indexes: {email-index: {key: [email], projection: KEYS_ONLY}}}
  Orders:
    key: [userId, orderId]
    indexes:
      status-index: {key: [region], projection: INCLUDE, included: [status]}
      date-index: {key: [day], projection: KEYS_ONLY}
  Sessions: {key: [sessionId]}
entities:
  User:
    table: Users
    key: {userId: <userId>}
    attributes: {userId: id, email: string, name: string}
  Order:
    table: Orders
    key: {userId: <userId>, orderId: <orderId>}
    attributes: {userId: id, orderId: id, region: string, status: string, day: date, lines: map}
  Session:
    table: Sessions
    key: {sessionId: <sessionId>}
    attributes: {sessionId: id, data: map}
patterns:
  get-user-by-id: {get: User, where: userId = <userId>}
  get-user-by-email: {query: User, index: email-index, where: email = <email>, shows: [email]}
  get-orders-by-user: {query: Order, where: userId = <userId>, consistent: true}
  get-orders-by-status: {query: Order, index: status-index, where: region = <r>, shows: [status]}
  get-session: {get: Session, where: sessionId = <sessionId>}
"""
LOAD = """
recovery: false
entities:
  User:
    items: 50000000
    bytes: 200
    attributes: {userId: 40, email: 60}
    distinct: {email: 50000000}
  Order:
    items: 200000000
    bytes: 500
    attributes: {userId: 40, orderId: 60, region: 20, status: 30, day: 100}
    distinct: {userId: 40000000, region: 20000000, day: 1000}
  Session: {items: 10000000, bytes: 300}
patterns:
  get-user-by-id: {rate: 100}
  get-user-by-email: {rate: 50, page: 1}
  get-orders-by-user: {rate: 80, page: 5}
  get-orders-by-status: {rate: 60, page: 10}
  get-session: {rate: 150}
writes:
  create User: {rate: 20}
  create Order: {rate: 40}
  update Order (status): {rate: 30}
  create Session: {rate: 200}
"""
REQUESTS = {
    "Users": 49.41,
    "Users.email-index": 41.18,
    "Orders": 141.64,
    "Orders.status-index": 125.17,
    "Orders.date-index": 65.88,
    "Sessions": 354.11,
}
STORAGE = {
    "Users": (13.97, 3.49),
    "Users.email-index": (9.31, 2.33),
    "Orders": (111.76, 27.94),
    "Orders.status-index": (46.57, 11.64),
    "Orders.date-index": (55.88, 13.97),
    "Sessions": (3.73, 0.93),
}
READS = {
    "get-user-by-id": (0.5, 16.47),
    "get-user-by-email": (0.5, 8.23),
    "get-orders-by-user": (1.0, 26.35),
    "get-orders-by-status": (0.5, 9.88),
    "get-session": (0.5, 24.71),
}


@pytest.fixture(scope="module")
def made() -> Bill:
    schema = loads(MODEL)
    return bill(schema, workload(LOAD, schema))


def in_their_month(dollars: float) -> float:
    return dollars * THEIR_MONTH / SECONDS_A_MONTH


@pytest.mark.parametrize("path", REQUESTS)
def test_requests_cost_what_they_publish(made: Bill, path: str) -> None:
    (line,) = [line for line in made.paths if str(line.path) == path]
    assert in_their_month(line.on_demand) == pytest.approx(REQUESTS[path], abs=0.006)


@pytest.mark.parametrize("path", STORAGE)
def test_storage_costs_what_they_publish(made: Bill, path: str) -> None:
    (line,) = [line for line in made.paths if str(line.path) == path]
    gigabytes, dollars = STORAGE[path]
    assert line.bytes / 1024**3 == pytest.approx(gigabytes, abs=0.006)
    assert line.storage == pytest.approx(dollars, abs=0.006)


@pytest.mark.parametrize("name", READS)
def test_a_read_takes_the_units_that_they_publish(made: Bill, name: str) -> None:
    (line,) = [line for line in made.patterns if line.pattern.name == name]
    units, dollars = READS[name]
    assert line.read.total == units
    assert in_their_month(line.dollars) == pytest.approx(dollars, abs=0.006)


def test_the_whole_is_theirs(made: Bill) -> None:
    requests = in_their_month(made.reads_dollars + made.writes_dollars)
    assert requests == pytest.approx(777.38, abs=0.02)
    assert made.storage_dollars == pytest.approx(60.30, abs=0.02)
