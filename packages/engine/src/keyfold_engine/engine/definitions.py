"""Table definitions: the rules that span members of CreateTable and UpdateTable requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keyfold_engine.engine import extensions
from keyfold_engine.engine.encryption import check_encryption
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.throughput import check_first_warmth
from keyfold_engine.errors import ValidationError, parameter_invalid
from keyfold_engine.limits import (
    GLOBAL_INDEXES,
    INDEX_INCLUDED_ATTRIBUTES,
    INDEX_KEY_ATTRIBUTES,
    LOCAL_INDEXES,
)

_FIRST_IS_HASH = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
_ON_DEMAND = ("MaxReadRequestUnits", "MaxWriteRequestUnits")
_MOST_UNITS = 1_000_000_000_000

KeySchema = Sequence[Mapping[str, str]]
Definition = Mapping[str, Any]


def check_creation(request: Definition) -> None:
    """All rules of CreateTable, in DynamoDB's order."""
    billing = request.get("BillingMode", "PROVISIONED")
    check_billing(request, billing)
    attributes = attribute_names(request.get("AttributeDefinitions", ()))
    schema = request["KeySchema"]
    local, global_ = request.get("LocalSecondaryIndexes"), request.get("GlobalSecondaryIndexes")
    asked = extensions.for_request(request)
    has_further = any(request.get(each.indexes_member) for each in asked)
    _check_table_keys(schema, attributes)
    if local is None and global_ is None and not has_further and len(schema) != len(attributes):
        raise parameter_invalid(
            "Number of attributes in KeySchema does not exactly match number of "
            "attributes defined in AttributeDefinitions"
        )
    seen: set[str] = set()
    if local is not None:
        _check_local(local, schema, attributes, seen)
    if global_ is not None:
        _check_global(global_, billing, attributes, seen)
    further = [index for each in asked for index in each.indexes(request, billing, attributes)]
    for index in further:
        check_projection(index)
        _check_name(index, seen)
    indexes = (*(local or ()), *(global_ or ()), *further)
    check_included(indexes)
    _check_attributes_used(attributes, [_names(schema), *map(_index_attributes, indexes)])
    stream = request.get("StreamSpecification") or {}
    if stream.get("StreamViewType") is not None and not stream["StreamEnabled"]:
        raise parameter_invalid(
            "Table is being created with a stream disabled, UpdateViewType should not be specified"
        )
    check_stream(request.get("StreamSpecification"))
    check_most(request.get("OnDemandThroughput"), billing, CREATED)
    check_table_class(request.get("TableClass"))
    check_encryption(request.get("SSESpecification"))
    check_first_warmth(request, billing, "table")
    for index in global_ or ():
        check_first_warmth(index, billing, f"index {index['IndexName']}")


_CLASSES = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")


def check_table_class(name: str | None) -> None:
    if name not in (None, *_CLASSES):
        raise ValidationError(
            "Invalid table-class parameter provided. Please try again with a valid table-class "
            f"value: [{', '.join(_CLASSES)}]."
        )


# The message of CreateTable and UpdateTable for on-demand limits on a provisioned table.
CREATED = "cannot be specified when table BillingMode is PROVISIONED."
UPDATED = "cannot be specified when the table BillingMode is PROVISIONED"


def check_most(
    most: Definition | None, billing: str, on_provisioned: str, *, removes: bool = False
) -> None:
    """The rules of OnDemandThroughput; `removes` allows -1, which removes a limit."""
    given = {name: most[name] for name in _ON_DEMAND if name in most} if most else {}
    for name in given:
        if billing == "PROVISIONED":
            raise parameter_invalid(f"{name} for OnDemandThroughput {on_provisioned}")
    for name, units in given.items():
        if units < 1 and not (removes and units == -1):
            raise parameter_invalid(
                f"Requested {name} for OnDemandThroughput for table is outside of valid range"
            )


def check_index_keys(index: Definition, attributes: Sequence[str]) -> None:
    """The rules for the key schema of every index."""
    schema = index["KeySchema"]
    _check_defined(schema, attributes)
    _check_distinct(schema)
    kinds = [element["KeyType"] for element in schema]
    if kinds[0] != "HASH":
        raise ValidationError(_FIRST_IS_HASH)
    if kinds != sorted(kinds):
        raise ValidationError(
            "Invalid KeySchema: All HASH key attributes must precede the RANGE key attributes"
        )
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > INDEX_KEY_ATTRIBUTES:
            raise parameter_invalid(
                f"Number of {kind} attributes in KeySchema exceeds the limit of "
                f"{INDEX_KEY_ATTRIBUTES}"
            )


