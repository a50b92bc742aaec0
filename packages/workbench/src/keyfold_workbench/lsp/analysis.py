"""What an editor shows of a design: problems with positions, and symbols with descriptions.

It is plain data, since a Python declaration is analysed in a separate process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from keyfold.design.schema import EntitySchema, PatternSchema, Schema, SearchSchema
from keyfold.design.source import Place
from keyfold.design.yaml_text import DesignFileError
from keyfold.errors import DeclarationError, KeyfoldError
from keyfold.review.check import check
from keyfold.review.check.fixes import declaration_fixes, declaration_place
from keyfold.review.check.report import Finding, Fix
from keyfold_workbench.cost import Workload, bill, load
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.reads import read

PREFIX = re.compile(r"[A-Za-z][\w-]*#")
"""A constant of a key, with its delimiter."""
WORKLOAD = "workload.yaml"
"""The workload file beside the design: its rates give the lenses their costs."""
SymbolKind = Literal["entity", "pattern", "index", "table"]


@dataclass(frozen=True)
class TextProblem:
    """A problem at a position."""

    place: Place
    severity: str
    code: str
    message: str
    fixes: tuple[tuple[Place, Fix], ...] = ()


Tell = Callable[[tuple[TextProblem, ...]], None]


@dataclass(frozen=True)
class Symbol:
    """A name in a design: its declaration, its meaning and its parameters."""

    name: str
    kind: SymbolKind
    place: Place
    hover: str
    lens: str = ""


@dataclass(frozen=True)
class Analysis:
    """The analysis of one text."""

    problems: tuple[TextProblem, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)
    """The types of entity fields, by name."""
    prefixes: dict[str, str] = field(default_factory=dict)
    """What each constant of the keys begins or parts, in words."""

    def symbol(self, name: str) -> Symbol | None:
        return next((one for one in self.symbols if one.name == name), None)


def analyse_file(text: str, path: str, tell: Tell = lambda _: None) -> Analysis:
    """The analysis of a design file's text, valid or not.

    Problems are reported first; the rest takes half as long again.
    """
    from keyfold.design.file import loads

    try:
        schema = loads(text, file=path)
    except DesignFileError as error:
        return Analysis((TextProblem(error.place, "error", "", error.message),))
    except KeyfoldError as error:
        return Analysis((TextProblem(Place(path, 1), "error", "", str(error)),))
    return analyse(schema, path, tell)


def analyse_document(text: str, path: str) -> Analysis:
    """The lines of a design document that are not simply read; nothing for other documents."""
    from keyfold_workbench.adopt.document.design import design_of
    from keyfold_workbench.adopt.document.statements import KeyStatement

    try:
        reading = design_of(text, path).reading
    except KeyfoldError as error:
        line = re.match(r"line (\d+): ", str(error))
        place = Place(path, int(line[1]) if line else 1)
        return Analysis((TextProblem(place, "error", "", str(error)),))
    if not any(isinstance(said, KeyStatement) for said in reading.statements):
        return Analysis()
    told = {line: "; ".join(questions) for line, questions in reading.questions.items()}
    return Analysis(
        tuple(
            TextProblem(Place(path, line), severity, "", told.get(line, mark))
            for line, mark in sorted(reading.marks.items())
            if (severity := _MARKS.get(mark))
        )
    )


_MARKS = {"question": "note", "contradicts": "warning", "not understood": "question"}
"""The severity of a line's mark in an editor."""


def analyse(schema: Schema, path: str, tell: Tell = lambda _: None) -> Analysis:
    """Findings of the reviewer, and every symbol of the design."""
    problems = tuple(_problem(one) for one in check(schema).findings)
    tell(problems)
    fields = {
        attribute.field: attribute.type
        for entity in schema.entities
        for attribute in entity.attributes
    }
    return Analysis(
        problems,
        tuple(_symbols(schema, _workload(schema, path))),
        fields,
        _prefixes(schema),
    )


