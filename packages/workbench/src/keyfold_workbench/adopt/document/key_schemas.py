"""Tables as requests and templates write them: KeySchema in JSON, YAML or a command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from keyfold.design.yaml_text import DesignFileError, read_yaml
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_side import Side
from keyfold_workbench.adopt.document.statements import IndexStatement, TableStatement

_SIDES: dict[str, Side] = {"HASH": "partition", "RANGE": "sort"}
_OPTION = re.compile(r"--(table-name|key-schema|attribute-definitions|global-secondary-indexes)\b")
_PAIR = re.compile(r"AttributeName=(\w+),\s*(?:KeyType|AttributeType)=(\w+)")


def _data(text: str) -> Any:
    """A fence's YAML or JSON as texts, lists and mappings; None if it is neither.

    What a template's functions are about stands for them: !Sub 'orders-${Stage}' is its text.
    """
    try:
        root = read_yaml(text, "fence")
    except DesignFileError:
        return None
    return None if root is None else _plain(root)


def _plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {str(name.value): _plain(value) for name, value in node.value}
    return list(map(_plain, node.value)) if isinstance(node, yaml.SequenceNode) else node.value


def read_key_schemas(here: Here) -> bool:
    """Tell the tables of a fence that defines them; whether it does."""
    text = here.block.text
    if "KeySchema" not in text and "create-table" not in text:
        return False
    told = False
    for table in [*_in_commands(text), *_in_data(text)]:
        told = _tell(here, table) or told
    return told


def _in_data(text: str) -> Iterator[dict[str, Any]]:
    waiting = [_data(text)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if "KeySchema" in each and "IndexName" not in each:
                yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _in_commands(text: str) -> Iterator[dict[str, Any]]:
    """`aws dynamodb create-table --table-name … --key-schema …`."""
    for command in re.split(r"aws dynamodb create-table", text.replace('\\"', '"'))[1:]:
        parts = _OPTION.split(command.split("aws dynamodb")[0])
        options = dict(zip(parts[1::2], parts[2::2], strict=False))
        name = options.get("table-name", "").split()
        keys = [
            {"AttributeName": a, "KeyType": t}
            for a, t in _PAIR.findall(options.get("key-schema", ""))
        ]
        types = [
            {"AttributeName": a, "AttributeType": t}
            for a, t in _PAIR.findall(options.get("attribute-definitions", ""))
        ]
        of_indexes = options.get("global-secondary-indexes", "")
        indexes = _json_list(of_indexes) or _short(of_indexes)
        yield {"TableName": name[0] if name else "", "KeySchema": keys,
               "AttributeDefinitions": types, "GlobalSecondaryIndexes": indexes}  # fmt: skip


def _json_list(text: str) -> list[dict[str, Any]]:
    """The first list of a command's option, as JSON."""
    try:
        found, _ = json.JSONDecoder().raw_decode(text[text.find("[") :])
    except (ValueError, RecursionError):
        return []
    return _list(found)


def _short(text: str) -> list[dict[str, Any]]:
    """`IndexName=by-date,KeySchema=[{AttributeName=date,KeyType=HASH}]`."""
    return [
        {
            "IndexName": name,
            "KeySchema": [{"AttributeName": a, "KeyType": t} for a, t in _PAIR.findall(keys)],
        }
        for name, keys in re.findall(r"IndexName=([\w.-]+),\s*\\?\s*KeySchema=\[([^\]]*)\]", text)
    ]


def _tell(here: Here, table: dict[str, Any]) -> bool:
    types = {
        str(each.get("AttributeName")): str(each.get("AttributeType", "S"))
        for each in _list(table.get("AttributeDefinitions"))
    }
    keys = _keys(table.get("KeySchema"), types)
    if not keys:
        return False
    line = next(
        (n for n, said in here.block.lines if "KeySchema" in said or "key-schema" in said),
        here.block.line,
    )
    name = table.get("TableName")
    name = name.strip("\"'") if isinstance(name, str) else ""
    title = here.at.table or name
    here = here.about(table=title)
    stream = table.get("StreamSpecification")
    shown = str(stream.get("StreamViewType", "")) if isinstance(stream, dict) else ""
    here.say(TableStatement, line, "a key schema", title=title, name=name, keys=keys, stream=shown)
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index in _list(table.get(kind)):
            called = str(index.get("IndexName", ""))
            of_index = _keys(index.get("KeySchema"), types)
            at = next((n for n, said in here.block.lines if called and called in said), line)
            copied = index.get("Projection")
            kind_of = str(copied.get("ProjectionType", "")) if isinstance(copied, dict) else ""
            if called and of_index:
                here.say(
                    IndexStatement, at, "a key schema", name=called, keys=of_index,
                    projection=kind_of if kind_of in ("ALL", "KEYS_ONLY") else "",
                )  # fmt: skip
    return True


def _list(given: Any) -> list[dict[str, Any]]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _keys(given: Any, types: dict[str, str]) -> tuple[tuple[Side, str, str], ...]:
    return tuple(
        (_SIDES[str(each.get("KeyType"))], name, types.get(name, "S"))
        for each in _list(given)
        if (name := str(each.get("AttributeName", ""))) and str(each.get("KeyType")) in _SIDES
    )
