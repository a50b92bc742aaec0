"""Fenced blocks: keys of an item, conditions of reads, code with key conditions, example items."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from keyfold_workbench.adopt.document.blocks import Block, CellRow
from keyfold_workbench.adopt.document.code_reads import (
    CALLS,
    COMMENT,
    read_conditions,
    read_gets,
    read_scans,
)
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.index_lines import tell_named_index
from keyfold_workbench.adopt.document.key_clauses import KeyClause, key_clauses
from keyfold_workbench.adopt.document.key_schemas import read_key_schemas
from keyfold_workbench.adopt.document.key_side import INDEX, SIDES, key_side
from keyfold_workbench.adopt.document.key_text import WrittenKey, key_text
from keyfold_workbench.adopt.document.notations import KIND, READ_WORD, attribute_type
from keyfold_workbench.adopt.document.property_rows import key_mark
from keyfold_workbench.adopt.document.prose import read_prose
from keyfold_workbench.adopt.document.reads import (
    clauses_of,
    tell_read,
    tells_reads,
    title_of,
)
from keyfold_workbench.adopt.document.scope import entity_name
from keyfold_workbench.adopt.document.statements import AttributeStatement, KeyStatement, Mark
from keyfold_workbench.adopt.document.tables import read_table
from keyfold_workbench.adopt.document.telling import key_type, tell_attribute, tell_clauses

_SKIPPED = re.compile(
    r"(?i)(?:mermaid|hcl|terraform|tf|ya?ml|toml|sql|graphql|xml|diff|makefile|dockerfile|csv)\b"
)
_CODE = re.compile(
    r"(?i)(?:python|py|typescript|ts|tsx|javascript|js|jsx|kotlin|kt|java|go|golang|rust|"
    r"rs|csharp|c#|cs|scala|ruby|php|swift|bash|sh|shell|console)\b"
)
_PROGRAM = re.compile(
    r"\b(?:await|function|def |return|const \w+ =|import |new \w+Command|async|class |func "
    r"|fn |val |aws dynamodb|(?:put_item|update_item|delete_item|get_item|putItem|getItem)\()"
)
_TITLE = re.compile(
    r"^\s{0,4}(?:#+|//|--|\*|-)?\s*(?P<title>[A-Z][\w ()/-]{1,50}?)\s*(?:\([^)]*\))?:?\s*$"
)
_INLINE_TITLE = re.compile(
    r"^\s*[-*]?\s*(?P<title>[A-Z][\w ()/-]{1,40}?)\s*(?::|\||\u2192|->|=>|"
    r"\s-)\s*(?=[\"'`(]?(?:PK|pk)\b)"
)
_TYPED = re.compile(r"^\s{0,4}(?:-\s*)?(\w+)(\?)?:\s*([^#]+?)[;,]?$")
_MAX = 20_000


@dataclass
class _Group:
    """Lines of a fence that belong together: between blank lines, titles or partition keys."""

    title: str = ""
    index: str = ""
    lines: list[tuple[int, str]] = field(default_factory=list)
    clauses: list[tuple[int, KeyClause]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.lines)


def read_fence(here: Here) -> None:
    """Tell what a fenced block says."""
    if len(here.block.text) <= _MAX and read_key_schemas(here):
        return
    if (
        _SKIPPED.match(here.block.info)
        or len(here.block.text) > _MAX
        or here.block.text.lstrip().startswith("erDiagram")
    ):
        return
    calls = CALLS.search(here.block.text)
    item = None if calls else _item(here.block.text)
    if item is not None and (here.block.text.lstrip().startswith("{") or _is_example(here, item)):
        if any(key_side(name, here.names) for name in item):
            _read_item(here, item)
        if not any(key_side(name) for name in item):
            _tell_marked(here)
        return
    rows = _rows(here.block) if here.at.section not in ("patterns", "examples") else ()
    if rows:
        read_table(replace(here, block=replace(here.block, kind="table", rows=rows)))
        return
    read_gets(here)
    read_scans(here)
    if calls:
        read_conditions(here)
    elif not _PROGRAM.search(here.block.text):
        _read_groups(here)


def _tell_marked(here: Here) -> None:
    """`"orderId": "o-17",  // Partition key`: a comment marks an attribute as a key."""
    for line, text in here.block.lines:
        found = re.match(r"\s*[\"']?(\w+)[\"']?\s*:\s*[^/#]*(?://|#)\s*(\S.*)$", text)
        mark = key_mark(found[2]) if found else None
        if found and mark and not key_side(found[1]):
            kind = "N" if re.search(r":\s*[\d.]+\s*,?\s*/", text) else key_type(found[2])
            tell_attribute(
                here, line, here.at.entity, mark, found[1], kind, "an attribute marked as a key"
            )


def _rows(block: Block) -> tuple[CellRow, ...]:
    """A table of words in columns, two spaces apart or between bars, below PK and SK."""
    lines = [(line, text.strip()) for line, text in block.lines if re.search(r"\w", text)]
    cells = [
        CellRow(line, tuple(re.split(r"\s*[|\u2502]\s*|\s{2,}|\t+", text.strip("|\u2502 "))))
        for line, text in lines
    ]
    width = len(cells[0].cells) if cells else 0
    sides = {side.side for head in cells[0].cells if (side := key_side(head))} if cells else set()
    even = sum(len(row.cells) == width for row in cells)
    if len(sides) < 2 or even < 2 or even * 3 < len(cells) * 2:
        return ()
    return tuple(row for row in cells if len(row.cells) == width)


def _read_groups(here: Here) -> None:
    """Plain lines `PK: …`, `SK: …`: keys of an item, or conditions of a read."""
    groups = _groups(here)
    told = [group for group in groups if group.clauses]
    for group in groups:
        if not group.clauses:
            if not _CODE.match(here.block.info) and here.at.section in ("keys", "indexes", ""):
                for line, text in group.lines:
                    read_prose(
                        replace(
                            here.about(entity=entity_name(group.title) or here.at.entity),
                            block=replace(here.block, kind="item", line=line, text=text),
                        )
                    )
            continue
        only = [clause for _, clause in group.clauses]
        line = group.clauses[0][0]
        entity = entity_name(group.title)
        there = here.about(index=group.index or here.at.index)
        stored = _is_stored(here, group)
        if tells_reads(here.at, group.text, only) and len(_types(group)) < 2 and not stored:
            title = group.title if len(told) > 1 and group.title else title_of(here.block)
            if tell_read(
                here, line, title or group.title, group.text, only, "lines of a condition"
            ):
                told_as: Mark = "read"
            else:
                told_as = "question"
            for each, _ in group.clauses:
                here.reading.mark(each, told_as)
        else:
            entity = entity or (_stored_entity(here) if stored else "")
            tell_clauses(there, group.clauses, entity or here.at.entity, "lines of a key")
            _tell_attributes(here, group, entity or here.at.entity)


def _is_stored(here: Here, group: _Group) -> bool:
    """`GSI1PK: EMAIL#<email>`, `GSI1SK: …` below GSI1: the keys of items, though reads are told."""
    told = [clause for _, clause in group.clauses]
    written = all(c.operator == "=" and ":" in c.raw.split("#")[0] for c in told)
    whole = {clause.side.side for clause in told} == {*SIDES}
    if not (written and whole and here.block.path) or READ_WORD.search(group.text):
        return False
    of_index = _OF_INDEX.match(here.block.path[-1]) is not None
    fields = any(clause.value and clause.value.fields for clause in told)
    return fields and (of_index or not _READS.match(title_of(here.block)))


def _stored_entity(here: Here) -> str:
    """The entity of keys of an index in the section of a table with one."""
    return here.at.entity if here.at.index == "" else here.at.table


_OF_INDEX = re.compile(rf"(?i)\W*{INDEX}\b")
_READS = re.compile(
    r"(?i)(?:pattern\W+)?(?:get|list|find|query|fetch|search|look\w*|read|all|check)\b"
)


def _groups(here: Here) -> list[_Group]:
    reads = here.at.section == "patterns"
    groups = [_Group()]
    title = ""
    for line, text in here.block.lines:
        comment, heading = COMMENT.match(text), _TITLE.match(text)
        found = clauses_of(text, here.names) if reads else key_clauses(text, here.names)
        index = (
            "" if reads or any("#" in c.raw for c in found) else tell_named_index(here, line, text)
        )
        if index:
            groups.append(_Group(title, index))
            continue
        inline = _INLINE_TITLE.match(text)
        if not found and (comment or heading) and not key_side(text):
            name = comment["comment"] if comment else heading["title"] if heading else ""
            if re.match(
                r"(?i)(?:attributes|gsis?|keys?|fields|ttl|retain|example|query|scan|getitem)\b",
                name,
            ):
                groups[-1].lines.append((line, text))
                continue
            title = name
            groups.append(_Group(title))
            continue
        if found and re.match(r"(?i)\W*(?:optional|or|alternatively)\b", text):
            here.ask(line, f"{found[0].raw} is optional; is it in the design?")
            continue
        again = any(
            c.side.side == "partition"
            and any(c.side == known.side for _, known in groups[-1].clauses)
            for c in found
        )
        said = re.search(r"\s(?://|#)\s+(\w.*?)\s*$", text) if reads else None
        if found and (inline or said):
            title = inline["title"] if inline else said[1] if said else title
        if (not text.strip() and groups[-1].clauses) or again or (found and (inline or said)):
            groups.append(_Group(title))
        groups[-1].lines.append((line, text))
        groups[-1].clauses += [(line, clause) for clause in found]
    return groups


def _types(group: _Group) -> list[str]:
    """Lines `total: number`: a group with them is an item."""
    told = {line for line, _ in group.clauses}
    found = (_TYPED.match(text) for line, text in group.lines if line not in told)
    return [each[1] for each in found if each and attribute_type(each[3])[0]]


def _tell_attributes(here: Here, group: _Group, entity: str) -> None:
    """`total: number` below the keys of an item."""
    told = {line for line, _ in group.clauses}
    for line, text in group.lines:
        found = _TYPED.match(text) if line not in told and entity else None
        kind = attribute_type(found[3] if found else "")
        if found and kind.type and not key_side(found[1], here.names):
            here.say(
                AttributeStatement,
                line,
                "lines of a key",
                entity=entity,
                name=found[1],
                type=kind.type,
                stored=kind.stored,
                optional=kind.optional or bool(found[2]),
                values=kind.values,
            )


_ITEM_LINE = re.compile(
    r"(?m)^\s{0,4}[\"']?(?P<name>\w+)[\"']?\s*:\s*(?:[\"'](?P<text>[^\"'\n]*)[\"']|"
    r"(?P<bare>[^\s{\[\"'](?:[^\n#]|\S#)*?))\s*,?\s*(?:(?:#|//)\s.*)?$"
)


def _item(text: str) -> dict[str, Any] | None:
    """An example item as JSON, also with comments, in a program's notation, or in lines."""
    bare = re.sub(r"(?m)(?<![:\"'])//[^\"\n]*$", "", text)
    try:
        item = json.loads(re.sub(r",(\s*[}\]])", r"\1", bare))
    except (ValueError, RecursionError):
        item = {}
        for hit in _ITEM_LINE.finditer(text):
            value = hit["text"] if hit["bare"] is None else hit["bare"]
            item[hit["name"]] = int(value) if hit["bare"] and value.isdecimal() else value
    return item if isinstance(item, dict) and item else None