def _prefixes(schema: Schema) -> dict[str, str]:
    """Where the constants of keys stand, such as `ROOM#`."""
    found: dict[str, list[str]] = {}
    for entity in schema.entities:
        keys = [(entity.table, entity.key), *((one.index, one.key) for one in entity.placements)]
        for owner, key in keys:
            for side, template in (("partition", key.partition), ("sort", key.sort)) if key else ():
                for prefix in PREFIX.findall(str(template)) if template else ():
                    found.setdefault(prefix, []).append(f"{entity.name}: {side} key of {owner}")
    for pattern in schema.patterns:
        for template in filter(None, (pattern.partition, pattern.condition.template)):
            for prefix in PREFIX.findall(str(template)):
                found.setdefault(prefix, []).append(f"read by {pattern.name}")
    return {
        prefix: "\n".join([f"**{prefix}**", "", *(f"- {one}" for one in dict.fromkeys(uses))])
        for prefix, uses in found.items()
    }


def _workload(schema: Schema, path: str) -> Workload | None:
    """The workload file beside the design, if it exists and matches."""
    try:
        return load(Path(path).with_name(WORKLOAD), schema)
    except KeyfoldError:
        return None


def declaration_problem(error: DeclarationError, path: str) -> TextProblem:
    """A declaration error as a problem, with its fix."""
    place = declaration_place(error) or Place(path, 1)
    message = f"{error.message} {error.suggestion}".strip()
    return TextProblem(place, "error", error.code, message, declaration_fixes(error))


def _problem(finding: Finding) -> TextProblem:
    message = f"{finding.subjects}: {finding.message}\n{finding.suggestion}"
    return TextProblem(finding.place, finding.severity, finding.code, message, finding.fixes)


def _symbols(schema: Schema, workload: Workload | None) -> Iterator[Symbol]:
    figures = DesignNumbers(schema, workload or Workload())
    lines = bill(schema, workload).patterns if workload is not None else ()
    dollars = {one.pattern.name: one for one in lines if one.rate.average}
    for table in schema.tables:
        shown = ", ".join(one for one in (table.partition, table.sort) if one)
        yield Symbol(table.name, "table", table.place, f"**table {table.name}** ({shown})")
        for index in table.indexes:
            placed = [entity.name for entity, _ in schema.placed_on(table.name, index.name)]
            hover = f"**index {index.name}** of {table.name}: {', '.join(placed) or 'no entity'}"
            yield Symbol(index.name, "index", index.place, hover)
    for entity in schema.entities:
        yield Symbol(entity.name, "entity", entity.place, _entity_hover(schema, entity))
    for search in schema.searches:
        yield Symbol(search.name, "pattern", search.place, _search_hover(search), "priced by bytes")
    for pattern in schema.patterns:
        priced = read(figures, pattern)
        lens = f"requests: {priced.requests:g}, units: {priced.total:g}"
        if (line := dollars.get(pattern.name)) is not None:
            lens += f", ${line.dollars:,.2f} a month at {line.rate.average:g} a second"
        hover = f"{_pattern_hover(pattern)}\n\n{lens}"
        yield Symbol(pattern.name, "pattern", pattern.place, hover, lens)


def _entity_hover(schema: Schema, entity: EntitySchema) -> str:
    lines = [f"**{entity.name}** in {entity.table}", "", f"- key `{entity.key}`"]
    lines += [f"- {one.index} `{one.key}`" for one in entity.placements]
    for one in schema.follows:
        if one.source == entity.name:
            where = f" of {one.target}" if one.target else ""
            lines.append(f"- a write triggers {one.name}{where} ({one.sync})")
    return "\n".join(lines)


def _search_hover(search: SearchSchema) -> str:
    lines = [f"**{search.name}**: the nearest {search.entity} by {search.index}", ""]
    if search.given:
        lines.append(f"- within {', '.join(search.given)}")
    if search.limit:
        lines.append(f"- at most {search.limit} neighbours")
    lines.append("- priced by the bytes of the entries it reads")
    return "\n".join(lines)


def _pattern_hover(pattern: PatternSchema) -> str:
    where = pattern.index or pattern.table
    lines = [f"**{pattern.name}**: {pattern.kind} of {', '.join(pattern.entities)} on {where}", ""]
    if pattern.partition is not None:
        lines.append(f"- partition `{pattern.partition}`")
    if pattern.condition.operator != "none":
        lines.append(f"- sort {pattern.condition.operator} `{pattern.condition.template or ''}`")
    if pattern.limit:
        lines.append(f"- at most {pattern.limit} items a page")
    return "\n".join(lines)
