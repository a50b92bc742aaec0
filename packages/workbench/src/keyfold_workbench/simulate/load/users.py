"""The same workload with more users: rates and items scale, categories do not."""

from __future__ import annotations

from dataclasses import replace

from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.workload import EntityLoad, Workload
from keyfold_workbench.simulate.load.zipf import exponent, harmonic

CATEGORIES = 100
"""A field with fewer values counts as a category, which users do not add to."""


def scale_users(schema: Schema, workload: Workload, users: float) -> Workload:
    """The workload for this number of users."""
    if workload.users is None:
        raise KeyfoldError(
            "--users needs a workload that states its users: add `users: 50000` to the file"
        )
    by = users / workload.users
    figures = DesignNumbers(schema, workload)
    # Defaults apply to the file's own number of users, and scale too.
    held = {
        entity.name: figures.items(entity)
        for entity in schema.entities
        if entity.copy is None or workload.entities.get(entity.name, EntityLoad()).items is not None
    }
    entities = {
        entity.name: _entity(
            workload.entities.get(entity.name, EntityLoad()), held.get(entity.name), by
        )
        for entity in schema.entities
        if entity.name in workload.entities or entity.name in held
    }
    patterns = {
        name: replace(load, rate=_times(load.rate, by), peak=_times(load.peak, by))
        for name, load in workload.patterns.items()
    }
    writes = tuple(
        replace(load, rate=_times(load.rate, by), peak=_times(load.peak, by))
        for load in workload.writes
    )
    feeds = {
        name: replace(load, rate=_times(load.rate, by), peak=_times(load.peak, by))
        for name, load in workload.feeds.items()
    }
    return replace(
        workload,
        users=users,
        entities=entities,
        patterns=patterns,
        writes=writes,
        feeds=feeds,
    )


def _times(rate: float | None, by: float) -> float | None:
    return None if rate is None else rate * by


def _entity(load: EntityLoad, items: float | None, by: float) -> EntityLoad:
    distinct = {
        field: count * by if count >= CATEGORIES else count
        for field, count in load.distinct.items()
    }
    hottest = {}
    for field, share in load.hottest.items():
        before = load.distinct.get(field, items or 0.0)
        after = distinct.get(field, before * by)
        if before > CATEGORIES and share > 0:
            hottest[field] = 1 / harmonic(after, exponent(before, share))
        else:
            hottest[field] = share
    return replace(
        load,
        items=None if items is None or load.copies is not None else items * by,
        growth=_times(load.growth, by),
        distinct=distinct,
        hottest=hottest,
    )
