"""A design as a Python script that creates its tables with boto3."""

from __future__ import annotations

from keyfold import literals
from keyfold.design.schema import Schema
from keyfold.runtime.tables import create_request
from keyfold_workbench.infra.plan import plan

_SCRIPT = '''\
{documentation}

import time

TABLES = {tables}

EXPIRY = {expiry}


def create(client, prefix=""):
    """Create every table that is not there yet, with expiry and point-in-time recovery."""
    for request in TABLES:
        name = prefix + request["TableName"]
        try:
            client.create_table(**{{**request, "TableName": name}})
        except client.exceptions.ResourceInUseException:
            continue
        while client.describe_table(TableName=name)["Table"]["TableStatus"] != "ACTIVE":
            time.sleep(1)
        if request["TableName"] in EXPIRY:
            client.update_time_to_live(
                TableName=name,
                TimeToLiveSpecification={{
                    "Enabled": True,
                    "AttributeName": EXPIRY[request["TableName"]],
                }},
            )
        client.update_continuous_backups(
            TableName=name,
            PointInTimeRecoverySpecification={{"PointInTimeRecoveryEnabled": True}},
        )


if __name__ == "__main__":
    import boto3

    create(boto3.client("dynamodb"))
'''


def render(schema: Schema) -> str:
    made = plan(schema)
    tables = [create_request(table, table.name) for table in made.tables]
    expiry = {table.name: table.ttl for table in made.tables if table.ttl}
    return _SCRIPT.format(
        documentation=literals.docstring(
            f"Create the tables of {schema.name}. Run it again at any time: what is there stays."
        ),
        tables=literals.python(tables, 0),
        expiry=literals.python(expiry, 0),
    )
