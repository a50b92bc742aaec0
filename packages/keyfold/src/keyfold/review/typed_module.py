"""Generated types of a design's entities, for type checkers and editors.

Two files for `entities.py`: `entities_types.pyi`, which no program reads, and `entities_types.py`,
which defines an empty class for every name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from keyfold.design.declaration import Declared
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.keys import Key
from keyfold.design.placement import On
from keyfold.errors import KeyfoldError

SUFFIX = "_types"
TWIN = '''"""Written by `keyfold types`; do not edit. The types are in the .pyi file next to it."""


def __getattr__(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    found = globals()[name] = type(name, (), {"__module__": __name__, "__slots__": ()})
    return found
'''
_NAMES = {
    "typing": ("Any", "ClassVar", "Self", "TypeVar", "overload"),
    "keyfold.design.address": ("KeyOf", "Ref"),
    "keyfold.design.entity": ("Entity",),
    "keyfold.design.keys": ("Key",),
    "keyfold.design.path_change": ("PathChange",),
    "keyfold.design.placement": ("On",),
    "keyfold.design.query": ("Query",),
    "keyfold.runtime.changes": ("Clear", "Given", "GivenList", "GivenNumber", "GivenSet"),
}
_RANGES = ("after", "since", "before", "until")
_NUMBERS = ("integer", "float", "decimal")


class TypedModule:
    """A module of entities that use generated types."""

    def __init__(self, name: str, entities: Iterable[type[Entity]]) -> None:
        self.name = name
        source = Path(sys.modules[name].__file__ or "")
        self.file = source.with_name(f"{source.stem}{SUFFIX}.pyi")
        self.entities = [one for one in entities if _takes_types(one)]
        self.without = [one.__name__ for one in entities if not _takes_types(one)]

    @cached_property
    def text(self) -> str:
        return _TypesText(self.name, self.entities).text()

    @property
    def stale(self) -> bool:
        return not self.file.exists() or self.file.read_text(encoding="utf-8") != self.text

    def write(self) -> bool:
        """Write what has changed; returns whether anything has."""
        twin, changed = self.file.with_suffix(".py"), self.stale
        if not twin.exists() or twin.read_text(encoding="utf-8") != TWIN:
            twin.write_text(TWIN, encoding="utf-8")
        if changed:
            self.file.write_text(self.text, encoding="utf-8")
        return changed


def typed_modules(entities: Iterable[type[Entity]]) -> list[TypedModule]:
    """The modules of a design with at least one entity that uses generated types."""
    declared: dict[str, list[type[Entity]]] = {}
    for entity in entities:
        # Only a module-level class has a name that other files can use.
        if getattr(sys.modules.get(entity.__module__), entity.__name__, None) is entity:
            declared.setdefault(entity.__module__, []).append(entity)
    found = [TypedModule(name, members) for name, members in declared.items()]
    return [module for module in found if module.entities]


class TwinFinder:
    """Writes the Python half of types that a design imports before they were generated."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        beside = name.rpartition(".")[2].removesuffix(SUFFIX)
        for folder in map(Path, sys.path if path is None else path):
            if name.endswith(SUFFIX) and (folder / f"{beside}.py").exists():
                (folder / f"{beside}{SUFFIX}.py").write_text(TWIN, encoding="utf-8")
                PathFinder.invalidate_caches()
                return PathFinder.find_spec(name, path, target)
        return None


def _takes_types(entity: type[Entity]) -> bool:
    return any(base.__module__ == f"{entity.__module__}{SUFFIX}" for base in entity.__mro__)


