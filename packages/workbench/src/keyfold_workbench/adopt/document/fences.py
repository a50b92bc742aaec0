"""Fenced blocks: keys of an item, conditions of reads, code with key conditions, example items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from keyfold_workbench.adopt.document.blocks import Block, CellRow
from keyfold_workbench.adopt.document.code_reads import (
    CALLS,
    COMMENT,
    read_conditions,
    read_gets,
    read_scans,
)
from keyfold_workbench.adopt.document.example_items import read_item
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.index_lines import tell_named_index
from keyfold_workbench.adopt.document.key_clauses import KeyClause, key_clauses
from keyfold_workbench.adopt.document.key_schemas import read_key_schemas
from keyfold_workbench.adopt.document.key_side import INDEX, SIDES, KeySide, index_number, key_side
from keyfold_workbench.adopt.document.notations import READ_WORD, attribute_type
from keyfold_workbench.adopt.document.prose import read_prose
from keyfold_workbench.adopt.document.reads import (
    clauses_of,
    tell_read,
    tells_reads,
    title_of,
)
from keyfold_workbench.adopt.document.scope import entity_name
from keyfold_workbench.adopt.document.statements import (
    AttributeStatement,
    Mark,
    TableStatement,
)
from keyfold_workbench.adopt.document.tables import read_table
from keyfold_workbench.adopt.document.telling import tell_clauses

_SKIPPED = re.compile(
    r"(?i)(?:mermaid|hcl|terraform|tf|ya?ml|toml|sql|graphql|xml|diff|makefile|dockerfile|csv)\b"
)
_CODE = re.compile(
    r"(?i)(?:python|py|typescript|ts|tsx|javascript|js|jsx|kotlin|kt|java|go|golang|rust|"
    r"rs|csharp|c#|cs|scala|ruby|php|swift|bash|sh|shell|console)\b"
)
_PROGRAM = re.compile(
    r"\b(?:await|function|def |return|const \w+ =|import |new \w+Command|async|class |func "
    r"|fn |val |aws dynamodb|Item\s*:\s*\{|"
    r"(?:put_item|update_item|delete_item|get_item|putItem|getItem)\()"
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
    if boxes := [*_boxes(here)]:
        for box in boxes:
            _read_groups(box)
        return
    if not calls and read_item(here):
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


def _boxes(here: Here) -> Iterator[Here]:
    """Tables drawn as boxes: `│ orders │` above the keys of their items."""
    start = 0
    lines = [re.sub(r"^\s*[│┃]\s?|\s*[│┃]\s*$", "", text) for _, text in here.block.lines]
    if not any(re.match(r"\s*[┌╔]", text) for text in lines):
        return
    for end, text in enumerate(lines):
        if re.match(r"\s*[┌╔]", text):
            start = end + 1
        if not re.match(r"\s*[└╚]", text):
            continue
        inner = ["" if re.match(r"\s*[├╠─═]", each) else each for each in lines[start:end]]
        title = inner[0].strip() if inner else ""
        whole = "\n".join(["", *inner[1:]])
        if re.fullmatch(r"[\w.-]{3,}", title) and key_clauses(whole, here.names):
            line = here.block.line + start
            box = replace(here.block, line=line, text=whole, label=title)
            there = replace(here.about(table=title, entity=title, section="keys"), block=box)
            there.say(TableStatement, line, "a heading", title=title, name=title)
            yield there


def _read_groups(here: Here) -> None:
    """Plain lines `PK: …`, `SK: …`: keys of an item, or conditions of a read."""
    groups = _groups(here)
    told = [group for group in groups if group.clauses]
    several = len([*filter(_in_a_line, told)]) > 1 and here.at.section != "patterns"
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
        if several and _in_a_line(group) and not entity:
            tell_clauses(here.about(entity=""), group.clauses, "", "a line of keys")
            continue
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


def _in_a_line(group: _Group) -> bool:
    """`PK: ORG#<id>  SK: USER#<id>`: an item in each of several lines."""
    sides = [clause.side for _, clause in group.clauses if clause.operator == "="]
    lines = {line for line, _ in group.clauses}
    return len(lines) == 1 and [side.side for side in sides] == [*SIDES] and not sides[0].index


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
        placed = _OF_INDEX_KEYS.match(text)
        inline = None if placed else _INLINE_TITLE.match(text)
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
        if found and placed and not reads and not any(c.side.index for c in found):
            found = [_of_index(clause, index_number(placed[1]), groups) for clause in found]
        again = any(
            c.side.side == "partition"
            and any(
                (c.side.index, c.side.side) == (known.side.index, known.side.side)
                for _, known in groups[-1].clauses
            )
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


_OF_INDEX_KEYS = re.compile(rf"(?i)\s*[-*]?\s*((?:{INDEX})\d)\s*(?:\([^()]*\))?\s*:\s*(?=pk\b)")


def _of_index(clause: KeyClause, number: str, groups: list[_Group]) -> KeyClause:
    """`GSI1 (by day): PK=same  SK=DAY#<day>`: a clause about the index of its line."""
    told = (c for group in reversed(groups) for _, c in group.clauses)
    own = next((c.value for c in told if c.side == clause.side), None)
    same = clause.value is not None and clause.value.text == "same"
    values = (own,) if same else clause.values
    return replace(clause, side=KeySide(number, clause.side.side), values=values)


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
