"""Least-privilege policies of a design, one for each kind of caller."""

from __future__ import annotations

from typing import Any

import orjson

from keyfold.design.schema import Schema, TableSchema
from keyfold_workbench.infra.permissions import application, consumer, reader
from keyfold_workbench.infra.plan import plan


def policies(schema: Schema) -> dict[str, dict[str, Any]]:
    """Policies by caller: the application, a read-only one, and every consumer."""
    made = plan(schema)
    found = {"application": application(made, _arn), "reader": reader(made, _arn)}
    found |= {each.name: consumer(made, each, _arn) for each in made.consumers}
    return {
        name: {"Version": "2012-10-17", "Statement": statements}
        for name, statements in found.items()
    }


def render(schema: Schema) -> str:
    return orjson.dumps(policies(schema), option=orjson.OPT_INDENT_2).decode() + "\n"


def _arn(table: TableSchema, place: str) -> str:
    arn = f"arn:aws:dynamodb:*:*:table/{table.name}"
    if place == "stream":
        return f"{arn}/stream/*"
    return f"{arn}/{place}" if place else arn
