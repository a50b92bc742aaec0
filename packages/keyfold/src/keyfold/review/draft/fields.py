"""An entity's attributes as the fields of a Python class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from pydantic.alias_generators import to_camel, to_snake

from keyfold.design.field_codec import FORMS
from keyfold.design.schema import AttributeSchema, CounterSchema, EntitySchema, Schema
from keyfold.design.spelling import normaliser
from keyfold.design.template import Slot, Template
from keyfold.review.draft import conditions, names
from keyfold.review.draft.searches import mark, vector_of

_TYPES = {
    "id": "Id",
    "string": "str",
    "signed_url": "str",
    "number": "int",
    "decimal": "Decimal",
    "boolean": "bool",
    "binary": "bytes",
    "binary_set": "set[bytes]",
    "timestamp": "Timestamp",
    "date": "date",
    "duration": "timedelta",
    "list": "list[Any]",
    "map": "dict[str, Any]",
    "model": "dict[str, Any]",
    "any": "Any",
    "string_set": "set[str]",
    "number_set": "set[int]",
}


Naming = Literal["camel", "snake"]

_MOMENT = re.compile(r"(?:[a-z]At|_at|[tT]imestamp|[dD]ate|^ts|^at)$")


def attributes(entity: EntitySchema) -> tuple[AttributeSchema, ...]:
    """The declared attributes, and those that only keys name."""
    known = set(entity.by_field)
    templates = [t for key in _keys(entity) for t in key]
    missing = {
        part.field: part
        for template in templates
        for part in template.slots
        if not part.path and part.field not in known
    }
    more = [AttributeSchema(name, name, _guess_type(slot)) for name, slot in missing.items()]
    return (*more, *(one for one in entity.attributes if not one.follows))


def _keys(entity: EntitySchema) -> Iterator[tuple[Template, ...]]:
    for key in (entity.key, *(placement.key for placement in entity.placements)):
        if key is not None:
            yield (key.partition,) if key.sort is None else (key.partition, key.sort)


def _guess_type(slot: Slot) -> str:
    moment = _MOMENT.search(slot.field) is not None
    if moment or slot.format.name.startswith(("iso", "epoch")):
        return "timestamp"
    return "number" if slot.format.numeric else "id"


def naming(table: str, schema: Schema) -> Naming:
    """The naming style of most attributes of a table's items."""
    stored = [a for entity in schema.entities if entity.table == table for a in entity.attributes]
    snake = sum("_" in a.name.strip("_") for a in stored)
    camel = sum(a.name != to_snake(a.name) for a in stored)
    return "snake" if snake > camel else "camel"


def line(attribute: AttributeSchema, entity: EntitySchema, schema: Schema, naming: Naming) -> str:
    """One field with its type and markers: `title: str`."""
    kind = _type(attribute) if vector_of(attribute, entity, schema) is None else "list[float]"
    marks = list(_marks(attribute, entity, schema, naming))
    expires = any(mark.startswith("Ttl(") for mark in marks)
    optional = attribute.optional or expires
    if expires:
        kind = "datetime"
    if optional:
        kind += " | None"
    if marks:
        kind = f"Annotated[{kind}, {', '.join(marks)}]"
    default = " = None" if optional else ""
    if not optional and attribute.type == "string" and len(attribute.values) == 1:
        default = f" = {names.quoted(attribute.values[0])}"
    if not optional and any(
        mark.startswith(("Counter(", "Version(", "Sharded(")) for mark in marks
    ):
        default = " = 0"
    return f"{names.field(attribute.field)}: {kind}{default}"


def _type(attribute: AttributeSchema) -> str:
    if attribute.values and attribute.type == "string":
        return f"Literal[{', '.join(names.quoted(value) for value in attribute.values)}]"
    if attribute.type == "list" and attribute.refers:
        return "list[str]"
    return _TYPES.get(attribute.type, "Any")


def sharded_by(entity: EntitySchema) -> str:
    """The field that an item's shard is derived from."""
    spread = [p.key.partition for p in entity.placements] + (
        [entity.key.partition] if entity.key else []
    )
    shards = {a.field for a in entity.attributes if a.shards}
    taken = {f for partition in spread if shards & {*partition.fields} for f in partition.fields}
    own = entity.key.fields if entity.key else ()
    return next((field for field in reversed(own) if field not in taken), "")


