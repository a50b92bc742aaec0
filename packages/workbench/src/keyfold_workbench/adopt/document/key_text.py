"""Key templates as documents write them: `ROOM#<roomId>`, `USER#${id}`, `ORDER#:id`, `TEAM#ID`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from keyfold_workbench.adopt.document.blocks import codes, plain

_HOLE = re.compile(
    r"\$?\{\{\s*(?P<double>[^{}]+?)\s*\}\}|\$?\{\s*(?P<brace>[^{}]+?)\s*\}|"
    r"<\s*(?P<angle>[^<>]+?)\s*>"
    r"|\[\s*(?P<square>[^\[\]]+?)\s*\]|(?:(?<=#)|^):(?P<colon>[A-Za-z_]\w*)|"
    r"\$(?P<dollar>[A-Za-z_]\w*)"
)
_FIELD_WORD = re.compile(
    r"[a-z]\w*(?:Id|ID|_id|At|Date|Time|Key|Code|Name|Email|Slug|Hash)|id|uuid|ulid|guid|"
    r"ID|UUID|ULID|GUID"
    r"|email|timestamp|date|slug|username|YYYY[-/A-Za-z:]*|yyyy[-/A-Za-z:]*|ISO\w*|Timestamp"
)
_EXAMPLE_PART = re.compile(
    r"[a-z]+[-_]?\d+\w*|\d{2,}\w*|[0-9a-f]{6,}|[0-9a-f]{8}-[0-9a-f-]+|\d{4}-\d\d.*|\S+@\S+"
    r"|[a-z0-9]+(?:-[a-z0-9]+)*-\d+|[A-Z]{1,4}\d{2,}|[1-9]|[0-9A-HJKMNP-TV-Z]{20,26}"
)
_EXAMPLE_KEY = r"[a-z]+(?:-[a-z]+)*-\d+|[0-9a-f]{8}-[0-9a-f-]{20,}"
_LITERAL = re.compile(r"(?:[\w#:|/.@+~^!-]|<\w+>)+")
ABSENT = re.compile(
    r"(?i)[(\s]*(?:n/?a|none|no|not (?:used|set|needed|applicable|required)|unused|nil|null"
    r"|no (?:sort|range) key|[-\u2013\u2014\u2212]+|)(?:\s*\([^)]*\))?[)\s.]*"
)
_NEGATION = re.compile(
    r"(?i)(?:none|no|not|without|nu|kh\u00f4ng|nein|kein\w*|ohne|sin|sem|n\u00e3o|ningun\w*|nenhum\w*|"
    r"aucun\w*|pas|non|nessun\w*|ingen|nincs|brak|\u043d\u0435\u0442|f\u0103r\u0103)\b|.*(?:\u306a\u3057|\uc5c6\uc74c|\u65e0)"
)
AND_EXAMPLE = re.compile(
    r"(?i)\s*[(,;:]*\s*(?:e\.g\.?|for example|examples?\b|ex\.|z\.B\.|eg\b|i\.e\.?).*$"
)


@dataclass(frozen=True)
class WrittenKey:
    """A template in one notation: fields as `<name>`."""

    text: str
    doubt: str = ""
    """Why it may be meant otherwise."""
    example: bool = False
    """It holds a value, as ROOM#r-17, so it is an item's key and no template."""
    open: bool = False
    """The document leaves its end out: ROOM#…"""

    @cached_property
    def shape(self) -> str:
        """The template without the names of its fields."""
        return re.sub(r"<\w+>", "<>", self.text)

    @property
    def fields(self) -> list[str]:
        return re.findall(r"<(\w+)>", self.text)

    @property
    def is_field(self) -> bool:
        """The whole key is one field."""
        return re.fullmatch(r"<\w+>", self.text) is not None

    @property
    def is_name(self) -> bool:
        """It looks like the name of an attribute: userId, created_at, UserId."""
        return re.fullmatch(r"[a-z]+(?:[A-Z_]\w*)?|[A-Z][a-z]+[A-Z_]\w*", self.text) is not None


def field_name(text: str) -> str:
    """A placeholder as a field: `user id`, `user-id` and `userId` are one name."""
    bare: str = re.sub(r"\(.*\)|:.*|\|.*", "", text).strip().split(".")[-1]
    if re.fullmatch(r"[A-Za-z_]\w*", bare):
        return bare
    words = re.findall(r"[A-Za-z0-9]+", re.sub(r"^[\W\d]+", "", bare))
    if not words or words[0][0].isdigit() or len(words) > 5:
        return ""
    return str(words[0]).lower() + "".join(word.lower().capitalize() for word in words[1:])


