"""The Python declaration of a design file: what `keyfold new` writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, Index, Schema, TableSchema, UniqueSchema
from keyfold.design.template import Literal, Template
from keyfold.errors import KeyfoldError
from keyfold.literals import docstring
from keyfold.review.check import check
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.reach import Reach
from keyfold.review.draft import conditions, fields, names, searches
from keyfold.review.draft.patterns import Unserved, function, placement_name

BLOCKING = ("K2", "K3", "K4", "K12", "X1")
"""Findings that a declaration would refuse, so that they must be fixed first."""


def declaration(schema: Schema) -> tuple[str, list[str]]:
    """The module's text, and the unserved patterns."""
    _refuse_broken(schema)
    _refuse_one_name_for_two(schema)
    facts = Reach(schema)
    parts = [_design(schema), *(_table(schema, table) for table in schema.tables)]
    parts += [_entity(schema, entity) for entity in _in_order(schema)]
    unserved = []
    for pattern in schema.patterns:
        try:
            parts.append(function(pattern, facts))
        except Unserved:
            unserved.append(pattern.name)
    parts += [searches.function(search, schema) for search in schema.searches]
    body = "\n".join(parts)
    title = (schema.description or schema.name).rstrip(".")
    head = f"{docstring(f'{title}.')}\n\nfrom __future__ import annotations\n\n"
    return head + "\n".join(_imports(body)) + "\n\n" + body.rstrip() + "\n", unserved


def _refuse_broken(schema: Schema) -> None:
    report = check(schema, select=BLOCKING)
    if report.findings:
        told = "\n".join(f"  {f.place}: {f.code} {f.subject}: {f.message}" for f in report.findings)
        raise KeyfoldError(f"{schema.name} cannot be declared:\n{told}")


def _refuse_one_name_for_two(schema: Schema) -> None:
    """Names of a file may differ by what no name in Python can say: `user-id` and `user_id`."""
    groups: list[tuple[str, dict[str, str]]] = [
        ("entities", {one.name: names.class_name(one.name) for one in schema.entities}),
        ("tables", {one.name: names.field(one.name) for one in schema.tables}),
        ("patterns", {one.name: names.function(one.name) for one in schema.patterns}),
    ]
    for entity in schema.entities:
        held = {one.field: names.field(one.field) for one in fields.attributes(entity)}
        groups.append((f"fields of {entity.name}", held))
        placed = [Appearance(entity, one.key, one) for one in entity.placements]
        called = {one.placement.name: placement_name(one) for one in placed if one.placement}
        groups.append((f"placements of {entity.name}", called))
    for what, made in groups:
        for name in dict.fromkeys(made.values()):
            same = [given for given, written in made.items() if written == name]
            if len(same) > 1:
                raise KeyfoldError(
                    f"{schema.name} cannot be declared: the {what} {' and '.join(same)} are both "
                    f"{name} in Python; rename one of them"
                )


def _imports(body: str) -> Iterator[str]:
    used = _global_names(ast.parse(body))
    for module in ("datetime", "decimal", "typing"):
        taken = [n for n, line in names.STANDARD.items() if n in used and f"from {module} " in line]
        if taken:
            yield f"from {module} import {', '.join(sorted(taken))}"
    yield ""
    if "BaseModel" in used:
        yield names.STANDARD["BaseModel"]
        yield ""
    for module, exported in names.exported().items():
        ours = sorted(used & set(exported), key=lambda n: (n[0].islower(), n))
        line = f"from {module} import {', '.join(ours)}"
        if ours and len(line) <= 100:
            yield line
        elif ours:
            yield f"from {module} import (\n" + "".join(f"    {name},\n" for name in ours) + ")"


