"""A plan's steps: what each schema change requires, and what only people can decide."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

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
from keyfold.migrations.plan_source import PlanSource, snake
from keyfold.migrations.questions import Question, question_of
from keyfold.migrations.refusals import stays
from keyfold.migrations.schema_change import MOVES, SchemaChange


class PlanSteps:
    """Writes the steps of one plan."""

    def __init__(
        self,
        changes: list[SchemaChange],
        before: Schema,
        after: Schema,
        defaults: Container[tuple[str, str]],
        source: PlanSource,
    ) -> None:
        self.changes, self.before, self.after = changes, before, after
        self.defaults, self.source = defaults, source
        self.questions: list[str] = []

    def all(self) -> Iterator[str]:
        """In execution order."""
        order = {"added": 0, "changed": 1, "renamed": 1, "moved": 1, "re-keyed": 1, "removed": 2}
        for change in sorted(self.changes, key=lambda c: order[c.kind.split()[-1]]):
            yield from self._step(change)

    def _step(self, change: SchemaChange) -> Iterator[str]:
        old, new = change.old, change.new
        asked = question_of(change, self.changes, self.before, self.after)
        if asked is not None:
            if isinstance(old, Index):
                drop = self.source.call("DropIndex", quote(change.subject), self.source.index(old))
                asked = replace(asked, answers=(" ".join(drop.split()),))
            elif isinstance(old, TableSchema) and new is None:
                table = self.source.table(old)
                answers = (f"DropTable({table})", f"DropTable({table}, with_items=True)")
                asked = replace(asked, answers=answers)
            yield self._ask(asked)
            return
        call = self.source.call
        match change.kind, old, new:
            case "table added", _, TableSchema():
                yield call("CreateTable", self.source.table(new))
                if new.ttl:
                    yield call("EnableTtl", quote(new.name), quote(new.ttl))
            case "table removed", TableSchema(), _:
                yield call("DropTable", self.source.table(old))
            case "index added", _, Index():
                yield call("CreateIndex", quote(change.subject), self.source.index(new))
            case "index removed", Index(), _:
                yield call("DropIndex", quote(change.subject), self.source.index(old))
            case "vector added", _, VectorSchema():
                yield call("CreateVector", quote(change.subject), self.source.vector(new))
            case "vector removed", VectorSchema(), _:
                yield call("DropVector", quote(change.subject), self.source.vector(old))
            case "ttl changed", TableSchema(), TableSchema():
                if old.ttl:
                    yield call("DisableTtl", quote(new.name), quote(old.ttl))
                if new.ttl:
                    yield call("EnableTtl", quote(new.name), quote(new.ttl))
            case "stream changed", TableSchema(), TableSchema():
                if old.stream:
                    yield call("DisableStream", quote(new.name), quote(old.stream))
                if new.stream:
                    yield call("EnableStream", quote(new.name), quote(new.stream))
            case "counter added", _, _:
                yield call("recount", "new", quote(change.detail))
            case _, _, Follows():
                yield from self._restore_steps(change, new)
            case _, Follows(), _:
                yield from self._removal_steps(old)
            case (_, EntitySchema(), _) | (_, _, EntitySchema()):
                yield from self._entity_step(change)

    def _restore_steps(self, change: SchemaChange, new: Follows) -> Iterator[str]:
        """Steps for a changed structure, which also remove what is no longer due."""
        if new.fact == "amount" and restated(new):
            yield self.source.call("recount", "new", quote(new.name.removeprefix("counter ")))
        elif new.fact not in ("need", "job") and not self._is_moved(new.source):
            old = change.old
            later = isinstance(old, Follows) and replace(old, sync=new.sync) == replace(
                new, at_once=old.at_once
            )
            if not later:
                side = "new" if restated(new) else "design"
                yield self.source.call("restore", side, quote(new.name))

    def _removal_steps(self, old: Follows) -> Iterator[str]:
        """Steps that remove the markers of a dropped unique."""
        entity = self.before.by_entity.get(old.source) if self.before else None
        table = self.before.by_table.get(entity.table) if self.before and entity else None
        if old.fact != "claim" or table is None:
            return
        fields = old.name.partition(".")[2].split("+")
        named = (table.name, table.partition, old.source, *fields)
        yield self.source.call("remove_markers", *map(quote, named))

    def _entity_step(self, change: SchemaChange) -> Iterator[str]:
        old, new = change.old, change.new
        entity = self._name_of(change.subject)
        if change.kind in MOVES and self._is_copy_of_moved(change.subject):
            return  # its canonical writes it again
        if change.kind in MOVES:
            assert isinstance(old, EntitySchema)
            assert isinstance(new, EntitySchema)
            yield self._move_step(old, new)
        elif change.kind == "index keys changed":
            yield self.source.call("fill_indexes", entity, *self._former_keys(old, new))
        elif change.kind == "unique added" and not self._is_moved(change.subject):
            yield self.source.call("rebuild", entity)
        elif change.kind == "pointer added":
            if not self._is_moved(change.detail):
                yield self.source.call("rebuild", self._name_of(change.detail))
        elif change.kind == "entity removed" and isinstance(old, EntitySchema):
            table = self.before.by_table.get(old.table) if self.before else None
            gone = {c.subject for c in self.changes if c.kind == "table removed"}
            if table and table.type_attribute and change.detail and old.table not in gone:
                parts = [quote(old.table), quote(old.type_name or old.name)]
                if table.type_attribute != "type":
                    parts.append(quote(table.type_attribute))
                yield self.source.call("remove_items", *parts)
            elif table and change.detail and old.table not in gone:
                self.questions.append(
                    f"{old.name} is no longer maintained, and {old.table} has no type attribute to "
                    "identify its items: they stay until you delete them"
                )
        elif change.kind == "attribute changed" and isinstance(new, EntitySchema):
            yield self._conversion_step(change, new)
        elif change.kind == "attribute added" and isinstance(new, EntitySchema):
            attribute = next(a for a in new.attributes if a.name == change.detail)
            if attribute.optional or self._is_counted(change):
                return
            if stays(old, new):
                yield self._fill_step(old, new, attribute)

    def _former_keys(self, old: object, new: object) -> list[str]:
        """Where an entity had its index keys from, for the way back."""
        if not isinstance(old, EntitySchema) or not isinstance(new, EntitySchema):
            return []
        return [f"before={self._name_of(old.name, 'old')}"] if old.placements else []

    def _is_moved(self, entity: str) -> bool:
        """Whether a move includes it, or a new entity writes it itself."""
        kinds = (*MOVES, "entity added")
        return any(c.subject == entity and c.kind in kinds for c in self.changes)

    def _is_copy_of_moved(self, entity: str) -> bool:
        copies = (each for each in self.after.follows if each.fact == "copy")
        return any(each.target == entity and self._is_moved(each.source) for each in copies)

    def _is_counted(self, change: SchemaChange) -> bool:
        """Whether a new structure writes it."""
        label = f"{change.subject}.{change.detail}"
        added = [c.new for c in self.changes if c.kind == "structure added"]
        kept = (each for each in added if isinstance(each, Follows))
        return any(
            each.target == change.subject and change.detail in each.writes for each in kept
        ) or any(c.kind == "counter added" and c.detail == label for c in self.changes)

    def _fill_step(self, old: object, entity: EntitySchema, attribute: AttributeSchema) -> str:
        question = f"what do existing items get as {attribute.name}?"
        left = self._left_out(old, entity, attribute.type)
        if left:
            question += (
                f" {', '.join(left)} is removed in this plan: if it was renamed, use rename "
                "instead."
            )
        asks = bool(left) or (entity.name, attribute.field) not in self.defaults
        function = self._fill_function(entity, attribute, question, asks=asks)
        declared = self._name_of(entity.name)
        return self.source.call("derive", declared, quote(attribute.field), function)

    def _fill_function(
        self, entity: EntitySchema, attribute: AttributeSchema, question: str, *, asks: bool
    ) -> str:
        """The name of a function, to be written by hand, for the value of existing items."""
        function = f"{snake(entity.name)}_{snake(attribute.field)}"
        self.questions.append(f"{function}: {question}")
        mark = f"@undecided({quote(question)})\n" if asks else ""
        self.source.imports |= {"undecided"} if asks else set()
        about = f"{attribute.name} of an existing {entity.name}; None leaves it out."
        self.source.functions.append(
            f"{mark}def {function}(item: dict):\n    {literals.docstring(about)}\n    return None"
        )
        return function

    def _conversion_step(self, change: SchemaChange, entity: EntitySchema) -> str:
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
            self.source.imports.add("undecided")
            self.questions.append(f"{called}: {question}")
            about = (
                f"{name} of {entity.name}; a value that is already a {made.type} stays unchanged."
            )
            self.source.functions.append(
                f"@undecided({quote(question)})\ndef {called}(value):\n"
                f"    {literals.docstring(about)}\n    return {_likely(made.type)}"
            )
        declared = self._name_of(entity.name)
        return self.source.call(
            "transform_attribute", declared, quote(name), function, f"{function}_back"
        )

    def _left_out(self, old: object, entity: EntitySchema, type: str) -> list[str]:
        """Attributes of this type that the entity no longer has."""
        kept = {one.name for one in entity.attributes}
        known = old.attributes if isinstance(old, EntitySchema) else ()
        return [one.name for one in known if one.name not in kept and one.type == type]

    def _name_of(self, entity: str, side: str = "new") -> str:
        """Where a step finds an entity; computed values are only in the design itself."""
        schema = self.after if side == "new" else self.before
        found = schema.by_entity.get(entity)
        computed = found is not None and any(a.follows for a in found.attributes)
        if computed and side == "old":
            raise MigrationError(
                f"the key of {entity} was computed by functions, which a schema cannot store; "
                "declare the old entity in a separate module, and write the move by hand"
            )
        return f"{'design' if computed else side}.entities[{quote(entity)}]"

    def _move_step(self, old: EntitySchema, new: EntitySchema) -> str:
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
            return self.source.call("move", *self._move_parts(old, new, {}, [], fills))
        names = [a.name for a in gone]
        left = [a.name for a in gone if a.field not in renamed]
        rest = {field: name for field, name in fills.items() if field not in renamed.values()}
        offered = [
            *([self._move_parts(old, new, renamed, left, rest)] if renamed else []),
            self._move_parts(old, new, {}, names, fills),
            self._move_parts(old, new, {}, [], fills),
        ]
        asked = Question(
            f"{new.name} moves, and no longer declares {', '.join(names)}. Was it renamed, should "
            "it be dropped, or should it be kept undeclared?",
            tuple(f"move({', '.join(parts)})" for parts in offered),
        )
        return self._ask(asked)

    def _is_needed(self, entity: EntitySchema, attribute: AttributeSchema) -> bool:
        """Whether items cannot be read without a field that they do not have yet."""
        kept = {f for each in self.after.follows if each.target == entity.name for f in each.writes}
        given = attribute.optional or (entity.name, attribute.field) in self.defaults
        return not given and attribute.field not in kept

    def _move_parts(
        self,
        old: EntitySchema,
        new: EntitySchema,
        renamed: Mapping[str, str],
        drops: Sequence[str],
        fills: Mapping[str, str],
    ) -> list[str]:
        parts = [self._name_of(old.name, "old"), self._name_of(new.name)]
        if renamed:
            pairs = (f"{quote(was)}: {quote(now)}" for was, now in renamed.items())
            parts.append(f"rename={{{', '.join(pairs)}}}")
        if drops:
            parts.append(f"drops=[{', '.join(map(quote, drops))}]")
        if fills:
            pairs = (f"{quote(field)}: {function}" for field, function in fills.items())
            parts.append(f"fill={{{', '.join(pairs)}}}")
        return parts

    def _ask(self, asked: Question) -> str:
        """A question in the place of a step."""
        self.questions.append(f"{asked.text} {'; '.join(asked.answers)}")
        answers = {answer.partition("(")[0] for answer in asked.answers}
        self.source.imports |= {"undecided", *answers}
        return asked.step()


def _likely(type: str) -> str:
    made = {"string": "str(value)", "id": "str(value)", "number": "int(value)"}
    made |= {"list": "value if isinstance(value, list) else [value]"}
    return made.get(type, "value")
