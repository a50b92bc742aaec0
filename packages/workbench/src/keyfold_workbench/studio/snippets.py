"""Requests and calls to copy: JSON, Python, boto3, the aws command line."""

from __future__ import annotations

import json
import re
import shlex
import sys
from base64 import b64decode
from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from enum import Enum
from pprint import pformat
from typing import Any, Final
from uuid import UUID

from keyfold_engine.clients.address import DEFAULT_REGION, Endpoint, Remote, parse
from keyfold_engine.clients.recorder import SentRequest
from keyfold.design.pattern import Pattern
from keyfold_workbench.studio.invocation import Argument
from keyfold_workbench.studio.markup import Child, Html, el, text
from keyfold_workbench.studio.notation import unit_words
from keyfold_workbench.studio.system import StudioSystem

_TOKENS = re.compile(
    r'(?P<name>"(?:[^"\\]|\\.)*"(?=:))'
    r'|(?P<s>"(?:[^"\\]|\\.)*")'
    r"|(?P<k>^[A-Z][A-Za-z]+)"
    r"|(?P<n>(?<=[ \[])(?:true|false|null|-?\d[\d.e+-]*)(?=[,\s\]}]))",
    re.MULTILINE,
)
"""Names, texts that are values, the operation, and numbers."""
SERVED: Final = Endpoint("127.0.0.1", 8000, tls=False)
"""Where `keyfold serve` listens."""
LOCAL: Final = "local"
"""Credentials for a server that takes any."""
_SPREAD = re.compile(r'\{\s+("[A-Z]+": (?:"[^"]*"|true|false))\s+\}')
"""A value over three lines."""
_NUMBERS = re.compile(r'\[\s+(\{"N": "[^"]*"\}(?:,\s+\{"N": "[^"]*"\})*)\s+\]')
"""A list of numbers, one on each line: a vector."""


def wire_json(value: Any) -> str:
    """Wire values as JSON that can be read: a value is on one line, and so are many numbers."""
    body = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    body = _SPREAD.sub(r"{\1}", body)
    return _NUMBERS.sub(lambda found: "[" + re.sub(r",\s+", ", ", found[1]) + "]", body)


def wire_text(sent: SentRequest) -> str:
    """A request as it went over the wire."""
    body = wire_json(sent.request)
    taken = f"{sent.searched_bytes:,.0f} bytes" if sent.searched_bytes else unit_words(sent.units)
    return f"{sent.operation}  ({taken})\n{body}"


def colour(wire: str) -> Html:
    """Requests as sent over the wire, with texts, numbers and operations highlighted."""
    made: list[Child] = []
    end = 0
    for found in _TOKENS.finditer(wire):
        made += [wire[end : found.start()], el("span", found[0], class_=found.lastgroup or "")]
        end = found.end()
    return text(*made, wire[end:])


def python_code(system: StudioSystem, pattern: Pattern[Any, Any], given: list[Argument]) -> str:
    """A pattern's call as a whole program."""
    name, module = pattern.function.__name__, pattern.function.__module__
    modules: set[str] = set()
    values = [f"{one.name}={_expression(one.value, modules)}" for one in given if one.given]
    opened = [_expression(system.address or system.place, modules)]
    if system.table_prefix:
        opened.append(f"table_prefix={system.table_prefix!r}")
    if system.table_names:
        opened.append(f"table_names={dict(system.table_names)!r}")
    holder, called = _design_name(system, module)
    lines = [f"import {one}" for one in sorted(modules)]
    if holder == module:
        lines.append(f"from {module} import {called}, {name}")
    else:
        lines += [f"from {holder} import {called}", f"from {module} import {name}"]
    return "\n".join(
        [
            *lines,
            "",
            f"db = {called}.open({', '.join(opened)})",
            f"answer = {name}({', '.join(['db', *values])})",
        ]
    )


