"""Types as source code, for generated clients."""

from __future__ import annotations

import types
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from keyfold import literals
from keyfold.errors import DeclarationError

_CONTAINERS = {list: "list", set: "set", frozenset: "frozenset", tuple: "tuple", dict: "dict"}


class TypeWriter:
    """Writes annotations, and collects the classes and imports they need."""

    def __init__(self) -> None:
        self.classes: dict[str, str] = {}
        self.imports: set[tuple[str, str]] = set()
        self._owners: dict[str, type] = {}

    def source_of(self, annotation: Any) -> str:
        """The annotation as source."""
        origin, parts = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self.source_of(parts[0])
        if origin in (Union, types.UnionType):
            return " | ".join(self.source_of(one) for one in parts)
        if origin is Literal:
            self.imports.add(("typing", "Literal"))
            return f"Literal[{', '.join(repr(one) for one in parts)}]"
        if origin in _CONTAINERS:
            inner = ", ".join("..." if one is ... else self.source_of(one) for one in parts)
            return f"{_CONTAINERS[origin]}[{inner}]"
        if annotation is None or annotation is type(None):
            return "None"
        if annotation is Any or isinstance(annotation, TypeVar):
            self.imports.add(("typing", "Any"))
            return "Any"
        if not isinstance(annotation, type):
            raise DeclarationError("O13", f"{annotation!r} cannot be written in a client.")
        return self._class(annotation)

    def _class(self, kind: type) -> str:
        if issubclass(kind, BaseModel):
            return self._declare(kind, self._model)
        if issubclass(kind, Enum):
            return self._declare(kind, self._enum)
        if kind.__module__ != "builtins":
            self.imports.add((kind.__module__, kind.__name__))
        return kind.__name__

    def _declare(self, kind: Any, write: Any) -> str:
        name = "".join(character for character in kind.__name__ if character.isalnum())
        if self._owners.setdefault(name, kind) is not kind:
            raise DeclarationError("O11", f"two types are named {name}; rename one of them.")
        if name not in self.classes:
            self.classes[name] = ""
            text = write(name, kind)
            # A class comes after those it refers to.
            del self.classes[name]
            self.classes[name] = text
        return name

    def _enum(self, name: str, kind: type[Enum]) -> str:
        self.imports.add(("enum", "Enum"))
        members = [f"    {one.name} = {one.value!r}" for one in kind]
        return "\n".join([f"class {name}(Enum):", *_docstring_lines(kind), *members])

    def _model(self, name: str, model: type[BaseModel]) -> str:
        fields = [self._field(field, info) for field, info in model.model_fields.items()]
        body = [*_docstring_lines(model), *fields]
        return "\n".join([f"class {name}(Model):", *(body or ["    pass"])])

    def _field(self, name: str, info: FieldInfo) -> str:
        written = self.source_of(info.annotation)
        if info.is_required():
            return f"    {name}: {written}"
        default = self._default(info)
        if default is None:
            written = written if "None" in written.split(" | ") else f"{written} | None"
            return f"    {name}: {written} = None"
        return f"    {name}: {written} = {default}"

    def _default(self, info: FieldInfo) -> str | None:
        value = info.default
        if value is PydanticUndefined or value is None:
            return None
        if isinstance(value, Enum):
            return f"{self._class(type(value))}.{value.name}"
        if isinstance(value, bool | int | float | str):
            return repr(value)
        return None


def _docstring_lines(kind: type) -> list[str]:
    text = (kind.__dict__.get("__doc__") or "").strip().partition("\n")[0]
    return [f"    {literals.docstring(text)}", ""] if text else []
