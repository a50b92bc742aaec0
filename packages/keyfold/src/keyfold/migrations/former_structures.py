"""Structures on the way back: what the new design added goes, what it changed is made right."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import replace

from keyfold.design.entity_spec import EntitySpec
from keyfold.design.schema import Follows
from keyfold.migrations.backend import Item
from keyfold.migrations.rewrites import Change, Rewrite, remove_markers
from keyfold.runtime import Design


def find_outdated(old: Design, new: Design, touched: Container[str]) -> tuple[str, ...]:
    """The structures of the old design that the new one keeps otherwise, or not at all, and those
    whose items this migration has written too: their sources are in `touched` tables.
    """
    now = {each.name: each for each in new.schema.follows}
    own = {m.label for m in old.maintainers if m.source.__table__.name in touched}
    return tuple(
        each.name
        for each in old.schema.follows
        if each.name not in now
        or replace(now[each.name], at_once=each.at_once) != each
        or (each.name in own and _is_written(each))
    )


def _is_written(each: Follows) -> bool:
    """Whether a migration changes it too: it writes copies, and a consumer of the new design may
    have read the records of what it copied.
    """
    if each.fact == "amount":
        return each.sync == "stream"
    return each.fact in ("copy", "claim") and each.sync == "transaction"


def removals(old: Design, new: Design, wanted: Callable[[str], bool]) -> Iterator[Rewrite]:
    """What takes away the items and fields that only structures of the new design write, of those
    that are `wanted` by name.
    """
    known = {each.name for each in old.schema.follows}
    for maintainer in new.maintainers:
        follows = maintainer.follows
        if follows.name in known or not wanted(follows.name):
            continue
        if follows.fact == "claim" and not follows.marker:
            table = maintainer.source.__table__.schema
            yield remove_markers(table.name, table.partition, follows.source, *maintainer.names)
        elif follows.fact == "copy" and follows.target not in old.entities:
            yield _without_items(new.entities[follows.target].__spec__)
        elif follows.fact == "amount" and follows.target in old.entities:
            before = old.entities[follows.target].__spec__
            fields = new.entities[follows.target].__spec__.fields
            added = {fields[name].attribute for name in follows.writes if name in fields}
            if added := added - before.by_attribute.keys():
                yield _without_fields(before, frozenset(added))


def _without_items(spec: EntitySpec) -> Rewrite:
    change: Change = lambda item: None if spec.recognises(item) else item  # noqa: E731
    return Rewrite(f"remove all {spec.name} of {spec.table.name}", spec.table.name, change)


def _without_fields(spec: EntitySpec, names: frozenset[str]) -> Rewrite:
    def change(item: Item) -> Item:
        if not spec.recognises(item):
            return item
        return {name: wire for name, wire in item.items() if name not in names}

    does = f"remove {', '.join(sorted(names))} from {spec.name} in {spec.table.name}"
    return Rewrite(does, spec.table.name, change)