def _design_name(system: StudioSystem, first: str) -> tuple[str, str]:
    """A module that has the design, the given one first, and the design's name there."""
    for module in (first, *sorted(sys.modules)):
        for name, value in vars(sys.modules[module]).items():
            if value is system.design:
                return module, name
    return first, "design"


def _expression(value: Any, modules: set[str]) -> str:
    """A value as an expression; `modules` are those it needs."""
    kind = type(value)
    if isinstance(value, list | tuple | set | frozenset):
        inner = ", ".join(_expression(one, modules) for one in value)
        return f"[{inner}]" if isinstance(value, list | tuple) else f"{{{inner}}}"
    if isinstance(value, Enum):
        modules.add(kind.__module__)
        return f"{kind.__module__}.{kind.__qualname__}.{value.name}"
    if isinstance(value, date | time):
        modules.add("datetime")
        return f"datetime.{kind.__name__}.fromisoformat({value.isoformat()!r})"
    if isinstance(value, Decimal | UUID):
        modules.add(kind.__module__)
        return f"{kind.__module__}.{value!r}"
    return repr(value)


def boto3_code(system: StudioSystem, requests: Sequence[SentRequest]) -> str:
    """The requests by boto3's client, which takes wire values as they are, and binary as bytes."""
    address = _served(system)
    session = f"boto3.Session(profile_name={address.profile!r})" if address.profile else "boto3"
    options = [f"region_name={address.region!r}"]
    if not address.is_amazon:
        options.append(f"endpoint_url={address.endpoint.url!r}")
        options += [f"aws_access_key_id={LOCAL!r}", f"aws_secret_access_key={LOCAL!r}"]
    client = f'client = {session}.client(\n    "dynamodb",\n' + "".join(
        f"    {one},\n" for one in options
    )
    calls = [
        f"client.{_snake(one.operation, '_')}(**"
        f"{pformat(_with_bytes(one.request), width=88, sort_dicts=False)})"
        for one in requests
    ]
    answers = (
        f"answer = {calls[0]}" if len(calls) == 1 else "answers = [\n" + ",\n".join(calls) + ",\n]"
    )
    return f"{_first(system)}import boto3\n\n{client})\n{answers}"


def aws_command(system: StudioSystem, requests: Sequence[SentRequest]) -> str:
    """The requests as commands of the shell."""
    address = _served(system)
    before, options = "", ["--region", address.region]
    if address.profile:
        options += ["--profile", address.profile]
    if not address.is_amazon:
        before = f"AWS_ACCESS_KEY_ID={LOCAL} AWS_SECRET_ACCESS_KEY={LOCAL} "
        options += ["--endpoint-url", address.endpoint.url]
    commands = (
        f"{before}aws dynamodb {_snake(one.operation, '-')} {shlex.join(options)} \\\n"
        f"  --cli-input-json {shlex.quote(json.dumps(one.request, ensure_ascii=False))}"
        for one in requests
    )
    return _first(system) + "\n\n".join(commands)


def _served(system: StudioSystem) -> Remote:
    """Where an SDK finds the data; a file has to be served first."""
    address = parse(system.address or system.place)
    if isinstance(address, Remote):
        return address
    return Remote(SERVED, SERVED, DEFAULT_REGION, None, is_amazon=False)


def _first(system: StudioSystem) -> str:
    address = parse(system.address or system.place)
    if isinstance(address, Remote):
        return ""
    return f"# Serve the file first: keyfold serve --data {shlex.quote(address.path)}\n"


def _with_bytes(value: Any) -> Any:
    """Wire values with binary as bytes."""
    if isinstance(value, list):
        return [_with_bytes(one) for one in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"B": str(text), **rest} if not rest:
            return {"B": b64decode(text)}
        case {"BS": list(texts), **rest} if not rest:
            return {"BS": [b64decode(text) for text in texts]}
    return {name: _with_bytes(one) for name, one in value.items()}


def _snake(operation: str, joint: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", joint, operation).lower()
