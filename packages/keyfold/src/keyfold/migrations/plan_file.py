"""Reads a plan: a YAML file of steps, between the schemas beside it or two declared designs.

A step names what it does, and to what; functions are named, and are in a Python file beside it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from keyfold.design.entity import Entity
from keyfold.design.nodes import Node, compose
from keyfold.design.schema import Schema, TableSchema
from keyfold.design.target import FILES, importing, load_design
from keyfold.design.yaml_text import DesignFileError
from keyfold.errors import MigrationError
from keyfold.migrations.diff import diff
from keyfold.migrations.field_steps import derive, drop, rename
from keyfold.migrations.frozen_design import FrozenDesign, design_of
from keyfold.migrations.migration import Migration, Step
from keyfold.migrations.moves import move, rebuild, recount, restore
from keyfold.migrations.plan import FROM, TO
from keyfold.migrations.rewrites import fill_indexes, remove_markers, transform_attribute
from keyfold.migrations.schema_change import restructures
from keyfold.migrations.snapshot import load as load_snapshot
from keyfold.migrations.table_change import Stream, TimeToLive, add, remove
from keyfold.runtime import Design
from keyfold.settings import nearest

FOLDER: Final = "migrations"
PLANS: Final = "[0-9][0-9][0-9][0-9]_*.yaml"
Steps = Step | Sequence[Step]


def find(plan: str, folder: str | Path = FOLDER) -> Migration:
    """A migration by name: a plan of the directory, a file, or `module:name`."""
    module, colon, name = plan.partition(":")
    if not colon:
        path = Path(plan)
        named = path if path.suffix in FILES else Path(folder) / f"{plan}.yaml"
        if named.exists():
            return load(named)
        known = sorted(one.stem for one in named.parent.glob(PLANS))
        there = nearest(named.stem, known) if known else f"{named.parent} has no plans"
        raise MigrationError(f"the plan {named} was not found; {there}")
    with importing(plan):
        found = getattr(importlib.import_module(module), name, None)
    if not isinstance(found, Migration):
        raise MigrationError(f"{module} has no Migration {name!r}")
    return found


def load(plan: str | Path) -> Migration:
    """The migration of a plan file."""
    path = Path(plan)
    if path.suffix not in FILES:
        raise MigrationError(f"{path} is not a plan: a plan is a .yaml file")
    if not path.exists():
        raise MigrationError(f"the plan {path} was not found")
    try:
        return _Plan(path).migration()
    except DesignFileError as problem:
        raise MigrationError(str(problem)) from None


class _Plan:
    """A plan file as it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.root = compose(path.read_text("utf-8"), str(path))
        self.given = _members(self.root, "a plan", _OF_PLANS)
        self.name = self._text("name") or path.stem
        self._schemas: dict[str, Schema] = {}

    def migration(self) -> Migration:
        return Migration(
            self.name,
            [made for node in self._listed for made in self._steps(node)],
            self._expects,
            self._text("description"),
            self._between,
            "old" in self.given,
        )

    @property
    def _expects(self) -> Mapping[str, TableSchema]:
        if "old" in self.given or not self.path.with_suffix(FROM).exists():
            return {}
        return self.schema("old").by_table

    @property
    def _listed(self) -> list[Node]:
        if "steps" not in self.given:
            self.root.refuse("expected steps: a list of them")
        return list(self.given["steps"].elements("steps"))

    @cached_property
    def old(self) -> Design:
        return self._design("old")

    @cached_property
    def new(self) -> Design:
        return self._design("new")

    def side(self, side: str) -> Design:
        """The design before or after; a field of a frozen one may be named as the other has it."""
        found = self.old if side == "old" else self.new
        if isinstance(found, FrozenDesign) and found.other is None:
            other = self.new if side == "old" else self.old
            found.other = other if isinstance(other, FrozenDesign) else found
        return found

    @property
    def _between(self) -> tuple[Design, Design] | None:
        """The two designs, if structures differ."""
        if "old" in self.given:
            return self.old, self.new
        if not self.path.with_suffix(FROM).exists():
            return None
        before, after = self.schema("old"), self.schema("new")
        return (self.old, self.new) if restructures(diff(before, after), before) else None

    def _design(self, side: str) -> Design:
        named = self._text(side)
        found = load_design(named) if named else design_of(self.schema(side))
        assert isinstance(found, Design)
        return found

    def schema(self, side: str) -> Schema:
        """The schema of a side, of which a design made from it may lack a part."""
        if side in self.given:
            return self.side(side).schema
        if side not in self._schemas:
            path = self.path.with_suffix(FROM if side == "old" else TO)
            if not path.exists():
                raise MigrationError(f"{path} is missing: it has a schema that the plan needs")
            self._schemas[side] = load_snapshot(path.read_bytes(), str(path))
        return self._schemas[side]

    def _text(self, name: str) -> str:
        return self.given[name].text(name) if name in self.given else ""

    def _steps(self, node: Node) -> list[Steps]:
        verb = next((key.text("a step") for key, _ in node.items("a step")), "")
        if verb == "decide":
            return self._decided(node)
        if verb not in _STEPS:
            node.refuse(f"{verb!r} is not a step; {nearest(verb, _STEPS)}")
        make, options = _STEPS[verb]
        given = _members(node, verb, (verb, *options))
        try:
            return [make(_Step(self, node, given, verb))]
        except MigrationError as problem:
            node.refuse(str(problem))

    def _decided(self, node: Node) -> list[Steps]:
        given = _members(node, "decide", ("decide", "answers", "answer"))
        offered = list(given["answers"].elements("answers")) if "answers" in given else []
        answer = given.get("answer")
        if answer is None or answer.is_nothing:
            told = " ".join(given["decide"].text("a question").split())
            node.refuse(
                f"{self.name} is undecided: {told} Give the number of one of its answers, as "
                "answer: 1, or answer: none for no step; or write a step in its place"
            )
        chosen = answer.text("an answer")
        if chosen == "none":
            return []
        if not chosen.isdigit() or not 0 < int(chosen) <= len(offered):
            answer.refuse(f"expected the number of an answer, 1 to {len(offered)}, or none")
        return self._steps(offered[int(chosen) - 1])

    @cached_property
    def functions(self) -> ModuleType:
        """The functions of this plan: a named module, or the Python file beside it."""
        if named := self._text("functions"):
            with importing(named):
                return importlib.import_module(named)
        path = self.path.with_suffix(".py")
        name = f"keyfold_migration_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not path.exists():
            raise MigrationError(f"{path} is missing: it has the functions that the plan names")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        with importing(str(path)):
            spec.loader.exec_module(module)
        return module


