"""Short forms in design files: attributes, effects and key conditions in one line of text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast, get_args

from keyfold.design.flow import Action, Effect
from keyfold.design.schema import AttributeSchema, SortCondition
from keyfold.design.template import braced, template

TYPES = [
    "any",
    "binary",
    "binary_set",
    "boolean",
    "date",
    "decimal",
    "duration",
    "id",
    "list",
    "map",
    "model",
    "number",
    "number_set",
    "signed_url",
    "string",
    "string_set",
    "timestamp",
]

_ATTRIBUTE = re.compile(
    r"(?P<optional>optional\s+)?(?P<fixed>fixed\s+)?(?P<type>\w+)"
    r"(?:\s+(?P<stored>iso_ms|iso_s|iso_offset|iso|epoch_ms|epoch))?"
    r"(?:\s*->\s*(?P<refers>\w+))?"
    r"(?:\s+like\s+(?P<like>\S+))?"
    r"(?:\s+max\s+(?P<max>\d+))?"
    r"(?:\s+copy\s+of\s+(?P<copies>\w+))?"
    r"(?P<key>\s+in\s+key)?"
    r"(?:\s+from\s+(?P<from>\w+(?:\s*,\s*\w+)*))?"
    r"(?:\s+one of\s+(?P<values>.+))?"
)
_EFFECT = re.compile(
    r"(?P<action>\w+)\s+(?P<each>each\s+)?(?P<entity>\w+)"
    r"(?:\s*\((?P<fields>[^)]*)\))?(?:\s+(?P<guarded>guarded|unguarded))?(?:\s+via\s+(?P<via>\S+))?"
)
_CALL = re.compile(r"begins_with\s*\(\s*(?P<attr>[\w.#-]+)\s*,(?P<value>.+)\)", re.I)
_INFIX = re.compile(
    r"(?:(?P<attr>[\w.#-]+)\s*)??(?P<op>begins_with\b|between\b|<=|>=|=|<|>)\s*(?P<value>.+)", re.I
)
_OPERATORS = {"=": "eq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
SIGNS = {name: sign for sign, name in _OPERATORS.items()}


def attribute(field: str, text: str) -> AttributeSchema | str:
    """Parses `optional fixed string -> Room`, or says what is wrong."""
    found = _ATTRIBUTE.fullmatch(text.strip())
    if found is None:
        return (
            f"{text!r} is not an attribute; write [optional] [fixed] TYPE [FORMAT] [-> Entity] "
            "[like FORMAT] [max N] [copy of field] [in key] [from fields] [one of a, b], for "
            "example: optional string one of buy, rent"
        )
    if found["type"] not in TYPES:
        return found["type"]
    values = tuple(v.strip() for v in (found["values"] or "").split(",") if v.strip())
    return AttributeSchema(
        name=field,
        field=field,
        type=found["type"],
        optional=bool(found["optional"]),
        mutable=not found["fixed"],
        values=values,
        stored=found["stored"] or "",
        max_items=int(found["max"]) if found["max"] else None,
        refers=found["refers"] or "",
        looks_like=braced(found["like"] or ""),
        copies=found["copies"] or "",
        in_key=bool(found["key"]),
        follows=tuple(name.strip() for name in (found["from"] or "").split(",") if name),
    )


def attribute_text(value: AttributeSchema) -> str | None:
    """The short form, or None if it cannot express everything."""
    words = ["optional"] if value.optional else []
    words += [] if value.mutable else ["fixed"]
    words += [value.type, *([value.stored] if value.stored else [])]
    words += ["->", value.refers] if value.refers else []
    words += ["like", value.looks_like] if value.looks_like else []
    words += ["max", str(value.max_items)] if value.max_items is not None else []
    words += ["copy of", value.copies] if value.copies else []
    words += ["in key"] if value.in_key else []
    words += ["from", ", ".join(value.follows)] if value.follows else []
    words += ["one of", ", ".join(value.values)] if value.values else []
    text = " ".join(words)
    return text if attribute(value.field, text) == value else None


def attribute_texts(value: AttributeSchema) -> str | list[str] | None:
    """The short form, with the other types if the document gives several."""
    first = attribute_text(replace(value, also=()))
    return [first, *value.also] if first is not None and value.also else first


def effect(text: str) -> Effect | None:
    """`update each HangoutPointer (title) guarded via ByOwner`."""
    found = _EFFECT.fullmatch(text.strip())
    if found is None or found["action"] not in get_args(Action):
        return None
    words = [word.partition("=") for word in (found["fields"] or "").split(",") if word.strip()]
    stated = [(name.strip(), value.strip()) for name, _, value in words]
    return Effect(
        action=cast("Action", found["action"]),
        entity=found["entity"],
        guarded=None if found["guarded"] is None else found["guarded"] == "guarded",
        fields=tuple(name for name, _ in stated),
        sets=tuple((name, value) for name, value in stated if value),
        each=bool(found["each"]),
        via_index=found["via"] or "",
    )


def effect_text(value: Effect) -> str:
    words = [value.action, *(["each"] if value.each else []), value.entity]
    sets = dict(value.sets)
    stated = [f"{name} = {sets[name]}" if name in sets else name for name in value.fields]
    words += [f"({', '.join(stated)})"] if stated else []
    words += [] if value.guarded is None else ["guarded" if value.guarded else "unguarded"]
    words += ["via", value.via_index] if value.via_index else []
    return " ".join(words)


def condition(text: str) -> tuple[str, SortCondition] | None:
    """Parses `SK > ACTIVITY#<timestamp>`: the attribute, if named, and the condition."""
    text = text.strip()
    if call := _CALL.fullmatch(text):
        operand = template(_unquote(call["value"]))
        return call["attr"], SortCondition("begins_with", operand, raw=text)
    found = _INFIX.fullmatch(text)
    if found is None:
        return None
    operator, value = found["op"].lower(), found["value"]
    if operator == "between":
        low, _, high = value.partition(" and ")
        if not high:
            return None
        operand = template(_unquote(low))
        upper = template(_unquote(high))
        asked = SortCondition("between", operand, raw=text, upper=upper)
        return found["attr"] or "", asked
    name = _OPERATORS.get(operator, operator)
    asked = SortCondition(template=template(_unquote(value)), raw=text)
    return found["attr"] or "", replace(asked, operator=cast("Any", name))


def clauses(text: str) -> list[str]:
    """The parts of `PK=ROOM#<roomId>, SK begins_with MEMBER#`."""
    # What divides clauses is looked for at each space.
    text = re.sub(r"\s{9,}", " ", text)
    joined = r"\s*,\s*(?![^()]*\))|\s+(?:AND|WHERE)\s+"
    if " between " not in text:
        joined += r"|\s+and\s+"
    return [part.strip() for part in re.split(joined, text) if part.strip()]


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