class _TypesText:
    """The text of one module's types; deterministic."""

    def __init__(self, module: str, entities: list[type[Entity]]) -> None:
        self.module, self.entities = module, entities
        self.imports: set[str] = {"collections.abc"}
        self.ranges: dict[str, str] = {}
        self.classes: list[str] = []

    def text(self) -> str:
        for entity in self.entities:
            self._entity(entity.__spec__)
        body = "\n".join([*self.ranges.values(), *self.classes]) + "\n"
        used = set(re.findall(r"(?<![.\w])\w+", body)) | ({"TypeVar"} if self.ranges else set())
        used |= {"Entity"} if self.ranges else set()
        head = [
            '"""Written by `keyfold types`; do not edit."""',
            "# pyright: reportUnnecessaryTypeIgnoreComment=false",
            "# pyright: reportIncompatibleVariableOverride=false",
            "# ruff: noqa",
            "# fmt: off",
            "",
            *sorted(f"import {name}" for name in self.imports),
            *(
                f"from {module} import {', '.join(names)}"
                for module, wanted in _NAMES.items()
                if (names := [name for name in wanted if name in used])
            ),
            "",
            f"import {self.module} as of",
            *(["", 'E = TypeVar("E", bound=Entity)'] if self.ranges else []),
        ]
        return "\n".join(head) + "\n" + body

    # One entity

    def _entity(self, spec: EntitySpec) -> None:
        parents = [self._type_name(parent) for parent in _declaring_parents(spec.entity)]
        ignored = "  # type: ignore[assignment]" if parents else ""
        body: list[str] = []
        for name, declared in _declarations(spec.entity):
            if isinstance(declared, Key):
                kind = "On" if isinstance(declared, On) else "Key"
                own = self._key(spec, name, declared)
                body.append(f"    {name}: ClassVar[{kind}[{own}]]{ignored}")
            elif not parents:
                body.append(f"    {name}: ClassVar[{self._type_name(type(declared))}]")
        beside = [
            f"where: collections.abc.Callable[[of.{spec.name}], object] | None = ...",
            *(["expected_version: int | None = ..."] if spec.version is not None else ()),
            "refuse: Exception | None = ...",
        ]
        changes = [f"{name}: {self._assignable(spec, name)} = ..." for name in _changeable(spec)]
        body.append(self._method(spec, "__changes__", [*beside, *changes]))
        if spec.role != "pointer":
            moves = [f"{name}: {self._annotation(spec, name)} = ..." for name in _movable(spec)]
            body.append(self._method(spec, "__moves__", moves))
        bases = ", ".join(parents) or "Entity"
        self.classes.append(f"\nclass {spec.name}({bases}):\n" + "\n".join(body))

    def _method(self, spec: EntitySpec, name: str, parameters: list[str]) -> str:
        starred = f"*_at: PathChange[of.{spec.name}]" if name == "__changes__" else "*"
        lines = "".join(f"        {one},\n" for one in ["self", starred, *parameters])
        # Only mypy complains that nothing follows `where`.
        ignored = "  # type: ignore[override]" if name == "__changes__" else ""
        return f"    def {name}({ignored}\n{lines}    ) -> of.{spec.name}: ..."

    def _assignable(self, spec: EntitySpec, name: str) -> str:
        """What an update may assign to a field: a value, or one of its operations."""
        annotation = _bare(spec.entity.model_fields[name].annotation)
        optional = _is_optional(annotation)
        present = _present(annotation)
        origin, inner = get_origin(present), get_args(present)
        if origin in (set, frozenset):
            shown = f"GivenSet[{self._show(inner[0])}]"
        elif origin is list:
            shown = f"GivenList[{self._show(inner[0])}]"
        elif spec.fields[name].kind in _NUMBERS:
            shown = f"GivenNumber[{self._show(present)}]"
        else:
            shown = f"Given[{self._show(present)}]"
        return f"{shown} | Clear | None" if optional else shown

    def _annotation(self, spec: EntitySpec, name: str) -> str:
        return self._show(spec.entity.model_fields[name].annotation)

    # One key

    def _key(self, spec: EntitySpec, name: str, key: Key[Any]) -> str:
        own = f"{spec.name}{_camel(name)}"
        templates = key.templates
        partition = list(dict.fromkeys(templates.partition.fields))
        sort = list(templates.sort_fields)
        bucketed = [f for f in sort if f in partition]
        gives = f"of.{spec.name}"
        body: list[str] = []
        if not isinstance(key, On):
            fields = self._fields(spec, list(key.address), key)
            body.append(f"    def __call__({fields}) -> Ref[{gives}]: ...")
        several = "    @overload\n" if sort and not bucketed else ""
        for given in range(len(sort) + 1):
            query = self._range(spec, sort[given], key) if given < len(sort) else "Query"
            if given and bucketed:
                break
            fields = self._fields(spec, partition + sort[:given], key)
            body.append(f"{several}    def query({fields}) -> {query}[{gives}]: ...")
        self.classes.append(f"\nclass {own}(KeyOf[{gives}]):\n" + "\n".join(body))
        return own

    def _fields(self, spec: EntitySpec, names: list[str], key: Key[Any]) -> str:
        shown = [f"{name}: {self._value(spec, name, key)}" for name in names]
        return ", ".join(["self", "*", *shown]) if shown else "self"

    def _value(self, spec: EntitySpec, name: str, key: Key[Any]) -> str:
        """The type of a field in a key, where it is never None."""
        if name in key.derived:
            return self._show(key.derived[name].annotation)
        return self._show(_present(_bare(spec.entity.model_fields[name].annotation)))

    def _range(self, spec: EntitySpec, name: str, key: Key[Any]) -> str:
        shown = self._value(spec, name, key)
        own = f"By{_camel(name)}"
        methods = (*_RANGES, "begins_with") if shown == "str" else _RANGES
        bound = f"{name}: {shown} | None"
        lines = [f"    def {method}(self, *, {bound}) -> Self: ..." for method in methods]
        body = "(Query[E]):\n" + "\n".join(lines)
        while own in self.ranges and self.ranges[own] != f"\nclass {own}{body}":
            own += "_"
        self.ranges[own] = f"\nclass {own}{body}"
        return own

    # One type

    def _show(self, annotation: Any) -> str:
        annotation = _bare(annotation)
        origin, inner = get_origin(annotation), get_args(annotation)
        if annotation is None or annotation is type(None):
            return "None"
        if annotation is Any:
            return "Any"
        if origin is Literal:
            self.imports.add("typing")
            return f"typing.Literal[{', '.join(map(repr, inner))}]"
        if _is_union(annotation):
            return " | ".join(self._show(one) for one in inner)
        if origin is not None:
            shown = ", ".join("..." if one is Ellipsis else self._show(one) for one in inner)
            return f"{self._type_name(origin)}[{shown}]"
        return self._type_name(annotation)

    def _type_name(self, kind: Any) -> str:
        module, name = getattr(kind, "__module__", ""), getattr(kind, "__qualname__", "")
        if not name or "<locals>" in name:
            raise KeyfoldError(f"{self.module}: the type {kind!r} cannot be imported by name")
        if module == "builtins":
            return str(name)
        if module == self.module:
            return f"of.{name}"
        self.imports.add(module)
        return f"{module}.{name}"