def check_projection(index: Definition) -> None:
    projection = index.get("Projection") or {}
    kind, extra = projection.get("ProjectionType"), projection.get("NonKeyAttributes")
    if kind is None:
        raise parameter_invalid("Unknown ProjectionType: null")
    if kind == "INCLUDE":
        if not extra:
            raise parameter_invalid(
                "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
            )
        if (name := _repeated_name(extra)) is not None:
            raise parameter_invalid(f"Duplicate element in NonKeyAttributes: {name}")
    elif extra:
        raise parameter_invalid(f"ProjectionType is {kind}, but NonKeyAttributes is specified")


def check_included(indexes: Iterable[Definition]) -> None:
    """The limit of attributes projected by name over all indexes of a table."""
    total = 0
    for index in indexes:
        total += len(index["Projection"].get("NonKeyAttributes") or ())
        if "SearchSchema" in index or "KeySchema" not in index:
            # A search also projects what it is about, and its filters.
            kinds = [each["SearchSchemaElementType"] for each in index.get("SearchSchema") or ()]
            total += 1 + kinds.count("INLINE_FILTER")
    if total > INDEX_INCLUDED_ATTRIBUTES:
        raise parameter_invalid(
            f"The total number of attributes projected into all indexes exceeds the "
            f"limit of {INDEX_INCLUDED_ATTRIBUTES}"
        )


def check_throughput(index: Definition, billing: str) -> None:
    throughput = index.get("ProvisionedThroughput")
    if billing == "PROVISIONED" and throughput is None:
        raise parameter_invalid(
            f"ProvisionedThroughput must be specified for index: {index['IndexName']}"
        )
    if billing == "PAY_PER_REQUEST" and throughput is not None:
        raise parameter_invalid(
            f"ProvisionedThroughput should not be specified for index: "
            f"{index['IndexName']} when BillingMode is PAY_PER_REQUEST"
        )


def check_stream(specification: Definition | None) -> None:
    if specification is None:
        return
    view = specification.get("StreamViewType")
    if specification.get("StreamEnabled") and view is None:
        raise parameter_invalid("StreamViewType is required when StreamEnabled is set to true")
    if not specification.get("StreamEnabled") and view is not None:
        raise parameter_invalid(
            "StreamViewType should not be specified when StreamEnabled is false"
        )


def check_global_count(count: int) -> None:
    if count > GLOBAL_INDEXES:
        raise parameter_invalid(
            f"GlobalSecondaryIndex count exceeds the per-table limit of {GLOBAL_INDEXES}"
        )


def attribute_names(definitions: Iterable[Mapping[str, str]]) -> list[str]:
    names = [definition["AttributeName"] for definition in definitions]
    if (name := _repeated_name(names)) is not None:
        raise ValidationError(f"Attribute Name is duplicated: {name}")
    return names


def check_same_types(
    index: Definition, known: Mapping[str, str], defined: Mapping[str, str]
) -> None:
    """Refuse another type for an attribute that is already a key."""
    if any(known.get(name, defined[name]) != defined[name] for name in _names(index["KeySchema"])):
        raise parameter_invalid(
            f"Attributes cannot be redefined. Please check that your attribute has the "
            "same type as previously defined. "
            f"Existing schema: {_schema_shown(index, known)} "
            f"New schema: {_schema_shown(index, defined)}"
        )


def _schema_shown(index: Definition, types: Mapping[str, str]) -> str:
    keys = (
        f"key{{{element['AttributeName']}:{types[element['AttributeName']]}:{element['KeyType']}}}"
        for element in index["KeySchema"]
        if element["AttributeName"] in types
    )
    return f"Schema:[SchemaElement: {', '.join(keys)}]"


def _repeated_name(names: Sequence[str]) -> str | None:
    """The first repeated name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def used_attributes(definition: Definition) -> list[Mapping[str, str]]:
    """The attribute definitions that the table and its indexes use."""
    used = set(_names(definition["KeySchema"]))
    members = [each.indexes_member for each in extensions.for_members(definition)]
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes", *members):
        for index in definition.get(member) or ():
            used.update(_index_attributes(index))
    return [a for a in definition["AttributeDefinitions"] if a["AttributeName"] in used]


def attribute_types(attributes: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {each["AttributeName"]: each["AttributeType"] for each in attributes}


def with_index(
    table: TableDefinition, member: str, index: Definition, defined: Iterable[Mapping[str, str]]
) -> TableDefinition:
    """The table with one more index and the attributes that it uses of those defined."""
    known = table.definition["AttributeDefinitions"]
    types = attribute_types(known)
    added = [each for each in defined if each["AttributeName"] not in types]
    definition = {
        **table.definition,
        member: [*table.definition.get(member, ()), index],
        "AttributeDefinitions": [*known, *added],
        "NextIndex": index["Number"] + 1,
    }
    definition["AttributeDefinitions"] = used_attributes(definition)
    return TableDefinition(table.id, definition)


def without_index(table: TableDefinition, member: str, name: str) -> TableDefinition:
    left = [each for each in table.definition[member] if each["IndexName"] != name]
    changed = table.with_changes(**{member: left or None})
    return changed.with_changes(AttributeDefinitions=used_attributes(changed.definition))


def numbered(indexes: Sequence[Definition], first: int) -> list[dict[str, Any]]:
    """Index definitions as stored: each with the number of its entry table."""
    return [{**index, "Number": first + at} for at, index in enumerate(indexes)]


def _index_attributes(index: Definition) -> list[str]:
    """The attributes of an index that AttributeDefinitions must define."""
    return _names(index.get("KeySchema") or index.get("SearchSchema") or ())


def _names(schema: KeySchema) -> list[str]:
    return [element["AttributeName"] for element in schema]


def _name_list(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def check_billing(request: Definition, billing: str) -> None:
    """The rules of a table's throughput in its billing mode."""
    throughput = request.get("ProvisionedThroughput")
    if billing == "PAY_PER_REQUEST" and throughput is not None:
        raise parameter_invalid(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST"
        )
    if billing == "PROVISIONED" and throughput is None:
        raise parameter_invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
            "BillingMode is PROVISIONED"
        )
    check_units(throughput)