def key_text(text: str) -> WrittenKey | None:
    """The template that a text is, as a whole; None if it is not one."""
    text = re.sub(r"^f(?=[\"'])", "", text.strip()).strip("\"'`\u201c\u201d").strip()
    if "..." in text or "\u2026" in text or text.endswith("*"):
        return None
    text = text.rstrip(".,;:") if not text.endswith("#") else text
    doubts: list[str] = []
    failed = not text

    def field(found: re.Match[str]) -> str:
        nonlocal failed
        inner: str = next(value for value in found.groups() if value is not None)
        if call := re.fullmatch(r"\w+\((\w+)\)", inner):
            doubts.append(f"{inner} is read as the field {call[1]}")
            inner = call[1]
        if "|" in inner:
            doubts.append(f"{inner} is read as one field")
        name = field_name(inner)
        failed = failed or not name
        return f"<{name}>"

    made = _HOLE.sub(field, text)
    if failed or made.count("<") != made.count(">") or not _LITERAL.fullmatch(made):
        return None
    parts = made.split("#")
    example = False
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        example = example or (len(parts) == 1 and re.fullmatch(_EXAMPLE_KEY, part) is not None)
        if len(parts) == 1 or "<" in part or not part:
            continue
        if _FIELD_WORD.fullmatch(part) and (at or not last):
            parts[at] = f"<{field_name(part) or 'value'}>"
            if not re.search(r"(?:Id|ID)$|^id$", part):
                doubts.append(f"{part} in {text} is read as a field")
        elif at and _EXAMPLE_PART.fullmatch(part):
            example = True
        elif at and last and part.islower():
            doubts.append(f"is {part} in {text} a literal or a value? It is read as a literal")
    return WrittenKey("#".join(parts), "; ".join(doubts), example)


def open_text(text: str) -> WrittenKey | None:
    """A condition's value that is left out, or ends open: `?`, `ROOM#...`."""
    text = text.strip("\"'")
    if text in ("?", "...", "\u2026", "X", "XXX"):
        return WrittenKey("<value>")
    found = re.fullmatch(r"([A-Z][\w-]*#)(?:\.{2,}|\u2026)", text)
    return WrittenKey(f"{found[1]}<rest>", example=True, open=True) if found else None


def cell_text(cell: str) -> WrittenKey | None:
    """The only template of a cell, whose other words explain it."""
    head = AND_EXAMPLE.sub("", cell)
    head = head if plain(head) else cell
    spans = codes(head)
    if len(spans) > 1:
        return None
    if spans:
        rest = plain(head.replace(f"`{spans[0]}`", "", 1))
        return None if re.match(r"(?i)(?:or|and|/|\+|,)", rest) else key_text(spans[0])
    bare = re.sub(r"\s*\([^()]*\)\s*$", "", head)
    return key_text(re.sub(r"^\"|\"$|^'|'$", "", plain(bare)))


def is_absent(cell: str) -> bool:
    """`-`, `N/A`, `none`, `None (simple key)`: the cell says that there is nothing."""
    said = plain(cell)
    return ABSENT.fullmatch(said) is not None or (
        not codes(cell) and "#" not in cell and _NEGATION.match(said) is not None
    )


def can_meet(asked: WrittenKey, stored: WrittenKey, operator: str = "=") -> bool:
    """Whether a condition's value can be that of a stored key."""
    if stored.is_field or asked.is_field:
        return True
    if asked.open:
        return operator == "=" and stored.text.startswith(_head(asked.text))
    mine, theirs = asked.text.split("#"), stored.text.split("#")
    if operator == "=":
        return len(mine) == len(theirs) and all(map(_same, mine, theirs))
    if operator == "begins_with" and len(mine) > len(theirs):
        return False
    for at, (part, other) in enumerate(zip(mine, theirs, strict=False)):
        last = at == len(mine) - 1
        if last and operator == "begins_with":
            head, other_head = _head(part), _head(other)
            if not (other_head.startswith(head) or ("<" in other and head.startswith(other_head))):
                return False
        elif not _same(part, other) and not (last and at):
            return False
    return True


def _same(one: str, other: str) -> bool:
    """Two parts of keys can be equal: a field holds any text."""
    if "<" not in one and "<" not in other:
        return one == other
    return _head(one).startswith(_head(other)) or _head(other).startswith(_head(one))


def _head(part: str) -> str:
    """A part before its first field."""
    return re.split(r"<\w+>", part)[0]
