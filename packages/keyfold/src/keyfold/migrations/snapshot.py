"""A design's schema as JSON: its tables and entities at the last migration."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import TypeAdapter
from pydantic import ValidationError as Invalid

from keyfold.design.schema import Schema
from keyfold.design.validation import complaints, in_one_line
from keyfold.errors import DeclarationError, MigrationError

FORMAT = 2
_ATTRIBUTE: Final[Any] = {
    **dict.fromkeys(("name", "field", "type", "optional", "stored", "in_key", "follows"), True),
    "states": {"__all__": {"before", "after"}},
}
_COMPARED: Final[Any] = {
    "tables": True,
    "entities": {
        "__all__": {
            **dict.fromkeys(("name", "table", "type_name", "role", "key"), True),
            "attributes": {"__all__": _ATTRIBUTE},
            "placements": {"__all__": {"name", "index", "key", "when"}},
        }
    },
    "follows": True,
}
_WORDS = {"place", "silences", "intents"}
_NOT_COMPARED: Final[Any] = {
    "tables": {
        "__all__": {
            **dict.fromkeys((*_WORDS, "description", "needs", "prefixes"), True),
            "indexes": {"__all__": {*_WORDS, "purpose", "holds", "sparse"}},
            "vectors": {"__all__": _WORDS},
        }
    },
    "follows": {"__all__": {"place", "at_once", "fits"}},
}


def dump(schema: Schema) -> bytes:
    """The parts of a schema that migrations compare, as stable JSON."""
    parts = _adapter().dump_python(
        schema, mode="json", include=_COMPARED, exclude=_NOT_COMPARED, exclude_defaults=True
    )
    body = {"format": FORMAT, "design": schema.name, "tables": [], "entities": [], "follows": []}
    return orjson.dumps(body | parts, option=orjson.OPT_INDENT_2) + b"\n"


def load(data: bytes, origin: str = "the snapshot") -> Schema:
    """Load a dumped schema."""
    try:
        body = orjson.loads(data)
        if body["format"] == FORMAT:
            return _adapter().validate_python(
                {"name": body["design"], **{part: body[part] for part in _COMPARED}}
            )
    except Invalid as problem:
        what = in_one_line(complaints(problem))
    except DeclarationError as problem:
        what = str(problem)
    except (KeyError, TypeError, ValueError) as problem:
        what = repr(problem)
    else:
        raise MigrationError(
            f"{origin} has format {body['format']}, and this keyfold reads {FORMAT}. Make the "
            "snapshot again with the keyfold that you use: keyfold migrations snapshot"
        )
    raise MigrationError(f"{origin} is not a snapshot of a design: {what}")


@cache
def _adapter() -> TypeAdapter[Schema]:
    return TypeAdapter(Schema)


def save(schema: Schema, path: Path) -> bool:
    """Write the snapshot; returns whether it changed."""
    data = dump(schema)
    if path.exists() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return True


def read(path: Path) -> Schema | None:
    return load(path.read_bytes(), str(path)) if path.exists() else None
