"""Access patterns as typed functions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from keyfold.design.schema import PatternSchema
from keyfold.literals import docstring
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.reach import Reach
from keyfold.review.draft import fields, names

_BOUNDS = {"gt": "after", "ge": "since", "lt": "before", "le": "until"}
_PYTHON = {
    "number": "int",
    "decimal": "Decimal",
    "timestamp": "datetime",
    "date": "date",
    "boolean": "bool",
}
DEFAULT_LIMIT = 50


@dataclass
class Parameters:
    """The parameters of a pattern's function, in order, with their types."""

    types: dict[str, str]

    def take(self, appearance: Appearance, field: str, *, many: bool = False) -> str:
        held = {a.field: a for a in fields.attributes(appearance.entity)}
        attribute = held.get(field)
        kind = _PYTHON.get(attribute.type, "str") if attribute else "str"
        name = names.field(field)
        if many:
            name, kind = f"{name}s", f"list[{kind}]"
        self.types[name] = kind
        return name


class Unserved(Exception):
    """No declared key serves the pattern."""


def function(pattern: PatternSchema, facts: Reach) -> str:
    """The whole declaration of one pattern."""
    if pattern.partition is None or pattern.kind == "scan":
        raise Unserved(pattern.name)
    parameters = Parameters({})
    if pattern.at_once:
        result, body = _several(pattern, facts, parameters)
    elif not pattern.entities or pattern.kind == "collection" or len(pattern.entities) > 1:
        result, body = _collection(pattern, facts, parameters)
    elif pattern.kind == "get":
        result, body = _get(pattern, facts, parameters)
    elif pattern.kind == "merge":
        result, body = _merge(pattern, facts, parameters)
    else:
        result, body = _query(pattern, facts, parameters)
    budget = f"requests={pattern.requests}" if pattern.requests is not None else ""
    given = [f"{name}: {kind}" for name, kind in parameters.types.items()]
    told = (pattern.description or pattern.name).strip().splitlines()[0].rstrip(".")
    start = f"def {names.function(pattern.name)}"
    signature = names.call(start, given, tail=f" -> {result}:")
    return (
        f"{_view(pattern, facts)}\n@design.pattern({budget})\n{signature}\n"
        f"    {docstring(f'{told[:1].upper()}{told[1:]}.')}\n{_return_line(body)}\n"
    )


def _return_line(body: str) -> str:
    """The return statement; a long one is split within its first call."""
    line = f"    return {body}"
    if len(line.partition("\n")[0]) <= names.WIDTH:
        return line
    start = body.index("(")
    end = _closing(body, start)
    inner = body[start + 1 : end].strip()
    return f"    return {body[:start]}(\n        {inner}\n    ){body[end + 1 :]}" if inner else line


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at
    raise ValueError(text)


def _appearance(pattern: PatternSchema, facts: Reach, name: str) -> Appearance:
    for appearance in facts.reached(pattern):
        if appearance.entity.name == name and (not pattern.index or appearance.placement):
            return appearance
    raise Unserved(pattern.name)


def _get(pattern: PatternSchema, facts: Reach, parameters: Parameters) -> tuple[str, str]:
    appearance = _appearance(pattern, facts, pattern.entities[0])
    entity = names.class_name(appearance.entity.name)
    wanted = dict.fromkeys(appearance.key.fields)
    given = [f"{names.field(f)}={parameters.take(appearance, f)}" for f in wanted]
    return f"Get[{entity}]", f"get({entity}.key({', '.join(given)}))"


def _several(pattern: PatternSchema, facts: Reach, parameters: Parameters) -> tuple[str, str]:
    """`get_many(Room.key(room_id=each(room_ids)))`: the last field of the key is the list."""
    addresses, kinds = [], []
    for name in pattern.entities:
        entity = facts.schema.by_entity[name]
        if entity.key is None:
            raise Unserved(pattern.name)
        appearance = Appearance(entity, entity.key, None)
        wanted = list(dict.fromkeys(entity.key.fields))
        spread = wanted[-1] if pattern.partitions and wanted else ""
        given = []
        for field in wanted:
            taken = parameters.take(appearance, field, many=field == spread)
            given.append(f"{names.field(field)}={f'each({taken})' if field == spread else taken}")
        kinds.append(names.class_name(name))
        addresses.append(f"{kinds[-1]}.key({', '.join(given)})")
    if pattern.at_once == "batch":
        return f"GetMany[{' | '.join(kinds)}]", f"get_many({', '.join(addresses)})"
    items = ", ".join(f"{kind} | None" for kind in kinds)
    held = f"{items}, ..." if pattern.partitions else items
    return f"GetTogether[tuple[{held}]]", f"get_together({', '.join(addresses)})"


def _query(pattern: PatternSchema, facts: Reach, parameters: Parameters) -> tuple[str, str]:
    appearance = _appearance(pattern, facts, pattern.entities[0])
    entity = names.class_name(appearance.entity.name)
    body = _chain(pattern, appearance, parameters)
    if pattern.kind == "latest":
        return f"First[{entity}]", f"{body}.first()"
    if pattern.kind in ("count", "exists"):
        result = "Count" if pattern.kind == "count" else "Exists"
        return f"{result}[{entity}]", f"{body}.{pattern.kind}()"
    body += _limit(pattern, parameters)
    if pattern.projection:
        model = _model(pattern)
        return f"Projected[{model}]", f"{body}.only({model})"
    return f"Query[{entity}]", body