class _Step:
    """The words of one step."""

    def __init__(self, plan: _Plan, node: Node, given: Mapping[str, Node], verb: str) -> None:
        self.plan, self.node, self.given, self.verb = plan, node, given, verb

    @property
    def subject(self) -> str:
        return self.text(self.verb)

    def text(self, name: str, default: str | None = None) -> str:
        if name in self.given:
            return self.given[name].text(name)
        if default is None:
            self.node.refuse(f"{self.verb} needs {name}")
        return default

    def texts(self, name: str) -> list[str]:
        found = self.given.get(name)
        return [] if found is None else [one.text(name) for one in found.elements(name)]

    def pairs(self, name: str) -> dict[str, str]:
        found = self.given.get(name)
        pairs = () if found is None else found.items(name)
        return {key.text(name): value.text(name) for key, value in pairs}

    def table(self, side: str, name: str) -> TableSchema:
        known = self.plan.schema(side).by_table
        if name not in known:
            self.node.refuse(f"the {side} design has no table {name!r}; {nearest(name, known)}")
        return known[name]

    def entity(self, name: str, side: str = "new") -> type[Entity]:
        known = self.plan.side(side).entities
        if name not in known:
            self.node.refuse(f"the {side} design has no entity {name!r}; {nearest(name, known)}")
        return known[name]

    @property
    def items(self) -> Any:
        """The entity whose items it rewrites, or the name of a table."""
        return self.text("table") if "table" in self.given else self.entity(self.text("of"))

    def part(self, side: str, kind: str) -> Any:
        table = self.table(side, self.text("of"))
        found = table.index(self.subject) if kind == "index" else table.vector(self.subject)
        if found is None:
            self.node.refuse(f"{table.name} of the {side} design has no {kind} {self.subject!r}")
        return found

    def function(self, name: str) -> Callable[[Any], Any]:
        return self._function(self.text(name))

    def maybe(self, name: str) -> Callable[[Any], Any] | None:
        return self.function(name) if name in self.given else None

    def fills(self) -> dict[str, Callable[[Any], Any]]:
        return {field: self._function(name) for field, name in self.pairs("fill").items()}

    def _function(self, name: str) -> Callable[[Any], Any]:
        module, colon, inner = name.rpartition(":")
        if colon:
            with importing(name):
                found: Any = importlib.import_module(module)
        else:
            found = self.plan.functions
        for part in inner.split("."):
            found = getattr(found, part, None)
        if not callable(found):
            self.node.refuse(f"{name!r} is not a function of {module or self.plan.path.stem}")
        return found  # type: ignore[no-any-return]


