"""Runs a pattern from form input: parses arguments by type, returns rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from keyfold.design.entity import Entity
from keyfold.design.nearest import Neighbour
from keyfold.design.pattern import Pattern
from keyfold.errors import KeyfoldError, TransportError
from keyfold_engine.clients.recorder import RecordedClient, SentRequest
from keyfold_workbench.studio.likeness import items_like, vector_of
from keyfold_workbench.studio.system import StudioSystem


@dataclass(frozen=True)
class PatternArgument:
    """One parameter of a pattern, as typed and as parsed."""

    name: str
    type: str
    text: str
    value: Any
    given: bool
    problem: str = ""
    offered: list[tuple[str, str]] = field(default_factory=list)
    """Values from the data, with what they are called."""


@dataclass(frozen=True)
class AnswerRow:
    """One result of a pattern."""

    values: Mapping[str, Any]
    entity: Entity | None


@dataclass
class PatternRun:
    """The result of one call."""

    rows: list[AnswerRow] = field(default_factory=list)
    cursor: str = ""
    requests: list[SentRequest] = field(default_factory=list)
    units: float = 0.0
    searched_bytes: float = 0.0
    seconds: float = 0.0
    problem: str = ""


def arguments(
    pattern: Pattern[Any, Any], given: Mapping[str, str], system: StudioSystem
) -> list[PatternArgument]:
    """The parameters with their input, defaults, or values from the data."""
    hints = get_type_hints(pattern.function)
    search = next((one for one in system.schema.searches if one.name == pattern.name), None)
    example = _example(system, pattern)
    made = []
    for name, parameter in pattern.signature.parameters.items():
        hint = hints.get(name, str)
        has_default = parameter.default is not parameter.empty
        sought = search if search is not None and _is_vector(hint) else None
        offered = offers(system, name) if sought is None else items_like(system, sought)
        typed = given.get(name)
        if typed is None:
            typed = example.get(name) or _suggested(hint, offered)
            typed = _shown_default(parameter.default) if has_default else typed
        kind = _type_name(hint) + (f" = {parameter.default}" if has_default else "")
        if typed == "" and has_default:
            made.append(
                PatternArgument(name, kind, "", parameter.default, given=False, offered=offered)
            )
            continue
        try:
            value, problem = vector_of(system, sought, typed) if sought else _read(hint, typed), ""
        except ValidationError as wrong:
            value, problem = None, wrong.errors()[0]["msg"]
        except ValueError as wrong:
            value, problem = None, str(wrong)
        if not typed:
            problem = f"Give {name}."
        made.append(PatternArgument(name, kind, typed, value, True, problem, offered))
    return made


def _example(system: StudioSystem, pattern: Pattern[Any, Any]) -> dict[str, str]:
    """The values of an item that the pattern finds, by parameter."""
    known = next((p for p in system.schema.patterns if p.name == pattern.name), None)
    names = [name for name in pattern.signature.parameters if known is not None]
    for entity in known.entities if known is not None else ():
        for seen in system.survey.tables().values():
            for item in seen.examples.get(entity, ()):
                held = {name: item.values[name] for name in names if name in item.values}
                if held and all(isinstance(value, str) for value in held.values()):
                    return held
    return {}


def offers(system: StudioSystem, name: str) -> list[tuple[str, str]]:
    """Values of fields with this name in the data, each with its item's title."""
    found: dict[str, str] = {}
    plural = name.removesuffix("s") if name.endswith("_ids") else name
    for seen in system.survey.tables().values():
        for items in seen.examples.values():
            for item in items:
                value = item.values.get(plural)
                own = item.entity is not None and item.entity.copy is None
                if isinstance(value, str) and (own or value not in found):
                    known = found.get(value)
                    single = item.entity and item.entity.key and len(set(item.entity.key.fields))
                    if known is None or (single == 1 and item.title):
                        found[value] = item.title if single == 1 else known or ""
    return sorted(found.items())


def _suggested(hint: Any, offered: list[tuple[str, str]]) -> str:
    if hint in (datetime, date):
        return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return offered[0][0] if offered else ""


def _shown_default(default: Any) -> str:
    return "" if default is None else str(default)


def _read(hint: Any, typed: str) -> Any:
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    if get_origin(hint) in (list, set, frozenset, tuple):
        return adapter.validate_python([one.strip() for one in typed.split(",") if one.strip()])
    return adapter.validate_strings(typed)


def _is_vector(hint: Any) -> bool:
    return get_origin(hint) in (list, tuple, Sequence) and float in get_args(hint)


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_origin(hint) else str(hint)


def invoke(
    system: StudioSystem, pattern: Pattern[Any, Any], given: list[PatternArgument], after: str
) -> PatternRun:
    """Run it and record its requests; a refusal is part of the answer."""
    client = RecordedClient(system.client)
    db = system.open(client)
    assert db is not None, "only patterns of a design that runs are invoked"
    called = {one.name: one.value for one in given}
    ran = PatternRun()
    begun = time.perf_counter()
    try:
        answer = db.read_pattern(pattern.after(after or None), called)
    except TransportError:
        raise
    except KeyfoldError as problem:
        ran.problem, answer = str(problem), None
    ran.seconds = time.perf_counter() - begun
    ran.requests, ran.units = list(client.requests), client.units
    ran.searched_bytes = client.searched_bytes
    ran.cursor = getattr(answer, "cursor", None) or ""
    ran.rows = [_row(one) for one in _things(answer)]
    return ran


def _things(answer: Any) -> Iterator[Any]:
    if answer is None:
        return
    items = getattr(answer, "items", None)
    if items is not None and not callable(items):
        yield from items
    elif isinstance(answer, list | tuple | set | frozenset):
        yield from (one for one in answer if one is not None)
    elif isinstance(answer, dict):
        for value in answer.values():
            yield from _things(value)
    else:
        yield answer


def _row(one: Any) -> AnswerRow:
    if isinstance(one, Neighbour):
        found = _row(one.item)
        return AnswerRow({"score": f"{one.score:.6g}", **found.values}, found.entity)
    if isinstance(one, BaseModel):
        values = to_jsonable_python(
            one.model_dump(by_alias=False), bytes_mode="base64", fallback=str
        )
        return AnswerRow(values, one if isinstance(one, Entity) else None)
    if hasattr(one, "__dict__") and not isinstance(one, str | int | float | bool):
        return AnswerRow({name: str(value) for name, value in vars(one).items()}, None)
    return AnswerRow({"answer": one}, None)