def _changeable(spec: EntitySpec) -> Iterator[str]:
    """The fields that an update may write; a pointer's follow its canonical."""
    if spec.role == "pointer":
        return
    for name, field in spec.fields.items():
        in_key = name in spec.key.address
        if not (in_key or name in spec.fixed or field is spec.version or field.is_kept):
            yield name


def _movable(spec: EntitySpec) -> Iterator[str]:
    for name, field in spec.fields.items():
        if field is not spec.version and not field.is_kept:
            yield name


def _declaring_parents(entity: type[Entity]) -> list[type[Entity]]:
    """The entities whose keys it inherits."""
    return [
        base
        for base in entity.__bases__
        if issubclass(base, Entity)
        and any(isinstance(v, Declared) for owner in base.__mro__ for v in vars(owner).values())
    ]


def _declarations(entity: type[Entity]) -> Iterator[tuple[str, Declared]]:
    found: dict[str, Declared] = {}
    for owner in reversed(entity.__mro__):
        found.update({n: v for n, v in vars(owner).items() if isinstance(v, Declared)})
    yield from found.items()


def _bare(annotation: Any) -> Any:
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        else:
            return annotation


def _present(annotation: Any) -> Any:
    """The type without None."""
    if not _is_optional(annotation):
        return annotation
    rest = tuple(one for one in get_args(annotation) if one is not type(None))
    return _bare(Union[rest])  # noqa: UP007  # a union made of a tuple


def _is_optional(annotation: Any) -> bool:
    return _is_union(annotation) and type(None) in get_args(annotation)


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, UnionType)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
