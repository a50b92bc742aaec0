"""List items and paragraphs: keys, key attributes, indexes, tables, attributes and reads."""

from __future__ import annotations

import re
from dataclasses import replace

from keyfold_workbench.adopt.document.blocks import codes, plain
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.index_lines import tell_named_index, tell_titled_keys
from keyfold_workbench.adopt.document.key_clauses import KeyClause, key_clauses
from keyfold_workbench.adopt.document.key_side import (
    INDEX,
    SIDES,
    KeySide,
    key_side,
)
from keyfold_workbench.adopt.document.key_text import AND_EXAMPLE, is_absent, key_text
from keyfold_workbench.adopt.document.notations import (
    DESCENDING,
    PERHAPS,
    READ_BY,
    READ_WORD,
    attribute_type,
)
from keyfold_workbench.adopt.document.property_rows import tell_index, tell_property
from keyfold_workbench.adopt.document.reads import clauses_of, tell_read, tells_reads, title_of
from keyfold_workbench.adopt.document.scope import entity_name
from keyfold_workbench.adopt.document.side_reads import tell_sides
from keyfold_workbench.adopt.document.statements import AttributeStatement
from keyfold_workbench.adopt.document.table_lines import tell_table, tell_table_keys
from keyfold_workbench.adopt.document.telling import (
    attribute_in,
    key_type,
    tell_attribute,
    tell_cell,
    tell_clauses,
)

_NAME = re.compile(
    r"\s*(?:\[.\]\s*)?(?:\*\*(?P<bold>.+?)\*\*|(?P<text>[^`:=#|](?:[^`:=#|]|`\w+`){2,70}?)\s*(?::\s|\u2192|"
    r"->|\s\u2014\s|\s-\s|:$))"
)
_LABELLED = re.compile(
    r"\s*[-*]?\s*(?P<label>(?:\*\*[^*]{1,50}\*\*|`[^`]{1,40}`|[\w "
    r"/-]{2,30}?)(?:\s*\([^()]{1,40}\))?(?:\*\*)?)\s*(?P<sign>[:=]|\u2192|->|\u2014|\u2013|"
    r" - )\*{0,2}\s*(?P<value>\S.*)"
)
_KEY_WORD = (
    r"(?:(?:gsi|lsi)\d* )?(?:partition[ -]key|sort[ -]key|hash[ -]key|range[ -]key|pk|sk|"
    r"(?-i:HASH|RANGE)|(?<=\()primary key)"
)
_BARE_SIDE = re.compile(
    rf"(?i)\s*[-*]?\s*[`*]*(\w+)\b[`*]*\s*[(\u2014:\u2013,-]?\s*(?:string|number|s|"
    rf"n)?\W*({_KEY_WORD})\b"
)
_STRUCTURAL = re.compile(
    r"(?i)(?:keys?|primary(?: keys?)?|gsis?(?: keys)?|gsi\d.*|lsi\d.*|index.*|payload|"
    r"quer(?:y|ies)|dynamodb.*|access(?: patterns?)?|implementation|operation|condition|scan|"
    r"mirror.*|optional.*|example.*|notes?|purpose|rule|method|why|enables|results?|used.*|"
    r"critical.*|warning|description|benefits?|rationale|table.*|main table.*|base.*)\b"
)


