"""The demo's output: where everything is, and three commands to try."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from keyfold_demo.journal import PATH as EVENTS
from keyfold_demo.systems import System
from keyfold_web.page import PATH as PAGE_PATH
from keyfold_web.page import has_page

REGION = "us-east-1"
KEY = "demo"


Served = Sequence[tuple[System, str]]
"""Each system, and the path of its service."""


def overview(systems: Served, start: str, web: str, dynamodb: str, data: Path) -> str:
    """The table of addresses, then the examples."""
    rows = [("Start page", start, ""), ("Services", f"{web}/services", "")]
    rows += [("Events", f"{web}{EVENTS}", "")]
    rows += [("DynamoDB", dynamodb, "")]
    with_page = [(one.short_title, path) for one, path in systems if has_page(one.folder)]
    rows += [("", "", ""), ("Page", "", "")] if with_page else []
    rows += [(title, f"{web}/{path}{PAGE_PATH}", "") for title, path in with_page]
    rows += [("", "", ""), ("System", "REST", "GraphQL")] if systems else []
    rows += [
        (system.short_title, f"{web}/{path}/docs", f"{web}/{path}/graphql")
        for system, path in systems
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    table = [f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in rows]
    tries = [f"  {line}" for line in things_to_try(systems, web, dynamodb)]
    return "\n".join(
        [*table, "", "Three things to try:", *tries, "", f"Data: {data}. Ctrl-C stops."]
    )


def things_to_try(systems: Served, web: str, dynamodb: str) -> Iterator[str]:
    """Commands for curl, the AWS command line and boto3."""
    if systems:
        system, path = systems[0]
        url = shlex.quote(f"{web}/{path}{system.example}")
        yield f"curl -H 'Authorization: Bearer {system.users[0].id}' {url}"
    else:
        yield f"curl {dynamodb}"
    yield (
        f"AWS_ACCESS_KEY_ID={KEY} AWS_SECRET_ACCESS_KEY={KEY} "
        f"aws dynamodb list-tables --region {REGION} --endpoint-url {dynamodb}"
    )
    # This interpreter if it has boto3, otherwise whatever `python` is.
    python = shlex.quote(sys.executable) if find_spec("boto3") else "python"
    script = (
        f"import boto3; print(boto3.client('dynamodb', '{REGION}', endpoint_url='{dynamodb}', "
        f"aws_access_key_id='{KEY}', aws_secret_access_key='{KEY}').list_tables()['TableNames'])"
    )
    yield f'{python} -c "{script}"'
