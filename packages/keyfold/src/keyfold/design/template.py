"""Key templates: `ROOM#{room_id}` as data that can be rendered, matched and analysed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

from pydantic_core import core_schema

from keyfold.design.declaration import refuse
from keyfold.design.formats import Format, parse_format
from keyfold.errors import KeyValueRefused, MissingKeyField

DELIMITER: Final = "#"
SEPARATOR: Final = ", "
"""Separates the attributes of a multi-attribute key."""
HIGHEST: Final = "\U0010ffff"
"""Sorts after every character allowed in a key."""

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_ANGLED = re.compile(r"<<|>>|<[A-Za-z_][A-Za-z0-9_.]*(?::[^<>]*)?>")
"""A field in angle brackets, or a doubled bracket that stands for itself."""
_ESCAPED, _APART = "escaped ", "apart "
_PLACEHOLDER = re.compile(rf"\{{({_NAME}(?:\.{_NAME})*)(?::([^{{}}]*))?\}}")


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that is the same in every key."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A field's value inside a key, in a fixed format.

    A value inside a model has a `path` such as `address.city`, and is passed as `address_city`.
    """

    field: str
    format: Format
    path: str = ""

    @property
    def text(self) -> str:
        name = self.path or self.field
        return f"{{{name}:{self.format.name}}}" if self.format.name else f"{{{name}}}"


Part = Literal | Slot


@dataclass(frozen=True)
class Template:
    """The format of one key attribute; `escape` keeps delimiters in values by escaping them.

    A multi-attribute key has `pieces`, one per attribute; its own text is for display only.
    """

    parts: tuple[Part, ...]
    escape: bool = False
    pieces: tuple[Template, ...] = ()

    @property
    def apart(self) -> bool:
        return bool(self.pieces)

    @property
    def attributes(self) -> tuple[Template, ...]:
        """One template for each key attribute."""
        return self.pieces or (self,)

    @cached_property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(slot.field for slot in self.slots)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        return tuple(part for part in self.parts if isinstance(part, Slot))

    @cached_property
    def literal_prefix(self) -> str:
        """The literal text that every rendered key starts with."""
        first = self.parts[0] if self.parts else None
        return first.text if isinstance(first, Literal) else ""

    @cached_property
    def is_literal(self) -> bool:
        return not self.fields

    @cached_property
    def is_bare_field(self) -> bool:
        """The key is exactly one value, so it cannot be ambiguous."""
        return len(self.parts) == 1 and isinstance(self.parts[0], Slot)

    @cached_property
    def buckets(self) -> frozenset[str]:
        """The fields it only holds a bucket of: the month of a time, the shard of an id."""
        exact = {slot.field for slot in self.slots if not slot.format.coarse}
        return frozenset(self.fields) - exact

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A regular expression for rendered keys; a slot before a delimiter ends at the
        delimiter.
        """
        seen: dict[str, str] = {}
        pieces = []
        for part in self.parts:
            if isinstance(part, Literal):
                pieces.append(re.escape(part.text))
                continue
            # A value ends where the literal after it first occurs, and nowhere else: a key of
            # delimiters alone would be tried in all ways.
            end = self.ends.get(part, DELIMITER)
            apart = f"(?!{re.escape(end)})" if end[0] != DELIMITER else ""
            held = ".+" if self.is_bare_field else f"(?:{apart}[^{DELIMITER}])*?"
            if part.format.width is not None and not self.is_bare_field:
                held = f"[^{DELIMITER}]{{{part.format.width}}}"
            if part.field not in seen and not part.format.coarse:
                seen[part.field] = part.format.name
                pieces.append(f"(?P<{part.field}>{held})")
            elif seen.get(part.field) == part.format.name:
                pieces.append(f"(?P={part.field})")
            else:
                pieces.append(held)
        return re.compile("".join(pieces), re.DOTALL)

    def matches(self, key: str) -> bool:
        return self.pattern.fullmatch(key) is not None

    def parse(self, key: str) -> dict[str, str] | None:
        """The slot texts of a rendered key, or None if it does not match."""
        found = self.pattern.fullmatch(key)
        if found is None:
            return None
        return {k: _unescape(v) if self.escape else v for k, v in found.groupdict().items()}

    def render(self, values: Mapping[str, object], *, owner: str = "key") -> str:
        """The key for these field values; every slot needs one."""
        out = []
        for part in self.parts:
            if isinstance(part, Literal):
                out.append(part.text)
            else:
                out.append(self.render_slot(part, values, owner=owner))
        return "".join(out)

    def render_prefix(self, values: Mapping[str, object], *, owner: str = "key") -> str:
        """The part of the key that the given leading fields determine."""
        out = []
        for part in self.parts:
            if isinstance(part, Slot):
                if values.get(part.field) is None:
                    break
                out.append(self.render_slot(part, values, owner=owner))
            else:
                out.append(part.text)
        return "".join(out)

    def render_slot(self, slot: Slot, values: Mapping[str, object], *, owner: str) -> str:
        value = values.get(slot.field)
        if value is None:
            missing = [f for f in self.fields if values.get(f) is None]
            raise MissingKeyField(
                f"{owner}: the key {self.text!r} needs {', '.join(missing)}; give a value for each"
            )
        try:
            text = slot.format.render(value)
            text.isascii() or text.encode()
        except KeyValueRefused as refused:
            raise KeyValueRefused(f"{owner}: {slot.field}: {refused}") from None
        except (TypeError, ValueError):
            written = f"in the format {slot.format.name}" if slot.format.name else "as text"
            raise KeyValueRefused(
                f"{owner}: {slot.field}={value!r} cannot be written {written}"
            ) from None
        if self.is_bare_field:
            return text
        if HIGHEST in text:
            raise KeyValueRefused(
                f"{owner}: {slot.field}={text!r} holds U+10FFFF, which marks the end of a key range"
            )
        end = DELIMITER if slot.format.width is not None else self.ends.get(slot, DELIMITER)
        if self.escape:
            escaped = text.replace("%", "%25").replace(DELIMITER, "%23")
            return escaped if end[0] == DELIMITER else escaped.replace(end[0], _code(end[0]))
        held = DELIMITER if DELIMITER in text else end
        if (text + held).index(held) != len(text):
            raise KeyValueRefused(
                f"{owner}: {slot.field}={text!r} holds the key delimiter {held!r}, or ends with "
                "its beginning; use another value, or declare the key with escape=True"
            )
        if not text:
            raise KeyValueRefused(f"{owner}: {slot.field} is empty; a key needs a value")
        return text

    @cached_property
    def ends(self) -> dict[Slot, str]:
        """The literal between a slot and the next one: what its value may not hold."""
        three = zip(self.parts, self.parts[1:], self.parts[2:], strict=False)
        return {
            slot: end.text
            for slot, end, after in three
            if isinstance(slot, Slot) and isinstance(end, Literal) and isinstance(after, Slot)
        }

    def __str__(self) -> str:
        return self.text

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> core_schema.CoreSchema:
        """As text in a file's notation."""
        return core_schema.no_info_plain_validator_function(
            lambda given: template(given) if isinstance(given, str) else given,
            serialization=core_schema.plain_serializer_function_ser_schema(template_text),
        )


