# mypy: ignore-errors
"""Statements of PyDynamoDB, which speaks PartiQL alone: a database by Python's DB-API."""

import json
import sys

import boto3
from pydynamodb import connect
from pydynamodb.cursor import DictCursor

url = sys.argv[1]
types = {"issue": "N", "title": "S", "day": "S"}


def schema(partition, sort):
    kinds = ((partition, "HASH"), (sort, "RANGE"))
    return [{"AttributeName": name, "KeyType": kind} for name, kind in kinds]


boto3.client("dynamodb", endpoint_url=url).create_table(
    TableName="PyIssues",
    BillingMode="PAY_PER_REQUEST",
    KeySchema=schema("issue", "title"),
    AttributeDefinitions=[
        {"AttributeName": name, "AttributeType": kind} for name, kind in types.items()
    ],
    GlobalSecondaryIndexes=[
        {
            "IndexName": "by_day",
            "KeySchema": schema("day", "issue"),
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
)
connection = connect(endpoint_url=url)
cursor = connection.cursor()
told = {}


def rows(statement, parameters=None):
    cursor.execute(statement, parameters)
    return sorted(cursor.fetchall())


insert = "INSERT INTO PyIssues VALUE {'issue': ?, 'title': ?, 'day': ?, 'tags': ?, 'm': ?}"
many = [[n, f"t{n}", "2026-11-01", ["a", "b"], {"k": n}] for n in range(5)]
cursor.executemany(insert, many)
told["one"] = rows("SELECT * FROM PyIssues WHERE issue = ?", [3])
told["parts"] = rows("SELECT title, tags[0], m.k FROM PyIssues WHERE issue IN [1, 2]")
told["columns"] = [column[0] for column in cursor.description]
indexed = 'SELECT title FROM "PyIssues"."by_day" WHERE day = \'2026-11-01\' AND issue > 2'
cursor.execute(indexed)
told["indexed"] = cursor.fetchall()
cursor.execute("UPDATE PyIssues SET m.k = 10 WHERE issue = 1 AND title = 't1'")
cursor.execute("DELETE FROM PyIssues WHERE issue = 2 AND title = 't2'")
named = connection.cursor(DictCursor)
named.execute("SELECT issue, m.k FROM PyIssues")
told["named"] = sorted(named.fetchall(), key=lambda row: row["issue"])
connection.begin()
for number in (7, 8):
    cursor.execute("INSERT INTO PyIssues VALUE {'issue': ?, 'title': ?}", [number, "x"])
connection.commit()
told["together"] = rows("SELECT issue FROM PyIssues WHERE issue IN [7, 8]")
print(json.dumps(told))
