"""Requests as JSON, and a pattern's call as Python."""

from __future__ import annotations

import json
import re
import sys
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from keyfold.design.pattern import Pattern
from keyfold_engine.clients.recorder import SentRequest
from keyfold_workbench.studio.invocation import PatternArgument
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


def python_code(
    system: StudioSystem, pattern: Pattern[Any, Any], given: list[PatternArgument]
) -> str:
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
        for name, value in vars(sys.modules.get(module, object)).items():
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