def _members(node: Node, what: str, known: Sequence[str]) -> dict[str, Node]:
    found = {}
    for key, value in node.items(what):
        name = key.text("a name")
        if name not in known:
            key.refuse(f"{what} has no {name!r}; {nearest(name, known)}")
        found[name] = value
    return found


def _with_items(step: _Step) -> bool:
    found = step.given.get("with items")
    return found is not None and found.scalar("true or false") is True


def _move(step: _Step) -> Step:
    return move(
        step.entity(step.subject, "old"),
        step.entity(step.text("to", step.subject)),
        forward=step.maybe("forward"),
        backward=step.maybe("backward"),
        rename=step.pairs("rename"),
        drops=step.texts("drops"),
        fill=step.fills(),
    )


def _transform(step: _Step) -> Step:
    return transform_attribute(
        step.items,
        step.subject,
        step.function("forward"),
        step.maybe("backward"),
        where=step.text("where", ""),
    )


def _fill_indexes(step: _Step) -> Step:
    former = step.entity(step.text("before"), "old") if "before" in step.given else None
    return fill_indexes(step.entity(step.subject), former)


def _remove_markers(step: _Step) -> Step:
    entity = step.entity(step.text("of"), "old")
    table = entity.__table__.schema
    return remove_markers(table.name, table.partition, entity.__name__, *step.texts(step.verb))


_OF_PLANS: Final = ("name", "description", "old", "new", "functions", "steps")
_OF_ITEMS: Final = ("of", "table", "where")
_STEPS: Final[Mapping[str, tuple[Callable[[_Step], Steps], tuple[str, ...]]]] = {
    "create table": (lambda s: add(s.table("new", s.subject)), ()),
    "drop table": (
        lambda s: remove(s.table("old", s.subject), with_items=_with_items(s)),
        ("with items",),
    ),
    "create index": (lambda s: add(s.part("new", "index"), s.text("of")), ("of",)),
    "drop index": (lambda s: remove(s.part("old", "index"), s.text("of")), ("of",)),
    "create vector index": (lambda s: add(s.part("new", "vector"), s.text("of")), ("of",)),
    "drop vector index": (lambda s: remove(s.part("old", "vector"), s.text("of")), ("of",)),
    "expire by": (lambda s: add(TimeToLive(s.subject), s.text("of")), ("of",)),
    "stop expiring by": (lambda s: remove(TimeToLive(s.subject), s.text("of")), ("of",)),
    "enable stream": (lambda s: add(Stream(s.subject), s.text("of")), ("of",)),
    "disable stream": (lambda s: remove(Stream(s.subject), s.text("of")), ("of",)),
    "move": (_move, ("to", "forward", "backward", "rename", "drops", "fill")),
    "rename": (lambda s: rename(s.items, s.subject, s.text("to")), ("to", "of", "table")),
    "derive": (
        lambda s: derive(s.items, s.subject, s.function("value"), where=s.text("where", "")),
        ("value", *_OF_ITEMS),
    ),
    "transform": (_transform, ("forward", "backward", *_OF_ITEMS)),
    "drop": (lambda s: drop(s.items, *s.texts("drop"), where=s.text("where", "")), _OF_ITEMS),
    "drop entity": (lambda s: drop(s.entity(s.subject, "old")), ()),
    "fill indexes": (_fill_indexes, ("before",)),
    "rebuild": (lambda s: rebuild(s.entity(s.subject)), ()),
    "recount": (lambda s: recount(s.plan.new, *s.texts("recount")), ()),
    "restore": (lambda s: restore(s.plan.new, *s.texts("restore")), ()),
    "remove markers": (_remove_markers, ("of",)),
}
"""Each step: what makes it, and its further words."""
