"""Validation messages for end users, shown beside the field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_SAID: Final[Mapping[str, str]] = {
    "missing": "is required",
    "extra_forbidden": "is unknown",
    "string_type": "must be text",
    "string_too_long": "has more than {max_length} characters",
    "string_pattern_mismatch": "has the wrong format",
    "too_long": "has more than {max_length} entries",
    "too_short": "needs at least {min_length} entries",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "decimal_type": "must be a number",
    "decimal_parsing": "must be a number",
    "decimal_max_places": "has more than {decimal_places} decimal places",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "datetime_type": "must be a time, as 2026-01-31T12:00:00Z",
    "datetime_parsing": "must be a time, as 2026-01-31T12:00:00Z",
    "datetime_from_date_parsing": "must be a time, as 2026-01-31T12:00:00Z",
    "timezone_aware": "must have a time zone, as 2026-01-31T12:00:00Z",
    "date_type": "must be a date, as 2026-01-31",
    "date_parsing": "must be a date, as 2026-01-31",
    "date_from_datetime_parsing": "must be a date, as 2026-01-31",
    "list_type": "must be a list",
    "set_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "none_required": "must be null",
    "json_invalid": "is not valid JSON: {error}",
    "value_error": "{error}",
}


def complaint(error: Mapping[str, Any]) -> str:
    """One of Pydantic's errors; a kind without a message here keeps Pydantic's."""
    kind, context = error["type"], error.get("ctx", {})
    if error["input"] is None and kind.endswith(("_type", "_error", "enum")):
        return "must not be null"
    if kind == "string_too_short":
        least = context["min_length"]
        return "must not be empty" if least == 1 else f"needs at least {least} characters"
    try:
        return _SAID[kind].format_map(context)
    except KeyError:
        return str(error["msg"])


def either(said: Sequence[str]) -> str:
    """The complaints of all types that a value could have had, as one."""
    first, *others = dict.fromkeys(said)
    return " or ".join([first, *(one.removeprefix("must be ") for one in others)])


def sent_path(error: Mapping[str, Any], sent: Any) -> Iterator[str]:
    """The place of one of Pydantic's errors in what was sent.

    Pydantic's own also names the types of a union, which the sender does not know.
    """
    place = error["loc"]
    missing = place[-1:] if error["type"] == "missing" else ()
    for part in place:
        match sent:
            case dict() if part in sent or part in missing:
                sent = sent.get(part)
            case list() if isinstance(part, int):
                sent = sent[part]
            case _:
                continue
        yield str(part)
