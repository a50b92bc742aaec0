"""The rules of vector indexes in CreateTable and UpdateTable requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keyfold_engine.errors import ValidationError, parameter_invalid
from keyfold_engine.limits import (
    SEARCH_FILTERS,
    VECTOR_DIMENSIONS,
    VECTOR_INDEXES,
)

Definition = Mapping[str, Any]


def check_all(indexes: Sequence[Definition], billing: str, defined: Iterable[str]) -> None:
    """The vector indexes of a CreateTable request, except for their names."""
    if not indexes:
        raise parameter_invalid("List of VectorIndexes is empty")
    check_billing(billing)
    names = list(defined)
    for at, index in enumerate(indexes):
        check_one(index, names, indexes[:at])
    check_count(len(indexes))


def check_billing(billing: str) -> None:
    if billing != "PAY_PER_REQUEST":
        raise parameter_invalid("Vector indexes are only supported for PAY_PER_REQUEST tables")


def check_count(count: int) -> None:
    if count > VECTOR_INDEXES:
        raise parameter_invalid(
            f"VectorIndex count exceeds the per-table limit of {VECTOR_INDEXES}"
        )


def check_one(index: Definition, defined: Sequence[str], others: Iterable[Definition]) -> None:
    """One index beside the `others` of its table; `defined` are the AttributeDefinitions."""
    if index["Dimensions"] > VECTOR_DIMENSIONS:
        raise parameter_invalid(
            f"Number of dimensions must be between 1 and {VECTOR_DIMENSIONS} inclusive."
        )
    _check_schema(index.get("SearchSchema") or (), defined)
    name = index["VectorAttribute"]["AttributeName"]
    if name in defined:
        raise conflicting(name)
    for other in others:
        same = other["VectorAttribute"]["AttributeName"] == name
        if same and other["Dimensions"] != index["Dimensions"]:
            raise parameter_invalid(
                f"Conflicting attribute definition for '{name}'. All VectorIndexes on "
                "the same vector attribute must use the same dimensions."
            )


def conflicting(name: str) -> ValidationError:
    return parameter_invalid(
        f"Conflicting attribute definition for '{name}'. An attribute cannot be defined in "
        "AttributeDefinitions when used as a VectorAttribute."
    )


def _check_schema(schema: Sequence[Mapping[str, str]], defined: Sequence[str]) -> None:
    names = [element["AttributeName"] for element in schema]
    kinds = [element["SearchSchemaElementType"] for element in schema]
    if kinds.count("HASH") > 1:
        raise parameter_invalid(
            f"Value '{kinds.count('HASH')}' at 'SearchSchema' failed to satisfy "
            "constraint: Member must have HASH count less than or equal to 1"
        )
    if len(set(names)) != len(names):
        raise parameter_invalid("SearchSchema contains a duplicate AttributeName")
    if any(name not in defined for name in names):
        raise parameter_invalid(
            "One element in SearchSchema is not defined in attribute definitions"
        )
    if kinds.count("INLINE_FILTER") > SEARCH_FILTERS:
        raise parameter_invalid(
            f"Value '{kinds.count('INLINE_FILTER')}' at 'SearchSchema' failed to satisfy "
            f"constraint: Member must have INLINE_FILTER count less than or equal to "
            f"{SEARCH_FILTERS}"
        )


def description(index: Definition) -> dict[str, Any]:
    """The definition as descriptions and backups show it."""
    members = (
        "IndexName",
        "VectorAttribute",
        "SearchSchema",
        "Projection",
        "Dimensions",
        "DistanceFunction",
    )
    return {member: index[member] for member in members if member in index}
