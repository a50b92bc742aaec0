"""Requests and calls as somebody would type them: JSON, Python, boto3, the aws command line."""

from __future__ import annotations

import json
import re
import shlex
from pprint import pformat
from typing import Any

from keyfold.clients.recorder import SentRequest
from keyfold.design.pattern import Pattern
from keyfold.studio.invocation import Argument
from keyfold.studio.markup import Child, Html, el, text
from keyfold.studio.notation import unit_words
from keyfold.studio.system import StudioSystem

_TOKENS = re.compile(
    r'(?P<name>"(?:[^"\\]|\\.)*"(?=:))'
    r'|(?P<s>"(?:[^"\\]|\\.)*")'
    r"|(?P<k>^[A-Z][A-Za-z]+)"
    r"|(?P<n>(?<=[ \[])(?:true|false|null|-?\d[\d.e+-]*)(?=[,\s\]}]))",
    re.MULTILINE,
)
"""Names, texts that are values, the operation, and numbers."""
_SPREAD = re.compile(r'\{\s+("[A-Z]+": (?:"[^"]*"|true|false))\s+\}')
"""A value over three lines."""


def wire_text(sent: SentRequest) -> str:
    """A request as it went over the wire."""
    body = json.dumps(sent.request, indent=2, ensure_ascii=False, default=str)
    body = _SPREAD.sub(r"{\1}", body)
    taken = f"{sent.searched_bytes:,.0f} bytes" if sent.searched_bytes else unit_words(sent.units)
    return f"{sent.operation}  ({taken})\n{body}"


def coloured(wire: str) -> Html:
    """Requests as they went over the wire: texts, numbers and operations told apart."""
    made: list[Child] = []
    end = 0
    for found in _TOKENS.finditer(wire):
        made += [wire[end : found.start()], el("span", found[0], class_=found.lastgroup or "")]
        end = found.end()
    return text(*made, wire[end:])


def python_code(system: StudioSystem, pattern: Pattern[Any, Any], given: list[Argument]) -> str:
    module = pattern.function.__module__
    call = ", ".join(f"{one.name}={one.value!r}" for one in given if one.given)
    needs = "import datetime\n\n" if "datetime." in call else ""
    return (
        f"{needs}from {module} import {pattern.function.__name__}, design\n\n"
        f'db = design.open("{system.place}")\n'
        f"answer = {pattern.function.__name__}(db, {call})"
    )


def boto3_code(sent: SentRequest) -> str:
    """The request by boto3's client, which takes wire values as they are."""
    given = pformat(sent.request, width=88, sort_dicts=False)
    return (
        'import boto3\n\nclient = boto3.client("dynamodb")\n'
        f"answer = client.{_snake(sent.operation, '_')}(**{given})"
    )


def aws_command(sent: SentRequest) -> str:
    body = json.dumps(sent.request, ensure_ascii=False, default=str)
    return f"aws dynamodb {_snake(sent.operation, '-')} \\\n  --cli-input-json {shlex.quote(body)}"


def _snake(operation: str, joint: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", joint, operation).lower()