def read_prose(here: Here) -> None:
    """Tell what a paragraph or a list item says."""
    if re.match(r"\s*\[[ xX]\]", here.block.text) or len(here.block.text) > 20_000:
        return
    if tell_sides(here):
        return
    parts = [line for line, text in here.block.lines if READ_PART.match(text)]
    if len(parts) > 1 and here.at.section == "patterns" and READ_WORD.search(here.block.text):
        _tell_parts(here, parts)
        return
    name = _name(here.block.text)
    facts = {line for line, text in here.block.lines if _tell_fact(here, line, text)}
    lines = [(line, text) for line, text in here.block.lines if line not in facts]
    text = "\n".join(text for _, text in lines)
    in_reads = here.at.section == "patterns" or READ_WORD.search(text) is not None
    found = [
        (line, clause)
        for line, text in lines
        for clause in (clauses_of if in_reads else key_clauses)(text, here.names)
    ]
    only = [clause for _, clause in found]
    call = next((span for span in codes(text) if re.fullmatch(r"\w+\([\w, ]*\)", span)), "")
    if of_index := re.fullmatch(rf"(?i){INDEX}\s*\((\D.+)\)", name):
        name = of_index[1]
    structural = bool(_STRUCTURAL.match(name)) or key_side(name) is not None
    if not only and here.at.section in ("keys", "") and (pair := _pair(text)):
        found, only = [(here.block.line, clause) for clause in pair], pair
    if (
        only
        and tells_reads(here.at, text, only)
        and not (structural and here.at.section != "patterns" and not READ_WORD.search(text))
    ):
        if here.block.kind == "text" and here.at.section == "keys" and not name:
            for line, _ in found:
                here.mark_read(line)  # why keys are so
            return
        title = name if name and not structural else title_of(here.block)
        above = here.block.parents[-1] if here.block.parents and (structural or not name) else ""
        if tell_read(
            here, found[0][0], title, f"{above} {text}".strip(), only, "a line of a pattern"
        ):
            for line, _ in found:
                here.mark_read(line)
    elif only:
        _tell_keys(here, found, "" if structural else name, text)
    elif (
        not facts
        and here.at.section == "patterns"
        and (call or (name and not structural))
        and READ_WORD.search(text)
    ):
        tell_read(here, here.block.line, name or call, text, [], "a line of a pattern")
    elif not facts and here.at.section == "patterns" and here.at.table and READ_BY.match(text):
        tell_read(here, here.block.line, text.splitlines()[0], text, [], "a read in words")
    elif not facts:
        _tell_attributes(here, name)


READ_PART = re.compile(
    r"(?i)\W*(?:table|operation|method|index(?: used)?|gsi|keys?|(?:key )?conditions?|"
    r"parameters?|sort(?:ing)?|order|limit|filter\w*|pk|sk|(?:partition|sort) key|use case|"
    r"returns?|result)\W*:"
)
"""A line with one part of a read: `**Operation**: Query`."""


_ORDER = re.compile(r"(?i)\W*(?:sort(?:ing)?|order)\W*:")


def _tell_parts(here: Here, lines: list[int]) -> None:
    """`**Table**: Orders`, `**Operation**: GetItem`, `**Key**: `orderId``: a read in parts."""
    text = "\n".join(
        "DESC" * bool(DESCENDING.search(text)) if _ORDER.match(text) else text
        for _, text in here.block.lines
    )
    found = clauses_of(text, here.names)
    if tell_read(here, lines[0], title_of(here.block), text, found, "lines of a pattern"):
        for line in lines:
            here.mark_read(line)


def _pair(text: str) -> list[KeyClause]:
    """`ORDER#<id>` / `META`: the two sides of a key, in one line."""
    spans = codes(text)
    whole = re.match(r"Key `[^`]+`", text)  # Key `ORDER#<id> / META`.
    between = whole or re.search(r"`\s*(?:/|\+|,|\|)\s*`", text)
    spans = spans[0].split(" / ") if whole else spans
    values = [key_text(span) for span in spans]
    if not between or None in values or (whole is None and "#" not in spans[0]):
        return []
    if len(spans) > 2 or (len(spans) == 1 and whole is None):
        return []
    if not any(value and value.fields for value in values):
        return []  # examples
    sides = zip(SIDES, values, spans, strict=False)
    return [KeyClause(KeySide("", side), "=", (value,), raw) for side, value, raw in sides]


def _name(text: str) -> str:
    """What an item begins with, in bold or before a colon."""
    found = _NAME.match(text)
    name = plain(found["bold"] or found["text"]).rstrip(":").strip() if found else ""
    return "" if "=" in name else name


def _tell_keys(here: Here, found: list[tuple[int, KeyClause]], name: str, text: str) -> None:
    """`- **Order**: PK=ORDER#<id>, SK=META`."""
    if here.at.section == "examples" and not any(c.value and c.value.fields for _, c in found):
        for line, _ in found:
            here.mark_read(line)
        return
    whole = any(clause.side.side == "partition" and not clause.side.index for _, clause in found)
    entity = (
        entity_name(name)
        or (name if whole and len(name.split()) < 5 and " key" not in name.lower() else "")
        or here.at.entity
    )
    if PERHAPS.search(text) and all(clause.side.index for _, clause in found):
        for line, clause in found:
            here.ask(line, f"{entity}: {clause.raw} is optional; is it in the design?")
        return
    tell_clauses(here, found, entity, "a line of keys")
    for line, said in here.block.lines:
        also = re.search(r"(?:\b(?:or|ou|o|oder)\b|/)\s*`([^`]*#[^`]*)`", said)
        if also and any(at == line for at, _ in found):
            here.ask(line, f"{entity or 'It'}: may it also be {also[1]}?")


