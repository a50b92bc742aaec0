# mypy: ignore-errors
"""A model of bloop: tables, conditions, indexes, transactions, and its reader of streams."""

import json
import sys

import boto3
from bloop import (
    BaseModel,
    Column,
    ConstraintViolation,
    Engine,
    GlobalSecondaryIndex,
    Integer,
    List,
    MissingObjects,
    Set,
    String,
)

url = sys.argv[1]
engine = Engine(
    dynamodb=boto3.client("dynamodb", endpoint_url=url),
    dynamodbstreams=boto3.client("dynamodbstreams", endpoint_url=url),
)


class Account(BaseModel):
    class Meta:
        table_name = "BloopAccounts"
        stream = {"include": ["new", "old"]}
        billing = {"mode": "on_demand"}
        ttl = {"column": "gone"}

    name = Column(String, hash_key=True)
    number = Column(Integer, range_key=True)
    email = Column(String)
    gone = Column(Integer)
    tags = Column(Set(String))
    parts = Column(List(Integer))
    by_email = GlobalSecondaryIndex(projection="keys", hash_key="email")


told = {}
engine.bind(Account)
first = Account(name="a", number=1, email="a@x", tags={"x", "y"}, parts=[1, 2])
is_new = Account.name.is_(None)
engine.save(first, condition=is_new)
try:
    engine.save(Account(name="a", number=1), condition=is_new)
except ConstraintViolation:
    told["refused"] = True
engine.save(*[Account(name="a", number=number, email="a@x") for number in range(2, 9)])
between = (Account.name == "a") & Account.number.between(3, 6)
told["range"] = [each.number for each in engine.query(Account, key=between, forward=False)]
told["index"] = len(engine.query(Account.by_email, key=Account.email == "a@x").all())
tagged = engine.query(Account, key=Account.name == "a", filter=Account.tags.contains("x"))
told["filtered"] = tagged.one().parts
with engine.transaction(mode="w") as writes:
    writes.delete(Account(name="a", number=8), condition=Account.email == "a@x")
    writes.save(Account(name="b", number=1, email="b@x"))
second = Account(name="b", number=1)
engine.load(first, second)
told["loaded"] = second.email
try:
    engine.load(Account(name="nobody", number=1))
except MissingObjects as missing:
    told["missing"] = len(missing.objects)
stream = engine.stream(Account, position="trim_horizon")
records = [record for record in (next(stream) for _ in range(60)) if record is not None]
told["records"] = [[bool(record["new"]), bool(record["old"])] for record in records]
print(json.dumps(told))
