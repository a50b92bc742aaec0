"""Amplify's GraphQL schemas: a table for each `@model`, an index for each `@index`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from keyfold_workbench.adopt.sources.material import Imported, SourceError
from keyfold_workbench.adopt.sources.plain_models import add_model
from keyfold.design.schema import AttributeSchema, Index, KeyType
from keyfold.design.source import Place
from keyfold.errors import KeyfoldError

_SCALARS = {
    "ID": ("id", ""),
    "String": ("string", ""),
    "Int": ("number", ""),
    "Float": ("decimal", ""),
    "Boolean": ("boolean", ""),
    "AWSDateTime": ("timestamp", "iso_ms"),
    "AWSDate": ("date", ""),
    "AWSTimestamp": ("timestamp", "epoch"),
    "AWSJSON": ("string", ""),
    "AWSEmail": ("string", ""),
    "AWSURL": ("string", ""),
    "AWSPhone": ("string", ""),
    "AWSTime": ("string", ""),
    "AWSIPAddress": ("string", ""),
}
_LINKS = ("hasMany", "hasOne", "belongsTo", "manyToMany")


def read(text: str, source: str) -> Imported:
    try:
        from graphql import GraphQLSyntaxError, parse
        from graphql.language import ast
    except ModuleNotFoundError:
        raise KeyfoldError(
            "GraphQL schemas need graphql-core; install it with: pip install 'keyfold[adopt]'"
        ) from None
    try:
        document = parse(text)
    except GraphQLSyntaxError as error:
        line = error.locations[0].line if error.locations else 1
        raise SourceError(Place(source, line), error.message) from None
    found = Imported("Amplify", source)
    types = [d for d in document.definitions if isinstance(d, ast.ObjectTypeDefinitionNode)]
    enums = {
        d.name.value: tuple(v.name.value for v in d.values or ())
        for d in document.definitions
        if isinstance(d, ast.EnumTypeDefinitionNode)
    }
    models = {t.name.value for t in types if _directive(t, "model")}
    if not models:
        raise SourceError(Place(source, 1), "no type has @model")
    for type_ in types:
        if type_.name.value in models:
            _model(type_, models, enums, found, source)
    found.questions.append(
        "Amplify puts an API's id and environment behind each table's name, as Post-abc123-dev. "
        "Which are yours? Set them with --table-names, or rename the tables here."
    )
    return found


def _model(
    type_: Any, models: set[str], enums: dict[str, tuple[str, ...]], found: Imported, source: str
) -> None:
    title = type_.name.value
    attributes: list[AttributeSchema] = []
    key: tuple[str, str | None] = ("id", None)
    indexes: list[Index] = []
    for field in type_.fields or ():
        name, place = (
            field.name.value,
            Place(source, field.loc.start_token.line if field.loc else 1),
        )
        if any(_directive(field, link) for link in _LINKS):
            attributes += _link(field, title, models, found)
            continue
        attributes.append(_attribute(field, enums))
        primary = _directive(field, "primaryKey")
        if primary is not None:
            key = (name, _sort(primary, title, attributes, place, found))
        for directive in field.directives or ():
            if directive.name.value == "index":
                indexes.append(_index(directive, name, title, place))
    held = {a.name for a in attributes}
    if "id" not in held and key[0] == "id":
        attributes.insert(0, AttributeSchema("id", "id", "id", mutable=False))
    for stamp in ("createdAt", "updatedAt"):
        if stamp not in held:
            attributes.append(AttributeSchema(stamp, stamp, "timestamp", stored="iso_ms"))
    known = {a.name for a in attributes}
    missing = [name for name in key if name and name not in known]
    if missing:
        raise SourceError(
            Place(source, type_.loc.start_token.line if type_.loc else 1),
            f"{title} has the key {missing[0]}, which is not a field",
        )
    for index in indexes:
        for name in index.key_attributes:
            if name not in known:
                raise SourceError(
                    Place(source, type_.loc.start_token.line if type_.loc else 1),
                    f"{title}: the index {index.name} has the key {name}, which is not a field",
                )
    add_model(
        found, title, title, attributes, key, [_with_key_types(i, attributes) for i in indexes],
        type_attribute="__typename",
    )  # fmt: skip


def _with_key_types(index: Index, attributes: list[AttributeSchema]) -> Index:
    kinds: dict[str, KeyType] = {
        a.name: "N" if a.type in ("number", "decimal") or a.stored == "epoch" else "S"
        for a in attributes
    }
    partition, *sort = (kinds[name] for name in index.key_attributes)
    return replace(index, partition_type=partition, sort_type=sort[0] if sort else "S")


def _directive(node: Any, name: str) -> Any:
    return next((d for d in node.directives or () if d.name.value == name), None)


def _argument(directive: Any, name: str) -> Any:
    for argument in directive.arguments or ():
        if argument.name.value == name:
            value = argument.value
            if hasattr(value, "values"):
                return [each.value for each in value.values]
            return getattr(value, "value", None)
    return None


def _sort(
    directive: Any, title: str, attributes: list[AttributeSchema], place: Place, found: Imported
) -> str | None:
    """One sort field is the sort key; several are joined by # under a combined name."""
    fields = _argument(directive, "sortKeyFields") or []
    fields = [fields] if isinstance(fields, str) else fields
    if len(fields) > 1:
        joined = "#".join(fields)
        found.questions.append(
            f"{title} has the sort key {joined} at line {place.line}: the fields joined. "
            f"Write its template, as {'#'.join('{' + f + '}' for f in fields)}."
        )
        attributes.append(AttributeSchema(joined, "_".join(fields), "string", mutable=False))
        return str(joined)
    return str(fields[0]) if fields else None


def _index(directive: Any, field: str, title: str, place: Place) -> Index:
    fields = _argument(directive, "sortKeyFields") or []
    fields = [fields] if isinstance(fields, str) else fields
    name = _argument(directive, "name") or f"{title.lower()}sBy{field[:1].upper()}{field[1:]}"
    if len(fields) > 1:
        raise SourceError(
            place,
            f"{title}: the index {name} joins {', '.join(fields)} into one sort key, which is not "
            "supported yet; remove it and add its template to the design file",
        )
    return Index(str(name), field, str(fields[0]) if fields else None)


def _attribute(field: Any, enums: dict[str, tuple[str, ...]]) -> AttributeSchema:
    node, required, many = field.type, False, False
    while True:
        kind = type(node).__name__
        if kind == "NonNullTypeNode":
            required = required or not many
            node = node.type
        elif kind == "ListTypeNode":
            many, node = True, node.type
        else:
            break
    named = node.name.value
    type_, stored = ("list", "") if many else _SCALARS.get(named, ("map", ""))
    if named in enums and not many:
        type_ = "string"
    return AttributeSchema(
        field.name.value,
        field.name.value,
        type_,
        optional=not required,
        stored=stored,
        values=enums.get(named, ()) if not many else (),
    )


def _link(field: Any, title: str, models: set[str], found: Imported) -> list[AttributeSchema]:
    """`@belongsTo` without fields stores an id that the schema does not list."""
    one = _directive(field, "belongsTo") or _directive(field, "hasOne")
    if one is None or _argument(one, "fields"):
        return []
    node = field.type
    while hasattr(node, "type"):
        node = node.type
    target = node.name.value
    name = f"{title[:1].lower()}{title[1:]}{field.name.value[:1].upper()}{field.name.value[1:]}Id"
    found.notes.append(f"{title}.{name} is the id that Amplify keeps for {field.name.value}.")
    refers = target if target in models else ""
    return [AttributeSchema(name, name, "id", optional=True, refers=refers)]