def check_units(throughput: Definition | None) -> None:
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        units = (throughput or {}).get(name, 0)
        if units > _MOST_UNITS:
            raise ValidationError(f"Given value {units} for {name} is out of bounds")


def _check_table_keys(schema: KeySchema, attributes: Sequence[str]) -> None:
    if len(schema) > len(attributes):
        raise ValidationError("Invalid KeySchema: Some index key attribute have no definition")
    _check_defined(schema, attributes)
    _check_distinct(schema)
    _check_kinds(schema)


def _check_kinds(schema: KeySchema) -> None:
    if schema[0]["KeyType"] != "HASH":
        raise ValidationError(_FIRST_IS_HASH)
    if len(schema) > 1 and schema[1]["KeyType"] != "RANGE":
        raise ValidationError(
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
        )


def _check_defined(schema: KeySchema, attributes: Sequence[str]) -> None:
    names = _names(schema)
    if any(name not in attributes for name in names):
        raise parameter_invalid(
            f"Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: {_name_list(names)}, AttributeDefinitions: {_name_list(attributes)}"
        )


def _check_distinct(schema: KeySchema) -> None:
    names = _names(schema)
    if len(set(names)) != len(names):
        raise ValidationError(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        )


def _check_local(
    local: Sequence[Definition], table: KeySchema, attributes: Sequence[str], seen: set[str]
) -> None:
    if not local:
        raise parameter_invalid("List of LocalSecondaryIndexes is empty")
    if len(table) < 2:
        raise parameter_invalid(
            "Table KeySchema does not have a range key, which is required when "
            "specifying a LocalSecondaryIndex"
        )
    for index in local:
        _check_local_keys(index, table, attributes)
        check_projection(index)
        _check_name(index, seen)
    if len(local) > LOCAL_INDEXES:
        raise parameter_invalid(
            f"Number of LocalSecondaryIndexes exceeds per-table limit of {LOCAL_INDEXES}"
        )


def _check_local_keys(index: Definition, table: KeySchema, attributes: Sequence[str]) -> None:
    schema, name = index["KeySchema"], index["IndexName"]
    _check_defined(schema, attributes)
    _check_distinct(schema)
    _check_kinds(schema)
    if len(schema) < 2:
        raise parameter_invalid(f"Index KeySchema does not have a range key for index: {name}")
    mine, theirs = schema[0]["AttributeName"], table[0]["AttributeName"]
    if mine != theirs:
        raise parameter_invalid(
            f"Index KeySchema does not have the same leading hash key as table KeySchema "
            f"for index: {name}. index hash key: {mine}, table hash key: {theirs}"
        )


def _check_global(
    global_: Sequence[Definition], billing: str, attributes: Sequence[str], seen: set[str]
) -> None:
    if not global_:
        raise parameter_invalid("List of GlobalSecondaryIndexes is empty")
    for index in global_:
        check_index_keys(index, attributes)
        check_projection(index)
        check_throughput(index, billing)
        _check_name(index, seen)
    check_global_count(len(global_))


def _check_name(index: Definition, seen: set[str]) -> None:
    if index["IndexName"] in seen:
        raise parameter_invalid(f"Duplicate index name: {index['IndexName']}")
    seen.add(index["IndexName"])


def _check_attributes_used(attributes: Sequence[str], names: Iterable[Iterable[str]]) -> None:
    used = list(dict.fromkeys(name for each in names for name in each))
    if any(name not in used for name in attributes):
        raise parameter_invalid(
            f"Some AttributeDefinitions are not used. AttributeDefinitions: "
            f"{_name_list(attributes)}, keys used: {_name_list(used)}"
        )