def _tell_fact(here: Here, line: int, text: str) -> bool:
    """A line with one fact: a property, a key attribute, an index."""
    if tell_table_keys(here, line, text):
        return True
    if tell_titled_keys(here, line, text):
        return True
    if tell_named_index(here, line, text):
        return True
    labelled = _LABELLED.match(text.replace(":**", "**:"))
    if labelled is None:
        return _tell_side(here, line, text) or tell_table(here, line, text)
    label, value = plain(labelled["label"]), labelled["value"]
    numbered = re.fullmatch(rf"(?i)({INDEX})(?:\s*\(.*\))?", label)
    if (
        numbered
        and not key_clauses(value, here.names)
        and tell_index(here, line, numbered[1], value)
    ):
        return True
    if labelled["sign"] in ":=" and tell_property(here, line, re.sub(r"\s*\(.*", "", label), value):
        return True
    side = key_side(label, here.names) if label not in ("hash", "range", "sort") else None
    if side is None and _tell_headed(here, line, label, value):
        return True
    if (
        side is None
        or here.at.section == "patterns"
        or re.search(r"(?i)begins?_?with|[<>]=?\s*[\"'`]|between ", value)
    ):
        return _tell_side(here, line, text) or tell_table(here, line, text)
    if len(key_clauses(text, here.names)) > 1:
        return False
    if here.at.section == "examples" and not re.search(r"[<{]", value):
        here.mark_read(line)
        return True
    inner = re.search(r"\((\w+)[^()]*\)$", label)
    if is_absent(value):
        here.mark_read(line)
        return True
    named = side.attribute or (inner[1] if inner and key_side(inner[1]) else "")
    first = re.split(r"\s*[(,;]|\s+-\s", plain(value))[0].strip()
    described = (
        not codes(value)
        and "#" not in value
        and not re.search(r"[<{]", value)
        and (
            " " in first
            or re.search(r"[^\x00-\x7f]", first) is not None
            or re.fullmatch(r"(?i)s|n|b|string|number|binary", first) is not None
        )
    )
    if described and label in here.names.attributes and not key_side(label):
        return False  # an attribute in the words of another item
    if named and described:
        where = replace(side, index=side.index if side.index != "*" else here.at.index)
        tell_attribute(here, line, "", where, named, key_type(value), "a line of a key attribute")
        return True
    if described:
        if not key_clauses(text, here.names) or not re.search(r"[#=]", value):
            here.ask(line, f"{label}: what is {plain(value)[:80]}?")
            return True
        return False
    index = (
        here.at.index
        if (side.index in ("", "*") and here.at.section == "indexes") or side.index == "*"
        else side.index
    )
    cell = (
        value
        if codes(AND_EXAMPLE.sub("", value))
        else re.split(r"\s+[(\u2014\u2013]|\s-\s|,\s", value)[0]
    )
    tell_cell(
        here,
        line,
        here.at.entity,
        KeySide(index, side.side, side.attribute),
        cell,
        "a line of a key",
    )
    return True


def _tell_headed(here: Here, line: int, label: str, value: str) -> bool:
    """`Attribute: `userId`` or `Format: `USER#<id>`` below the heading Partition Key (PK)."""
    if _tell_primary(here, line, label, value):
        return True
    side = key_side(here.block.label) or (
        key_side(here.block.path[-1]) if here.block.path else None
    )
    if side is None or here.block.parents:
        return False
    inner = re.search(r"\(`?(\w+)`?\)$", here.block.label or here.block.path[-1])
    own = side.attribute or (inner[1] if inner else "")
    side = replace(side, index=side.index or here.at.index, attribute=own)
    entity = here.at.entity if not side.index else ""
    if _ATTRIBUTE.fullmatch(label) and attribute_in(value):
        name = attribute_in(value)
        tell_attribute(here, line, entity, side, name, key_type(value), "a line of a key attribute")
        return True
    if _FORMAT.fullmatch(label) and codes(AND_EXAMPLE.sub("", value)):
        tell_cell(here, line, here.at.entity, side, value, "a line of a key")
        return True
    return False