def _is_example(here: Here, item: dict[str, Any]) -> bool:
    """Lines with keys that hold values: of their other attributes, or such as `"PK": "ORDER"`."""
    keys = {name: str(value) for name, value in item.items() if key_side(name)}
    values = {str(v) for name, v in item.items() if name not in keys and not KIND.fullmatch(name)}
    held = any({*value.split("#")} & values for value in keys.values())
    quoted = re.match(r"\s*\"\w+\"\s*:", here.block.text) is not None
    templates = any(re.search(r"[<{]", value) for value in keys.values())
    return bool(keys) and not templates and (held or quoted)


def _read_item(here: Here, item: dict[str, Any]) -> None:
    """An example item: its attributes; its keys where their parts are values of attributes."""
    if not here.at.entity or READ_WORD.search(re.sub(r"(?m)(?:#|//)\s.*$", "", here.block.text)):
        return
    values: dict[str, str] = {}
    for name, value in item.items():
        if (
            not key_side(name, here.names)
            and isinstance(value, str | int)
            and not (KIND.fullmatch(name) and str(value).isupper())
        ):
            values.setdefault(str(value), name)
            if re.match(r"[A-Za-z].*\d", str(value)):
                known = here.names.values.setdefault(str(value), name)
                here.names.values[str(value)] = name if known == name else ""
    values = {**{value: name for value, name in here.names.values.items() if name}, **values}
    for line, text in here.block.lines:
        found = re.match(r"\s{0,4}[\"']?(\w+)[\"']?\s*:", text)
        if not found or found[1] not in item:
            continue
        value, side = item[found[1]], key_side(found[1], here.names)
        if side and not key_side(found[1]) and "#" not in str(value):
            side = None  # an attribute that is a key by its own name
        if side and isinstance(value, str) and side.index != "*":
            key = WrittenKey(f"<{values[value]}>") if value in values else key_text(value)
            if key is not None and ("#" in value or value.isupper() or key.fields or key.example):
                key = _generalised(value, values) if not key.fields else key
                here.say(
                    KeyStatement,
                    line,
                    "an example item",
                    entity=here.at.entity,
                    side=side,
                    key=key,
                    section=here.block.path,
                )
            here.mark_read(line)
        elif side is None:
            word = {
                str: "string",
                bool: "boolean",
                int: "number",
                float: "decimal",
                list: "list",
                dict: "map",
            }.get(type(value), "")
            word = (
                "timestamp"
                if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value)
                else word
            )
            here.say(
                AttributeStatement,
                line,
                "an example item",
                entity=here.at.entity,
                name=found[1],
                type=word,
            )


def _generalised(value: str, values: dict[str, str]) -> WrittenKey:
    """`ORDER#o-17` of an item with orderId o-17 is `ORDER#<orderId>`."""
    parts = [
        f"<{values[part]}>" if part in values and (at or not part.isupper()) else part
        for at, part in enumerate(value.split("#"))
    ]
    left = [part for at, part in enumerate(parts) if at and "<" not in part and not part.isupper()]
    text = "#".join(parts)
    return WrittenKey(text, "", bool(left) or (text == value and not value.isupper()))