def _global_names(node: ast.AST) -> set[str]:
    """The names that are read, except a function's own parameters."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    found: set[str] = set()
    for inner in ast.iter_child_nodes(node):
        found |= _global_names(inner)
    if isinstance(node, ast.FunctionDef):
        own = {one.arg for one in node.args.args}
        outside = set[str]().union(*map(_global_names, (node.args, *node.decorator_list)))
        found = (found - own) | outside
    return found


def _design(schema: Schema) -> str:
    arguments = [names.quoted(schema.name)]
    if schema.description:
        arguments.append(f"description={names.quoted(schema.description)}")
    return names.call("design = Design", arguments) + "\n"


def _variable(schema: Schema, table: TableSchema) -> str:
    return "table" if len(schema.tables) == 1 else names.field(table.name)


def _table(schema: Schema, table: TableSchema) -> str:
    arguments = [names.quoted(table.name)]
    if table.partition != "PK":
        arguments.append(f"partition={names.quoted(table.partition)}")
    if table.sort != "SK":
        arguments.append(f"sort={names.quoted(table.sort) if table.sort else None}")
    arguments += [f'partition_type="{table.partition_type}"'] if table.partition_type != "S" else []
    arguments += [f'sort_type="{table.sort_type}"'] if table.sort_type != "S" else []
    if table.indexes:
        inner = "".join(f"{_index(index)},\n" for index in table.indexes)
        arguments.append(f"indexes=[\n{inner}    ]")
    arguments += [f"ttl={names.quoted(table.ttl)}"] if table.ttl else []
    arguments += [f"stream={names.quoted(table.stream)}"] if table.stream else []
    if table.type_attribute != "type":
        kept = names.quoted(table.type_attribute) if table.type_attribute else "None"
        arguments.append(f"type_attribute={kept}")
    if fields.naming(table.name, schema) == "snake":
        arguments.append('naming="snake"')
    if table.name_variable:
        arguments.append(f"name_variable={names.quoted(table.name_variable)}")
    start = f"{_variable(schema, table)} = design.table"
    if table.indexes:
        return f"{start}(\n" + "".join(f"    {a},\n" for a in arguments) + ")\n"
    return names.call(start, arguments) + "\n"


def _index(index: Index) -> str:
    arguments = [_quote(word) for word in (index.name, index.partition, index.sort) if word]
    if index.partition_type != "S":
        arguments.append(f"partition_type={_quote(index.partition_type)}")
    if index.sort_type != "S":
        arguments.append(f"sort_type={_quote(index.sort_type)}")
    if index.projection != "ALL":
        arguments.append(f"projection={names.quoted(index.projection)}")
    if index.included:
        listed = "".join(f"{names.quoted(name)}, " for name in index.included)
        arguments.append(f"included=({listed.rstrip()})")
    arguments += ["local=True"] if index.local else []
    arguments += [f"purpose={names.quoted(index.purpose)}"] if index.purpose else []
    return names.call("Index", arguments, indent=8)


def _quote(words: str | tuple[str, ...]) -> str:
    if isinstance(words, str):
        return names.quoted(words)
    return f"({', '.join(map(names.quoted, words))})"


def _in_order(schema: Schema) -> list[EntitySchema]:
    """Originals before their copies."""
    return sorted(schema.entities, key=lambda entity: _is_pointer(schema, entity))


def _is_pointer(schema: Schema, entity: EntitySchema) -> bool:
    """Whether a pointer can maintain it: the canonical's fields, and one more for `each`."""
    source = schema.by_entity.get(entity.copy.of) if entity.copy else None
    if entity.copy is None or source is None or entity.copy.sync == "none":
        return False
    theirs = {a.field for a in fields.attributes(source)}
    own = [a.field for a in fields.attributes(entity) if (a.copies or a.field) not in theirs]
    return len(own) == 1 if entity.copy.each in theirs else not own and not entity.copy.each


def _entity(schema: Schema, entity: EntitySchema) -> str:
    table = f"table={_variable(schema, schema.by_table[entity.table])}"
    base = "Edge" if any(a.shards for a in entity.attributes) else "Entity"
    options = [table]
    if entity.copy is not None and _is_pointer(schema, entity):
        base = f"Pointer[{names.class_name(entity.copy.of)}]"
        if entity.copy.each:
            options.append(f"each={names.quoted(names.field(entity.copy.each))}")
        options += ['sync="stream"'] if entity.copy.sync == "stream" else []
    name = names.class_name(entity.name)
    if entity.type_name and entity.type_name != name:
        options.append(f"type_name={names.quoted(entity.type_name)}")
    elif entity.name != name:
        options.append(f"type_name={names.quoted(entity.name)}")
    if entity.per_partition is not None:
        options.append(f"per_partition={entity.per_partition}")
    lines = ["", f"class {name}({base}, {', '.join(options)}):"]
    if entity.description:
        told = entity.description.rstrip(".")
        lines += [f"    {docstring(f'{told}.')}", ""]
    held = list(fields.attributes(entity))
    expiry = fields.ttl_attribute(entity)
    held += [expiry] if expiry else []
    naming = fields.naming(entity.table, schema)
    lines += [f"    {fields.line(attribute, entity, schema, naming)}" for attribute in held]
    lines += ["", *_keys(entity)]
    lines += [_unique(unique) for unique in entity.uniques]
    return "\n".join([*lines, ""])


def _unique(unique: UniqueSchema) -> str:
    held = [names.field(field) for field in unique.fields]
    arguments = [*map(names.quoted, held)]
    if unique.normalise:
        arguments.append(f"normalise={fields.normalising(unique.normalise)}")
    if unique.marker:
        keys = _render(*unique.marker, *[None] * (2 - len(unique.marker)))
        arguments.append(f"marker=({', '.join(keys)},)".replace(",)", ")" if keys[1:] else ",)"))
    return names.call(f"one_{'_and_'.join(held)} = Unique", arguments, indent=4)


def _keys(entity: EntitySchema) -> Iterator[str]:
    if entity.key is not None:
        yield names.call("key = Key", _render(entity.key.partition, entity.key.sort), indent=4)
    for placement in entity.placements:
        name = placement_name(Appearance(entity, placement.key, placement))
        arguments = [
            names.quoted(placement.index),
            *_render(placement.key.partition, placement.key.sort),
        ]
        if placement.when is not None:
            arguments.append(f"when={conditions.declared(placement.when, entity)}")
        yield names.call(f"{name} = On", arguments, indent=4)


def _render(partition: Template, sort: Template | None) -> list[str]:
    return [_side(template) for template in (partition, sort) if template is not None]


def _side(template: Template) -> str:
    """A template, or a tuple of the fields that are key attributes of their own."""
    if not template.apart:
        return names.quoted(_text(template))
    texts = {_text(piece): piece.is_bare_field for piece in template.pieces}
    return _quote(tuple(text.strip("{}") if bare else text for text, bare in texts.items()))


def _text(template: Template) -> str:
    """The template over Python's names."""
    out = []
    for part in template.parts:
        if isinstance(part, Literal):
            out.append(part.text)
        else:
            format_ = f":{part.format.name}" if part.format.name else ""
            path = ".".join(map(names.field, (part.path or part.field).split(".")))
            out.append(f"{{{path}{format_}}}")
    return "".join(out)
