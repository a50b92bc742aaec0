"""What a block speaks about: the entity, table, index and kind of section of its surroundings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from keyfold_workbench.adopt.document.blocks import Block, codes, plain
from keyfold_workbench.adopt.document.key_side import INDEX, KeyNames, index_number, key_side
from keyfold_workbench.adopt.document.notations import (
    AFTER,
    BEFORE,
    NUMBERED,
    STRUCTURE,
    Section,
    section_of,
)
from keyfold_workbench.adopt.document.statements import State

_TABLE = (
    r"(?:\b(?:table|tabla|tabela|tabel|tabelle|tabella)\b|b\u1ea3ng|"
    r"\u30c6\u30fc\u30d6\u30eb|\ud14c\uc774\ube14)"
)
_TABLE_WORD = re.compile(r"(?i)\b(?:table|tabla|tabela|tabel|tabelle)\b|テーブル|테이블")
_TABLE_NAMED = re.compile(
    rf"(?i)(?:{_TABLE}"
    r"(?: name| principal)?\s*(?:\d+\w?)?\s*[:(\u2013\u2014-"
    r"]+\s*[`*]*(?P<a>[\w.${}<>-]+)`?"
    r"|`(?P<b>[\w.${}<>-]+)`)"
)


_OWN_TABLE = re.compile(r"(?i)(?:\d[\d.)]*\s*)?[\w -]+\stable(?:\s*\([\w.${}<>-]+\))?")
_INDEX_TITLE = re.compile(
    rf"(?i)\W*(?:[\d.]+\s+)?{INDEX}\b\s*(?:(?P<inner>\()|[:\u2014\u2013-])?\s*(?P<found>[^()]*)"
)
"""`GSI1: Orders by status`, `GSI1 (Orders by status)`."""
_TABLE_NUMBER = re.compile(rf"(?i){_TABLE}\s*\d+\w?\s*[:.\u2014\u2013-]\s*(\S.*)")
_INDEX_LEAD = re.compile(
    r"(?:(?:GSI|LSI|Index(?: name)?|(?:Global|Local) Secondary Index)\s*(?:[:\u2014\u2013]|-\s)\s*"
    r"(?P<gsi>[A-Za-z][\w.-]+)|(?P<name>(?:GSI|LSI)[_-][A-Za-z]\w*|[A-Za-z][\w.-]*(?:[Ii]ndex|[-_]gsi|_idx)))"
    r"(?:\s*(?:\(.*|[\u2014\u2013-]\s.*|:.*))?"
)
"""A heading or an item that names an index: `GSI: OrdersByDate`, `email-index (optional)`."""
_SENTENCE = re.compile(
    r"(?i)(?:(?:why|how|what|when|where|if|both|these|every)\s|avoid\w*\s|add\w* the|prevent\w*"
    r"|creat\w+ (?:an?|the|tables?)\b|keep this|use this|regardless|the following|all items"
    r"|current state)\b.*|.*[?.]$"
)
"""What announces an explanation, and names nothing."""
TITLED_INDEX = re.compile(
    r"\s*(?:[-*]\s+|\d+[.)]\s*)?\*\*[^*]+\*\*:?\s*\(`([\w.-]*(?:[Ii]ndex|[-_]gsi))`\)"
)
"""`**Orders by day** (`day-index`)`."""
_STAGES = frozenset("table dev prod production staging stage test env environment the".split())  # noqa: SIM905


@dataclass(frozen=True)
class Scope:
    """The surroundings of a block, read from its headings, its label and its parent items."""

    entity: str = ""
    table: str = ""
    index: str = ""
    section: Section = ""
    state: State = ""
    aside: str = ""
    """The heading that sets it apart from the design, as Future."""


@dataclass(frozen=True)
class DocumentFrame:
    """What concerns all blocks: whether there are several tables, and two states of the design."""

    several_tables: bool
    states: bool

    @classmethod
    def of(cls, blocks: list[Block]) -> DocumentFrame:
        heads = [plain(block.text) for block in blocks if block.kind == "heading"]
        tables = {table_title(head) for head in heads} - {""}
        all_heads = " | ".join(heads)
        return cls(len(tables) > 1, bool(BEFORE.search(all_heads) and AFTER.search(all_heads)))


def scope(block: Block, names: KeyNames, frame: DocumentFrame) -> Scope:
    """The scope of a block."""
    aside = next((text for text in (block.label, *block.path[1:]) if _is_aside(text)), "")
    index = ""
    for text in block.above:
        index = index or _index_of(text, names)
    section: Section = next(filter(None, (_section(text, block) for text in block.above)), "")
    table = (
        next(
            filter(
                None, (_table_of(text, names) for text in reversed(block.path[1:] or block.path))
            ),
            "",
        )
        if frame.several_tables or len(names.tables) > 1
        else ""
    )
    return Scope(
        _entity_of(block), table, index, section, _state(block) if frame.states else "", aside
    )


def _is_aside(text: str) -> bool:
    """A heading apart from the design; a name, as cost-center-index or Cost Table, is none."""
    return section_of(text) == "aside" and not _OWN_TABLE.fullmatch(text)


def _section(text: str, block: Block) -> Section:
    """What a text above a block announces; an item that names something announces nothing."""
    lead = _lead(text)
    if text in block.path and re.match(r"(?i)(?:[\d.]+\s+)?(?:gsi|lsi)[ _-]?\d+\b", lead):
        return "indexes"
    named = text in block.parents and not re.match(r"\s*(?:\d+[.)]\s*)?\*\*", text)
    words = re.findall(r"[^\W\d_]+", re.sub(r"\([^)]*\)", "", lead.lower()))
    return "" if named and any(word not in STRUCTURE for word in words) else section_of(lead)


def _table_of(heading: str, names: KeyNames) -> str:
    """The table that a heading is about: named by it, or known from another place."""
    words = ordered_words(NUMBERED.sub("", re.split(r"\s+[\u2014\u2013-]\s+", heading)[0]))
    return (names.table_by_words.get(words, "") if words else "") or table_title(heading)


def _state(block: Block) -> State:
    for text in (block.label, *reversed(block.path)):
        if AFTER.search(text):
            return "after"
        if BEFORE.search(text):
            return "before"
    return ""


def _index_of(text: str, names: KeyNames) -> str:
    found = re.search(rf"(?i)\b({INDEX.removesuffix('*')}+)\b", _lead(text))
    if found:
        return index_number(found[1])
    known = names.index_in(text) if len(text) < 120 else ""
    own = _INDEX_LEAD.fullmatch(NUMBERED.sub("", _lead(text)))
    titled = TITLED_INDEX.match(text)
    return known or (own["gsi"] or own["name"] if own else titled[1] if titled else "")


def _lead(text: str) -> str:
    """The part of an item or a heading that names it: its bold text, or its first line."""
    first = text.splitlines()[0] if text else ""
    bold = re.match(r"\s*(?:\d+[.)]\s*)?\*\*(.+?)\*\*", first)
    return plain(bold[1]) if bold else plain(first)[:120]


def _entity_of(block: Block) -> str:
    for text in block.above:
        lead = _lead(text)
        plain_item = text in block.parents and not re.match(r"\s*(?:\d+[.)]\s*)?\*\*", text)
        if plain_item and (len(lead.split()) > 4 or section_of(block.label) == "attributes"):
            continue
        name = entity_name(lead) or (text in block.parents and _kind_of_item(text))
        if name:
            return name
    return ""


def _kind_of_item(text: str) -> str:
    """`- Item:` above the keys of an item: a name, though the word is one of structure."""
    found = re.fullmatch(
        r"\W*(item|record|note|document|config\w*|template|project|role)s?\W*:\W*", text, re.I
    )
    return found[1].capitalize() if found else ""


def entity_name(text: str) -> str:
    """The entity that a heading or a cell names, in its words; empty if it names none."""
    if index := _INDEX_TITLE.match(plain(text)):
        text = index["found"] or ""
        if not re.search(r"(?i)\s(?:by|for|per|of)\s", text) and not index["inner"]:
            return ""
    text = NUMBERED.sub("", plain(text)).rstrip(":").strip()
    text = re.sub(
        r"(?i)^(?:tables?|entit(?:y|ies)|items?|item type|entity type|entidad|"
        r"record)\b\s*(?:\d+\w?)?\s*[:.\u2013\u2014-]\s*",
        "",
        text,
    )
    if own := re.fullmatch(r"(?i)[\w -]*\btable\s*[:\u2014\u2013-]\s*([\w.-]+)", text):
        text = own[1]
    text = re.split(r"\s+[\u2014\u2013-]\s+|:\s", text)[0]
    text = re.sub(r"(?i)\s*\((?:new|updated|existing|canonical|optional)\)", "", text)
    bare = re.sub(r"\s*\([^)]*\)", "", text).strip() or text
    known = [
        word
        for word in re.findall(r"[^\W_]+", bare)
        if word.lower() not in STRUCTURE and not word.isdigit()
    ]
    if not known or key_side(bare) or len(text) > 60 or "=" in text or _SENTENCE.match(text):
        return ""
    if re.search(r"(?i)\b(?:partition|sort|primary|hash|range)[ _-]key", bare):
        return ""
    if re.search(
        r"^(?:GSI|LSI)[-_]|(?:Index|[-_]index|GSI)$", bare.split(" - ")[0].split("(")[0].strip()
    ):
        return ""
    kind = section_of(re.sub(r"(?i)\s+operations?$", "", bare))
    if kind in ("aside", "patterns", "ttl") or (
        kind == "indexes" and re.search(r"(?i)gsi|ind(?:ex|ices)", bare)
    ):
        return ""
    text = re.sub(
        r"(?i)\s+(?:entity|items?|records?|entities|tables?|objects?|keys?|schema)$", "", text
    )
    return re.sub(r"\s*(?:テーブル|테이블)$", "", text).strip()


def table_title(heading: str) -> str:
    """The table that a heading names: by its name in code, or in words."""
    if _INDEX_LEAD.fullmatch(NUMBERED.sub("", heading)) or _SENTENCE.match(heading):
        return ""
    if numbered := _TABLE_NUMBER.fullmatch(heading):
        return entity_name(numbered[1]) or plain(numbered[1])
    if own := re.match(r"(?:\d+[.)]\s*)?([a-z][\w${}<>.]*(?:-[\w${}<>.]+)+)(?:\s|$)", heading):
        return own[1] if _TABLE_WORD.search(own[1]) or own.end() == len(heading) else ""
    if not _TABLE_WORD.search(heading):
        return ""
    if re.search(
        r"(?i)single[- ]table|table (?:design|structure|overview|schema|of|definition)|"
        r"table (?:keys?|items?|attributes?|index)\b|"
        r"(?:defini|descri|estru|esquema|schéma|structure|diseño)\w* d\w+ (?:la )?tab|"
        r"\b(?:create|creating|cli)\b",
        heading,
    ):
        return ""
    named = _TABLE_NAMED.search(heading)
    given = (named["a"] or named["b"]) if named else ""
    given = given or (
        codelike[-1] if (codelike := re.findall(r":\s*([\w.]+(?:[-_][\w.]+)+)", heading)) else ""
    )
    return given if given and not _TABLE_WORD.fullmatch(given) else entity_name(heading)


def table_name(heading: str) -> str:
    """A table's own name in a heading: in code, or after `Table:`."""
    spans = [
        span
        for span in codes(heading)
        if re.fullmatch(r"[\w.${}<>-]{3,}", span) and not re.fullmatch(rf"(?i){INDEX}", span)
    ]
    if re.search(r"(?i)`\s*(?:object|map|field|attribute)s?$", heading.strip()):
        return ""
    typed = re.search(r"(?i)\((?:string|number|boolean|list|map|binary|set)\b", heading)
    if (
        spans
        and not typed
        and (_TABLE_WORD.search(heading) or re.fullmatch(r"\W*(?:\d[\d.)]*\s*)?`[^`]+`.*", heading))
    ):
        return spans[0]
    found = re.search(
        rf"(?i){_TABLE}(?: name| principal)?" r"\s*:\s*([\w.${}<>-]{3,})",
        plain(heading),
    )
    return found[1] if found else ""