def _tell_primary(here: Here, line: int, label: str, value: str) -> bool:
    """`- `orderId` (String): …` below Primary key is the partition key, the next the sort key."""
    above = here.block.label or (here.block.path[-1] if here.block.path else "")
    name = re.sub(r"\s*\(.*", "", label)
    if not _PRIMARY.fullmatch(above) or here.block.kind != "item" or key_side(name):
        return False
    if not codes(here.block.text) or not re.fullmatch(r"[A-Za-z_]\w*", name) or "#" in value:
        return False
    before = [text for text in here.reading.text.splitlines()[: line - 1] if text.strip()][-2:]
    first = bool(before) and _PRIMARY.fullmatch(plain(before[-1].lstrip("# ")).rstrip(":").strip())
    second = len(before) > 1 and _PRIMARY.fullmatch(
        plain(before[0].lstrip("# ")).rstrip(":").strip()
    )
    if not first and not second:
        return False
    side = KeySide("", "partition" if first else "sort")
    tell_attribute(here, line, here.at.entity, side, name, key_type(label), "a line of a key")
    if not first:
        here.ask(line, f"Is {name} the sort key? It is read so.")
    return True


_PRIMARY = re.compile(r"(?i)primary keys?")
_ATTRIBUTE = re.compile(r"(?i)(?:attribute|field|key|atributo|campo)?(?: ?name)?|nombre|nome")
_FORMAT = re.compile(r"(?i)(?:key )?(?:format|pattern|value|template|structure|formato|valor)s?")


def _tell_side(here: Here, line: int, text: str) -> bool:
    """`PK` (partition key, string): an attribute that is a side of the key."""
    found = _BARE_SIDE.match(text)
    if not found or is_absent(found[1]) or text[found.end(1) : found.end(1) + 1] == "(":
        return False
    whole = re.fullmatch(r"\W*(?:\([^)]*\)|-.*)?", text[found.end(2) :]) is not None
    typed = re.match(r"\s*:\s*\w", text[found.end(1) :]) is not None
    marked = re.search(r"[`*]", text[: found.end(1) + 1]) or (typed and whole)
    if not (marked or key_side(found[1])):
        return False
    side = key_side(found[2]) or (
        KeySide("", "partition") if found[2].lower() == "primary key" else None
    )
    if side and not side.index and re.search(r"(?i)\b(?:gsi|lsi|index)\b", text):
        return False
    if side is None or side == key_side(found[1]) or "#" in text or "=" in text:
        return False
    known = key_side(found[1])
    if known and known.side != side.side:
        return False  # `PK`/`SK` in a sentence
    tell_attribute(
        here,
        line,
        here.at.entity if not here.at.index else "",
        side,
        found[1],
        key_type(text),
        "a line of a key attribute",
    )
    return True


def _tell_attributes(here: Here, name: str) -> None:
    """`- `total` (Number): in cents` under Attributes, or `**Payload**: `a`, `b?``."""
    if not here.at.entity:
        return
    if re.match(r"(?i)(?:payload|attributes?|fields?|data)\b", name):
        for span in codes(here.block.text):
            if told := re.fullmatch(r"(\w+)(\??)(?:\s*:\s*(.+))?", span):
                _tell_attribute(here, here.block.line, told[1], told[2], told[3] or "")
    elif here.at.section == "attributes":
        told = re.match(
            r"\s*[`*]{0,2}(\w+)(\??)[`*]{0,2}\s*(?:\(([^)]*)\))?\s*(?:[:\u2014\u2013-]\s*("
            r"\S+).*)?$",
            here.block.text,
        )
        typed = told and any(attribute_type(each or "")[0] for each in (told[3], told[4]))
        if told and (typed or re.match(r"\s*\**`", here.block.text)):
            kind = told[3] if told[3] and attribute_type(told[3])[0] else (told[4] or "")
            _tell_attribute(here, here.block.line, told[1], told[2], kind)


def _tell_attribute(here: Here, line: int, name: str, mark: str, kind: str) -> None:
    if key_side(name) or re.fullmatch(r"(?i)type|entity_?type|_type|__typename", name):
        here.mark_read(line)
        return
    written = attribute_type(kind)
    here.say(
        AttributeStatement,
        line,
        "a line of attributes",
        entity=here.at.entity,
        name=name,
        type=written.type,
        stored=written.stored,
        optional=written.optional or bool(mark),
        values=written.values,
    )