def _marks(
    attribute: AttributeSchema, entity: EntitySchema, schema: Schema, naming: Naming
) -> Iterator[str]:
    python = names.field(attribute.field)
    if entity.ttl is not None and entity.ttl.attribute == attribute.name:
        days = f"days={entity.ttl.days:g}" if entity.ttl.days is not None else ""
        after = f"after={names.quoted(names.field(entity.ttl.after))}" if entity.ttl.after else ""
        yield f"Ttl({', '.join(word for word in (days, after) if word)})"
    elif attribute.stored and attribute.type == "timestamp":
        yield f"Stored({names.quoted(attribute.stored)})"
    words = {word: f"ReadsAlso({kind.__name__})" for kind, word in FORMS.items()}
    yield from (words.get(one, f"ReadsAlso({names.quoted(one)})") for one in attribute.reads)
    stored = python if naming == "snake" else to_camel(python)
    if stored != attribute.name and not attribute.in_key:
        yield f"Name({names.quoted(attribute.name)})"
    if attribute.shards is not None and (by := sharded_by(entity)):
        yield f"Sharded({names.quoted(names.field(by))}, {attribute.shards})"
    if attribute.states:
        yield _states(attribute)
    if attribute.copies:
        yield f"From({names.quoted(names.field(attribute.copies))})"
    if not attribute.mutable and attribute.field not in (entity.key.fields if entity.key else ()):
        yield "Fixed()"
    if attribute.in_key:
        yield "InKey()"
    if _leads_elsewhere(attribute, schema):
        yield f"RefersTo({names.quoted(names.class_name(attribute.refers))})"
    vector = vector_of(attribute, entity, schema)
    if vector is not None:
        yield mark(vector, entity, schema)
    elif attribute.max_items is not None and attribute.type != "string":
        yield f"AtMost({attribute.max_items})"
    if attribute.normalise:
        yield f"Normalised({normalising(attribute.normalise)})"
    if entity.version == attribute.field:
        yield "Version()"
    for counter in schema.counters:
        if (counter.target, counter.attribute) == (entity.name, attribute.field):
            yield from _counter(counter, entity, schema)


def normalising(name: str) -> str:
    """The function that a design names, or the usual one where Python has none of the name."""
    found = normaliser(name)
    return "str.casefold" if found is None else found.__qualname__


def _leads_elsewhere(attribute: AttributeSchema, schema: Schema) -> bool:
    """Whether it refers to another entity than its name says."""
    by_name = names.words(attribute.field) == [*names.words(attribute.refers), "id"]
    return attribute.refers in schema.by_entity and not by_name


def _states(attribute: AttributeSchema) -> str:
    steps: dict[str, dict[str, str]] = {}
    for step in attribute.states:
        steps.setdefault(step.before, {})[step.after] = step.by
    shown = []
    for before, several in steps.items():
        named = any(several.values())
        pairs = (
            f"{names.quoted(after)}: {names.quoted(by)}" if named else names.quoted(after)
            for after, by in several.items()
        )
        shown.append(f"{names.quoted(before)}: {{{', '.join(pairs)}}}")
    start = ", ".join(map(names.quoted, attribute.start or tuple(steps)[:1]))
    return f"States({{{', '.join(shown)}}}, start={{{start}}})"


def _counter(counter: CounterSchema, target: EntitySchema, schema: Schema) -> Iterator[str]:
    """The counter marker, if the counted items refer to the holder."""
    counted = schema.by_entity.get(counter.counts)
    if counted is None or target.key is None:
        return
    via = {}
    for needed in target.key.fields:
        if needed in {a.field for a in attributes(counted)}:
            continue
        theirs = [a.field for a in counted.attributes if a.refers == target.name]
        if len(theirs) != 1:
            return
        via[names.field(needed)] = names.field(theirs[0])
    arguments = [names.quoted(names.class_name(counter.counts))]
    if via:
        pairs = (f"{names.quoted(a)}: {names.quoted(b)}" for a, b in via.items())
        arguments.append(f"via={{{', '.join(pairs)}}}")
    if counter.where is not None:
        arguments.append(f"where={conditions.declared(counter.where, counted)}")
    arguments += [f"sums={names.quoted(names.field(counter.sums))}"] if counter.sums else []
    arguments += ['sync="stream"'] if counter.sync == "stream" else []
    arguments += [f"shards={counter.shards}"] if counter.shards > 1 else []
    yield f"Counter({', '.join(arguments)})"


def ttl_attribute(entity: EntitySchema) -> AttributeSchema | None:
    """The attribute that holds the expiry, where the design does not list it."""
    if entity.ttl is None or entity.ttl.attribute in {a.name for a in entity.attributes}:
        return None
    return AttributeSchema(entity.ttl.attribute, entity.ttl.attribute, "timestamp", optional=True)
