"""Drafts a design from a table in use: the result of `keyfold inspect`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from keyfold.design.schema import EntitySchema, Schema, TableSchema
from keyfold.errors import KeyfoldError, TableNotFound
from keyfold_engine.clients.protocol import Client
from keyfold_workbench.adopt import item_sample
from keyfold_workbench.adopt.description import live_table
from keyfold_workbench.adopt.design_draft import DesignDraft, draft
from keyfold_workbench.adopt.given_names import keep_names
from keyfold_workbench.adopt.item_sample import Sample


def inspect(table: TableSchema, sample: Sample, *, keep: Schema | None = None) -> DesignDraft:
    """The design of a table from a sample; names given by `keep` are kept."""
    if not sample.items:
        raise KeyfoldError(f"{sample.table} has no items to draft a design from")
    drafted = draft(table, sample.items, complete=sample.complete, visits=sample.visits)
    drafted.notes.insert(1, f"Read with {sample.units:g} units" + _part(sample))
    return keep_names(drafted, keep) if keep is not None else drafted


def _part(sample: Sample) -> str:
    return ": the whole table." if sample.complete else f", from {len(sample.visits) or 1} places."


def observe(client: Client, name: str, *, sample: int) -> Schema:
    """Facts observed in a table and a sample of its items."""
    table = live_table(client, name)
    taken = item_sample.read(client, Sample(name), sample)
    return draft(table, taken.items).schema


def observe_design(
    client: Client, schema: Schema, prefix: str, known_as: Mapping[str, str], sample: int
) -> Schema:
    """A design with observations of its tables; missing tables are skipped."""
    tables: list[TableSchema] = []
    entities: list[EntitySchema] = []
    for table in schema.tables:
        try:
            seen = observe(client, table.physical_name(prefix, known_as), sample=sample)
        except TableNotFound:
            continue
        tables += [replace(each, name=table.name) for each in seen.tables]
        entities += [replace(entity, table=table.name) for entity in seen.entities]
    live = Schema(schema.name, tables=tuple(tables), entities=tuple(entities))
    return replace(schema, observed=live)