def _model(pattern: PatternSchema) -> str:
    return names.class_name(f"{pattern.name} row")


def _view(pattern: PatternSchema, facts: Reach) -> str:
    """The model of a pattern that reads a part of its items."""
    if not pattern.projection or pattern.kind != "query" or len(pattern.entities) != 1:
        return ""
    entity = facts.schema.by_entity[pattern.entities[0]]
    held = {a.field: a for a in fields.attributes(entity)}
    naming = fields.naming(entity.table, facts.schema)
    lines = [
        f"    {fields.line(replace(held[f], max_items=None), entity, facts.schema, naming)}"
        for f in pattern.projection
        if f in held
    ]
    told = f"    {docstring(f'What {pattern.name} reads of {_with_article(entity.name)}.')}"
    return "\n".join(["", f"class {_model(pattern)}(BaseModel):", told, "", *lines, "", ""])


def _with_article(name: str) -> str:
    return f"an {name}" if name[:1] in "AEIOU" else f"a {name}"


def _chain(
    pattern: PatternSchema, appearance: Appearance, parameters: Parameters, each: str = ""
) -> str:
    """`Listing.by_status.query(room_id=room_id).since(...)`"""
    condition, sort = pattern.condition, appearance.key.sort
    asked = len(condition.template.fields) if condition.template else 0
    bound = _BOUNDS.get(condition.operator, "")
    if condition.operator == "between" and condition.upper is not None:
        bound, asked = "since", max(asked, 1)
    leading = list(sort.fields[: asked - 1 if bound and asked else asked]) if sort else []
    given = []
    for field in dict.fromkeys([*appearance.key.partition.fields, *leading]):
        name = parameters.take(appearance, field, many=field == each)
        given.append(f"{names.field(field)}={f'each({name})' if field == each else name}")
    source = placement_name(appearance) if appearance.placement else "key"
    chain = f"{names.class_name(appearance.entity.name)}.{source}.query({', '.join(given)})"
    if bound and sort is not None and len(sort.fields) > len(leading):
        field = sort.fields[len(leading)]
        chain += f".{bound}({names.field(field)}={parameters.take(appearance, field)})"
    return f"{chain}.descending()" if pattern.descending else chain


def _limit(pattern: PatternSchema, parameters: Parameters) -> str:
    parameters.types["limit"] = f"int = {pattern.limit or DEFAULT_LIMIT}"
    return ".limit(limit)"


def _merge(pattern: PatternSchema, facts: Reach, parameters: Parameters) -> tuple[str, str]:
    appearance = _appearance(pattern, facts, pattern.entities[0])
    entity = names.class_name(appearance.entity.name)
    shards = {a.field for a in appearance.entity.attributes if a.shards}
    if shards & {*appearance.key.partition.fields}:
        return f"Merge[{entity}]", _across(pattern, appearance, parameters)
    each = appearance.key.partition.fields[0]
    chain = _chain(pattern, appearance, parameters, each)
    return f"Merge[{entity}]", f"merge({chain}){_limit(pattern, parameters)}"


def _across(pattern: PatternSchema, appearance: Appearance, parameters: Parameters) -> str:
    """`across_shards(Follow.followers, user_id=user_id)`: one query a shard."""
    shards = {a.field for a in appearance.entity.attributes if a.shards}
    wanted = [f for f in appearance.key.partition.fields if f not in shards]
    given = [f"{names.field(f)}={parameters.take(appearance, f)}" for f in wanted]
    source = placement_name(appearance) if appearance.placement else "key"
    key = f"{names.class_name(appearance.entity.name)}.{source}"
    chain = f"across_shards({', '.join([key, *given])})"
    chain += ".descending()" if pattern.descending else ""
    return chain + _limit(pattern, parameters)


def _collection(pattern: PatternSchema, facts: Reach, parameters: Parameters) -> tuple[str, str]:
    found = [a for a in facts.reached(pattern) if not pattern.entities or _is_wanted(pattern, a)]
    shapes = {a.key.partition.text for a in found}
    if len(shapes) != 1:
        raise Unserved(pattern.name)
    given = [
        f"{names.field(f)}={parameters.take(found[0], f)}" for f in found[0].key.partition.fields
    ]
    entities = [
        names.class_name(a.entity.name) + (f".{placement_name(a)}" if a.placement else "")
        for a in found
    ]
    body = names.call("collection", [*entities, *given], indent=4).strip()
    return "Collection", body + _limit(pattern, parameters)


def _is_wanted(pattern: PatternSchema, appearance: Appearance) -> bool:
    return appearance.entity.name in pattern.entities


def placement_name(appearance: Appearance) -> str:
    """The name of an entity's key in an index."""
    placement = appearance.placement
    if placement is None:
        return "key"
    index = re.sub(r"[-_]?index$", "", placement.index, flags=re.IGNORECASE)
    told = index if re.match(r"[Bb]y[-_A-Z]", index) else f"by {index}"
    stem = placement.name if placement.name != placement.index else told
    name = names.field(stem)
    return f"{name}_key" if name in {names.field(f) for f in appearance.entity.by_field} else name