def apart(templates: Sequence[Template]) -> Template:
    """Several templates, one per attribute, as one key."""
    if len(templates) == 1:
        return templates[0]
    parts: list[Part] = []
    for template in templates:
        parts += [Literal(SEPARATOR)] if parts else []
        parts += template.parts
    return Template(tuple(parts), pieces=tuple(templates))


def leading(templates: Sequence[Template]) -> Template:
    """The first attribute of a key that has more."""
    if not templates:
        return Template(())
    known = apart(templates)
    return Template((*known.parts, Literal(SEPARATOR)), pieces=tuple(templates))


def template(text: str) -> Template:
    """A key template in a file's notation; fields as `{name}` or `<name>`."""
    if text.startswith(_APART):
        *pieces, last = text.removeprefix(_APART).split(SEPARATOR)
        known = [template(piece) for piece in (*pieces, last) if piece]
        return apart(known) if last else leading(known)
    escape = text.startswith(_ESCAPED)
    text = text.removeprefix(_ESCAPED)
    if {"<", ">"} & set(_ANGLED.sub("", text)):
        refuse(
            "K1",
            f"the key {text!r} has a field that is not written as <name>.",
            "Close each < with >, and use letters, digits and _ in between. "
            "Write << and >> for the characters themselves.",
        )
    return parse_template(braced(text), escape=escape)


def braced(text: str) -> str:
    """`<name>` as `{name}`, and `<<` as `<`."""
    doubled = {"<<": "<", ">>": ">"}
    return _ANGLED.sub(lambda found: doubled.get(found[0]) or f"{{{found[0][1:-1]}}}", text)


def template_text(value: Template) -> str:
    """The template in a file's notation."""
    text = value.text.replace("<", "<<").replace(">", ">>")
    if value.apart:
        return f"{_APART}{text}"
    return f"{_ESCAPED}{text}" if value.escape else text


def parse_template(text: str, *, escape: bool = False) -> Template:
    """Parses `ROOM#{room_id}`; a field may have a format, as `{starts_at:epoch_ms}`."""
    parts: list[Part] = []
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        if found.start() > end:
            parts.append(Literal(text[end : found.start()]))
        path = found[1] if "." in found[1] else ""
        form = parse_format(found[2] or "")
        parts.append(Slot(found[1].replace(".", "_"), form, path))
        end = found.end()
    if end < len(text):
        parts.append(Literal(text[end:]))
    for part in parts:
        if isinstance(part, Literal) and ("{" in part.text or "}" in part.text):
            refuse(
                "K1",
                f"the key template {text!r} has an unmatched brace.",
                "Write fields as {name} or {name:format}, with letters, digits and _ in a name.",
            )
    for left, right in pairwise(parts):
        if isinstance(left, Slot) and isinstance(right, Slot):
            refuse(
                "K6",
                f"the key template {text!r} joins {left.field} and {right.field} without a "
                "delimiter, so two different pairs can give the same key.",
                f"Put the delimiter {DELIMITER!r} between them.",
            )
    return Template(tuple(parts), escape)


def _code(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def _unescape(text: str) -> str:
    return unquote(text)