def camel(text: str) -> str:
    """An entity's name for the design file: `Draft orders` is DraftOrder."""
    bare = re.sub(r"\([^)]*\)|\$?[{<][^{}<>]*[}>]", " ", text)
    words = re.findall(r"[^\W_]+(?:_[^\W_]+)*", bare if bare.strip() else text)
    if not words:
        return ""
    words[-1] = singular(words[-1])
    return words[0] if len(words) == 1 else "".join(word[:1].upper() + word[1:] for word in words)


def singular(word: str) -> str:
    """The word without a plural's ending, where that is sure."""
    if re.search(r"(?i)(?:ss|us|is|news|series)$", word) or len(word) < 4:
        return word
    if word.lower().endswith("lyses"):
        return word[:-2] + "is"
    if word.lower().endswith("ies"):
        return word[:-3] + ("Y" if word.isupper() else "y")
    return word[:-2] if re.search(r"(?i)(?:sh|ch|x|ss)es$", word) else re.sub(r"(?i)s$", "", word)


@lru_cache(maxsize=65_536)
def ordered_words(text: str) -> tuple[str, ...]:
    """The words of a table's name in their order, without its stage and the word table."""
    text = re.sub(r"\$?[{<][^{}<>]*[}>]|\([^)]*\)", " ", text).replace("_", " ")
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", text)
    words = [singular(part.lower()) for part in parts]
    return tuple(word for word in words if word not in _STAGES)


@lru_cache(maxsize=65_536)
def words_of(text: str) -> tuple[str, ...]:
    """A name's words without order, plurals and notation: by these two names are one."""
    text = re.sub(
        r"(?i)\b(?:the|an?|canonical|new|record|item|entity|table|metadata record)\b", " ", text
    )
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", text.replace("_", " "))
    return tuple(sorted({singular(part.lower()) for part in parts}))
