"""A plan's steps as data: what each schema change requires, and what only people can decide."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keyfold import literals
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Follows,
    Index,
    Schema,
    TableSchema,
    VectorSchema,
)
from keyfold.errors import MigrationError
from keyfold.literals import python as quote
from keyfold.maintain.structure import restated
from keyfold.migrations.questions import Question, question_of
from keyfold.migrations.refusals import stays
from keyfold.migrations.schema_change import MOVES, SchemaChange, snake

Step = dict[str, Any]
"""As the plan's file has it."""


class PlanSteps:
    """Writes the steps of one plan."""

    def __init__(
        self,
        changes: list[SchemaChange],
        before: Schema,
        after: Schema,
        defaults: Container[tuple[str, str]],
    ) -> None:
        self.changes, self.before, self.after = changes, before, after
        self.defaults = defaults
        self.questions: list[str] = []
        self.needs_design = False
        """Whether a step needs what only the declaration in Python has."""
        self._functions: dict[str, str] = {}
        self._asks = False

    @property
    def functions(self) -> str:
        """The Python file of the functions that the steps name."""
        if not self._functions:
            return ""
        title = literals.docstring("The functions that the plan of this name uses.")
        imports = "\nfrom keyfold.migrations import undecided\n" if self._asks else ""
        return "\n\n".join([f"{title}\n{imports}", *self._functions.values()])

    def all(self) -> list[Step]:
        """In execution order."""
        order = {"added": 0, "changed": 1, "renamed": 1, "moved": 1, "re-keyed": 1, "removed": 2}
        found: list[Step] = []
        for change in sorted(self.changes, key=lambda c: order[c.kind.split()[-1]]):
            found += [step for step in self._step(change) if step not in found]
        return found

    def _step(self, change: SchemaChange) -> Iterator[Step]:
        old, new = change.old, change.new
        asked = question_of(change, self.changes, self.before, self.after)
        if asked is not None:
            yield self._ask(asked)
            return
        match change.kind, old, new:
            case "table added", _, TableSchema():
                yield {"create table": new.name}
                if new.ttl:
                    yield {"expire by": new.ttl, "of": new.name}
            case "table removed", TableSchema(), _:
                yield {"drop table": old.name}
            case "index added", _, Index():
                yield {"create index": new.name, "of": change.subject}
            case "vector added", _, VectorSchema():
                yield {"create vector index": new.name, "of": change.subject}
            case "vector removed", VectorSchema(), _:
                yield {"drop vector index": old.name, "of": change.subject}
            case "ttl changed", TableSchema(), TableSchema():
                yield from _switched("stop expiring by", old.ttl, "expire by", new.ttl, new.name)
            case "stream changed", TableSchema(), TableSchema():
                yield from _switched(
                    "disable stream", old.stream, "enable stream", new.stream, new.name
                )
            case _, _, Follows():
                yield from self._restore_steps(change, new)
            case _, Follows(), _:
                yield from self._removal_steps(old)
            case (_, EntitySchema(), _) | (_, _, EntitySchema()):
                yield from self._entity_step(change)

    def _restore_steps(self, change: SchemaChange, new: Follows) -> Iterator[Step]:
        """Steps for a changed structure, which also remove what is no longer due."""
        if new.fact == "amount" and restated(new):
            yield {"recount": new.name.removeprefix("counter ")}
        elif new.fact not in ("need", "job") and not self._is_moved(new.source):
            old = change.old
            later = isinstance(old, Follows) and replace(old, sync=new.sync) == replace(
                new, at_once=old.at_once
            )
            if not later:
                self.needs_design |= restated(new) is None
                yield {"restore": new.name}

    def _removal_steps(self, old: Follows) -> Iterator[Step]:
        """Steps that remove the markers of a dropped unique, unless others write them too."""
        if old.fact == "claim" and not old.marker and old.source in self.before.by_entity:
            yield {"remove markers": old.name.partition(".")[2].split("+"), "of": old.source}

    def _entity_step(self, change: SchemaChange) -> Iterator[Step]:
        old, new = change.old, change.new
        if change.kind in MOVES and self._is_copy_of_moved(change.subject):
            return  # its canonical writes it again
        if change.kind in MOVES:
            assert isinstance(old, EntitySchema)
            assert isinstance(new, EntitySchema)
            yield self._move_step(old, new)
        elif change.kind == "index keys changed":
            filled: Step = {"fill indexes": self._name_of(change.subject)}
            if isinstance(old, EntitySchema) and old.placements:
                filled["before"] = self._name_of(old.name, "old")
            yield filled
        elif change.kind == "unique added" and not self._is_moved(change.subject):
            yield {"rebuild": self._name_of(change.subject)}
        elif change.kind == "pointer added":
            if not self._is_moved(change.detail):
                yield {"rebuild": self._name_of(change.detail)}
        elif change.kind == "entity removed" and isinstance(old, EntitySchema):
            table = self.before.by_table.get(old.table)
            gone = {c.subject for c in self.changes if c.kind == "table removed"}
            if table and table.type_attribute and change.detail and old.table not in gone:
                yield {"drop entity": old.name}
            elif table and change.detail and old.table not in gone:
                self.questions.append(
                    f"{old.name} is no longer maintained, and {old.table} has no type attribute to "
                    "identify its items: they stay until you delete them"
                )
        elif change.kind == "attribute changed" and isinstance(new, EntitySchema):
            yield self._conversion_step(change, new)
        elif change.kind == "attribute added" and isinstance(new, EntitySchema):
            attribute = next(a for a in new.attributes if a.name == change.detail)
            if attribute.optional or self._is_counted(new, attribute):
                return
            if stays(old, new):
                yield self._fill_step(old, new, attribute)

    def _is_moved(self, entity: str) -> bool:
        """Whether a move includes it, or a new entity writes it itself."""
        kinds = (*MOVES, "entity added")
        return any(c.subject == entity and c.kind in kinds for c in self.changes)

    def _is_copy_of_moved(self, entity: str) -> bool:
        copies = (each for each in self.after.follows if each.fact == "copy")
        return any(each.target == entity and self._is_moved(each.source) for each in copies)

    def _is_counted(self, entity: EntitySchema, attribute: AttributeSchema) -> bool:
        """Whether a new structure writes it."""
        added = (c.new for c in self.changes if c.kind == "structure added")
        kept = (each for each in added if isinstance(each, Follows))
        return any(each.target == entity.name and attribute.field in each.writes for each in kept)

    def _fill_step(self, old: object, entity: EntitySchema, attribute: AttributeSchema) -> Step:
        question = f"what do existing items get as {attribute.name}?"
        left = self._left_out(old, entity, attribute.type)
        if left:
            question += (
                f" {', '.join(left)} is removed in this plan: if it was renamed, use rename "
                "instead."
            )
        asks = bool(left) or (entity.name, attribute.field) not in self.defaults
        function = self._fill_function(entity, attribute, question, asks=asks)
        return {"derive": attribute.field, "of": self._name_of(entity.name), "value": function}

    def _fill_function(
        self, entity: EntitySchema, attribute: AttributeSchema, question: str, *, asks: bool
    ) -> str:
        """The name of a function, to be written by hand, for the value of existing items."""
        function = f"{snake(entity.name)}_{snake(attribute.field)}"
        self.questions.append(f"{function}: {question}")
        mark = f"@undecided({quote(question)})\n" if asks else ""
        self._asks |= asks
        about = f"{attribute.name} of an existing {entity.name}; None leaves it out."
        self._functions[function] = (
            f"{mark}def {function}(item: dict):\n    {literals.docstring(about)}\n    return None\n"
        )
        return function

    def _conversion_step(self, change: SchemaChange, entity: EntitySchema) -> Step:
        """A step for a changed type: only people know the conversion and its inverse."""
        old = change.old
        assert isinstance(old, EntitySchema)
        name = change.detail
        was = next(a for a in old.attributes if a.name == name)
        now = next(a for a in entity.attributes if a.name == name)
        function = f"{snake(entity.name)}_{snake(now.field)}"
        for called, given, made in ((function, was, now), (f"{function}_back", now, was)):
            question = (
                f"what does a {given.type} become as a {made.type}? Applications that declare it "
                f"as a {given.type} cannot read the result: if one still runs, declare the new one "
                "under another name instead, and derive it."
            )
            self._asks = True
            self.questions.append(f"{called}: {question}")
            about = (
                f"{name} of {entity.name}; a value that is already a {made.type} stays unchanged."
            )
            self._functions[called] = (
                f"@undecided({quote(question)})\ndef {called}(value):\n"
                f"    {literals.docstring(about)}\n    return {_likely(made.type)}\n"
            )
        named = {"transform": name, "of": self._name_of(entity.name)}
        return {**named, "forward": function, "backward": f"{function}_back"}

    def _left_out(self, old: object, entity: EntitySchema, type: str) -> list[str]:
        """Attributes of this type that the entity no longer has."""
        kept = {one.name for one in entity.attributes}
        known = old.attributes if isinstance(old, EntitySchema) else ()
        return [one.name for one in known if one.name not in kept and one.type == type]

    def _name_of(self, entity: str, side: str = "new") -> str:
        """An entity's name; computed values are only in the design itself."""
        schema = self.after if side == "new" else self.before
        found = schema.by_entity.get(entity)
        computed = found is not None and any(a.follows for a in found.attributes)
        if computed and side == "old":
            raise MigrationError(
                f"the key of {entity} was computed by functions, which a schema cannot store; "
                "declare the old entity in a separate module, and write the move by hand"
            )
        self.needs_design |= computed
        return entity

    def _move_step(self, old: EntitySchema, new: EntitySchema) -> Step:
        """A move; if attributes are removed, the author chooses among the likely moves."""
        gone = [a for a in old.attributes if a.is_stored and a.field not in new.by_field]
        added = [a for a in new.attributes if a.is_stored and a.field not in old.by_field]
        renamed: dict[str, str] = {}
        for one in gone:
            alike = [
                a.field for a in added if a.type == one.type and a.field not in renamed.values()
            ]
            renamed |= {one.field: alike[0]} if alike else {}
        fills = {
            one.field: self._fill_function(
                new,
                one,
                f"what do existing items get as {one.name}?",
                asks=one.field not in renamed.values(),
            )
            for one in added
            if self._is_needed(new, one)
        }
        if not gone:
            return self._move(old, new, {}, [], fills)
        names = [a.name for a in gone]
        left = [a.name for a in gone if a.field not in renamed]
        rest = {field: name for field, name in fills.items() if field not in renamed.values()}
        offered = [
            *([self._move(old, new, renamed, left, rest)] if renamed else []),
            self._move(old, new, {}, names, fills),
            self._move(old, new, {}, [], fills),
        ]
        asked = Question(
            f"{new.name} moves, and no longer declares {', '.join(names)}. Was it renamed, should "
            "it be dropped, or should it be kept undeclared?",
            tuple(offered),
        )
        return self._ask(asked)

    def _is_needed(self, entity: EntitySchema, attribute: AttributeSchema) -> bool:
        """Whether items cannot be read without a field that they do not have yet."""
        kept = {f for each in self.after.follows if each.target == entity.name for f in each.writes}
        given = attribute.optional or (entity.name, attribute.field) in self.defaults
        return not given and attribute.field not in kept

    def _move(
        self,
        old: EntitySchema,
        new: EntitySchema,
        renamed: Mapping[str, str],
        drops: Sequence[str],
        fills: Mapping[str, str],
    ) -> Step:
        was, now = self._name_of(old.name, "old"), self._name_of(new.name)
        step: Step = {"move": was}
        if was != now:
            step["to"] = now
        given = {"rename": dict(renamed), "drops": list(drops), "fill": dict(fills)}
        return {**step, **{word: value for word, value in given.items() if value}}

    def _ask(self, asked: Question) -> Step:
        """A question in the place of a step."""
        told = " ".join(asked.text.split())
        self.questions.append(
            "; ".join([told, *(f"{n}: {answer}" for n, answer in enumerate(asked.answer_lines, 1))])
        )
        return {"decide": told, "answers": list(asked.answers), "answer": None}


def _switched(off: str, was: str | None, on: str, now: str | None, table: str) -> Iterator[Step]:
    if was:
        yield {off: was, "of": table}
    if now:
        yield {on: now, "of": table}


def _likely(type: str) -> str:
    made = {"string": "str(value)", "id": "str(value)", "number": "int(value)"}
    made |= {"list": "value if isinstance(value, list) else [value]"}
    return made.get(type, "value")
