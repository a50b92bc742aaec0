"""A design that runs, made of what a write touches: its keys, indexes and structures.

It has the names of a schema and none of its types, because what a request costs follows from the
items it touches and from the workload's sizes. Conditions hold, unless the write decides them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import new_class
from typing import Annotated, Any

from pydantic import ConfigDict

from keyfold.design.address import OpenKey
from keyfold.design.condition import fields_of, presence
from keyfold.design.entity import Entity
from keyfold.design.exclusion import excludes
from keyfold.design.keys import Key
from keyfold.design.markers import Created, From, Name, Ttl, Updated
from keyfold.design.placement import On
from keyfold.design.recorder import Recorded
from keyfold.design.schema import (
    EntitySchema,
    FeedSchema,
    Follows,
    Index,
    KeyTemplates,
    Placement,
    Schema,
    TableSchema,
)
from keyfold.design.source import NOWHERE
from keyfold.design.template import DELIMITER, Literal, Template, parse_template
from keyfold.maintain import Counter, Pointer, Unique
from keyfold.maintain.cascade import CascadeMaintainer, OrphanMaintainer
from keyfold.maintain.copied_field import CopyMaintainer, OriginMaintainer
from keyfold.maintain.extreme import Extreme, ExtremeMaintainer
from keyfold.maintain.feed.declaration import Feed
from keyfold.maintain.feed.flag import Flag
from keyfold.maintain.related import Related
from keyfold.runtime import Design
from keyfold_engine.expressions.ast import Path
from keyfold_workbench.cost.ledger import TYPE, python_name
from keyfold_workbench.cost.sizes import keys

FLAG, PLACE = "f_when_", "f_place_"
"""Present if a condition that the write decides holds; which of several keys in an index holds."""
NO_KEY = "key"
ENABLED, SINCE = "f_enabled_", "f_since_"
NUMBER = "012d"


def pairs_of(schema: Schema, each: Follows) -> dict[str, str]:
    """The target's fields that show the source's, by their names on both."""
    if each.fact == "best":
        return dict(each.shows)
    held = schema.by_entity[each.target].by_field if each.fact == "copy" else {}
    return {n: (held[n].copies or n) if n in held else n for n in each.writes if n in held}


def listed_in(schema: Schema, copy: Follows) -> str:
    """The canonical's field that lists its copies; a described copy may not say which."""
    key = schema.by_entity[copy.target].key
    own = set(key.fields if key else ()) - pairs_of(schema, copy).keys()
    return copy.each or (f"{copy.target} copies" if own else "")


@dataclass
class SampleDesign:
    """The design of one write, and the fields that it changes, by entity."""

    schema: Schema
    changed: Mapping[str, frozenset[str]]
    design: Design = field(init=False)
    feeds: list[Feed[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.design = Design(self.schema.name or "design")
        self.follows = list(self._kept_records())
        self.kinds = dict(self._kinds())
        self._share_kinds()
        self.copies = {each.target: each for each in self.follows if each.fact == "copy"}
        for table in self.schema.tables:
            held = {entity.name for entity in self.schema.entities_of(table.name)}
            follows = any(e.sync == "stream" and e.source in held for e in self.follows)
            self.design.table(
                python_name(table.name),
                partition=table.partition,
                sort=table.sort,
                partition_type=table.partition_type,
                sort_type=table.sort_type,
                indexes=[replace(one, name=python_name(one.name)) for one in table.indexes],
                ttl=table.ttl,
                stream="NEW_AND_OLD_IMAGES" if table.stream or follows else None,
                type_attribute=table.type_attribute or TYPE,
            )
        self._shapes: set[tuple[str, ...]] = set()
        for entity in sorted(self.schema.entities, key=lambda one: one.name in self.copies):
            self._declare(entity)
        self.design.complete()
        for each in self.follows:
            for maintainer in self._maintainers(each):
                self.design.maintain(maintainer)
        self.feeds = [self._feed(feed) for feed in self.schema.feeds]

    def decides(self, each: Follows | Placement, entity: str) -> bool:
        """Whether the write decides a condition."""
        return bool(fields_of(each.when) & self.changed.get(entity, frozenset()))

    # What is there

    def _kept_records(self) -> Iterator[Follows]:
        """Of numbers with conditions that exclude each other, the first one moves."""
        held: list[Follows] = []
        for each in self.schema.follows:
            source = self.schema.by_entity[each.source]
            rivals = (
                one
                for one in held
                if (one.source, one.target) == (each.source, each.target)
                and one.when is not None
                and each.when is not None
                and excludes(one.when, each.when, source)
            )
            if each.fact == "amount" and not self.decides(each, each.source):
                if any(rivals):
                    continue
                held.append(each)
            yield each

    def _kinds(self) -> Iterator[tuple[tuple[str, str], Any]]:
        """The kinds of fields that are not text."""
        stored = {"N": int, "B": bytes}
        for entity in self.schema.entities:
            table = self.schema.by_table[entity.table]
            held = {
                name: template.fields[0]
                for owner, key in keys(table, entity)
                for name, _, template in owner.templates(key)
                if template.is_bare_field
            }
            held |= {attribute.name: attribute.field for attribute in entity.attributes}
            for owner in (table, *table.indexes):
                for name, type_ in owner.key_types.items():
                    if name in held and type_ in stored:
                        yield (entity.name, held[name]), stored[type_]
            if entity.ttl is not None and self.schema.by_table[entity.table].ttl:
                yield (entity.name, _field(entity, entity.ttl.attribute)), datetime
        for each in self.follows:
            if each.fact in ("amount", "best"):
                yield (each.target, each.writes[-1]), int
            if each.sums:
                yield (each.source, each.sums), int
            if each.stamps:
                yield (each.target, each.stamps), datetime
            if each.fact == "copy" and (listed := listed_in(self.schema, each)):
                yield (each.source, listed), tuple[str, ...]
        for feed in self.schema.feeds:
            for name in (feed.post, feed.item):
                posted = self.schema.by_entity[name].key
                if posted is not None and posted.sort is not None:
                    yield (name, posted.sort.fields[0]), datetime

    def _share_kinds(self) -> None:
        """A copy has its original's kind."""
        before = -1
        while before != len(self.kinds):
            before = len(self.kinds)
            for each in self.follows:
                for ours, theirs in pairs_of(self.schema, each).items():
                    one, other = (each.target, ours), (each.source, theirs)
                    kind = self.kinds.get(one, self.kinds.get(other))
                    if kind is not None:
                        self.kinds |= {one: kind, other: kind}

    def fields(self, entity: EntitySchema) -> dict[str, None]:
        """The fields that keys, structures and the write use."""
        table = self.schema.by_table[entity.table]
        found = [f for _, key in keys(table, entity) for f in key.fields]
        indexed = {name for index in table.indexes for name in index.key_attributes}
        found += [a.field for a in entity.attributes if a.name in indexed and a.is_stored]
        found += [name for owner, name in self.kinds if owner == entity.name]
        found += self.changed.get(entity.name, ())
        for each in self.follows:
            if each.source == entity.name:
                theirs = pairs_of(self.schema, each).values()
                shown = each.writes if each.fact in ("claim", "shown") else ()
                found += (*theirs, *shown, *each.fields, each.by, each.sums)
            if each.target == entity.name and each.fact in ("amount", "best", "copy", "job"):
                found += each.writes
                found += [own for _, own in each.via] if each.fact == "job" else ()
        for feed in self.schema.feeds:
            if entity.name == feed.item:
                found += self.schema.by_entity[feed.post].key.partition.fields  # type: ignore[union-attr]
        return dict.fromkeys(name for name in found if name)

    # Classes

    def _declare(self, entity: EntitySchema) -> None:
        copy = self.copies.get(entity.name)
        hints: dict[str, Any] = {}
        body: dict[str, Any] = {"__module__": __name__, "__annotations__": hints}
        # Looking for docstrings of its fields would take longer than all the rest.
        body["model_config"] = ConfigDict(use_attribute_docstrings=False)
        options: dict[str, Any] = {"table": self.design.tables[python_name(entity.table)]}
        base: Any = Entity
        wanted, pairs = [*self.fields(entity)], dict[str, str]()
        if copy is not None:
            canonical: Any = self.design.entities[copy.source]
            base, pairs = Pointer[canonical], pairs_of(self.schema, copy)
            options |= {"sync": copy.sync, "overflow": copy.overflow}
            listed = listed_in(self.schema, copy)
            options |= {"each": python_name(listed)} if listed else {}
            options |= {"when": _recorded} if self.decides(copy, copy.source) else {}
            own = entity.key.fields if entity.key else ()
            wanted = [name for name in wanted if name in pairs or name in own]
        names = {attribute.field: attribute.name for attribute in entity.attributes}
        for name in wanted:
            marks: list[Any] = [Name(self._stored(entity, names.get(name, name)))]
            kind = self.kinds.get((entity.name, name), str)
            if kind is int and (mark := self._counter(entity, name)) is not None:
                marks.append(mark)
                body[python_name(name)] = 0
            if kind is datetime and entity.ttl and names.get(name, name) == entity.ttl.attribute:
                marks.append(Ttl())
            if any((each.target, each.stamps) == (entity.name, name) for each in self.follows):
                kind = datetime | None
                body[python_name(name)] = None
            if pairs.get(name, name) != name:
                marks.append(From(python_name(pairs[name])))
            hints[python_name(name)] = Annotated[(kind, *marks)]
        for each in self.follows:
            if each.source == entity.name and each.fact == "claim":
                body[f"one_{len(body)}"] = Unique(*map(python_name, each.writes))
        self._add_keys(body, entity)
        for feed in self.schema.feeds:
            if entity.name == feed.flag:
                hints |= {ENABLED: bool, SINCE: Annotated[datetime | None, Updated()]}
                body[SINCE] = None
            if entity.name in (feed.edges or (feed.edge,)):
                hints[SINCE], body[SINCE] = Annotated[datetime | None, Created()], None
        if self.changed.get(entity.name):
            hints |= {FLAG: str | None, PLACE: str}
            body |= {FLAG: None, PLACE: "a"}
        new_class(entity.name, (base,), options, lambda namespace: namespace.update(body))

    def _add_keys(self, body: dict[str, Any], entity: EntitySchema) -> None:
        key, table = entity.key, self.schema.by_table[entity.table]
        if key is None:
            # A document may not say it; it is some key.
            key = KeyTemplates(parse_template(f"{{{NO_KEY}}}"))
            body["__annotations__"][python_name(NO_KEY)] = str
        texts = self._texts(entity, table, key)
        shape = (entity.table, *(re.sub(r"\{[^}]*\}", "{}", text) for text in texts))
        if shape in self._shapes:
            texts[0] = f"{entity.name}{DELIMITER}{texts[0]}"
        self._shapes.add(shape)
        body["key"] = Key(*texts, escape=True)
        for number, name in enumerate({p.index: None for p in entity.placements}):
            index = table.index(name)
            if index is None:
                continue
            here = entity.placement(name)
            decided = [one for one in here if self.decides(one, entity.name)]
            sides = self._texts(entity, index, here[0].key)
            if len(decided) > 1 and isinstance(sides[0], str):
                sides[0] = f"{{{PLACE}}}{DELIMITER}{sides[0]}"
            when = (FLAG,) if len(decided) == 1 else (PLACE,) if decided else ()
            body[f"on_{number}"] = On(python_name(name), *sides, when=when, escape=True)

    def _texts(
        self, entity: EntitySchema, owner: TableSchema | Index, key: KeyTemplates
    ) -> list[Any]:
        """One text for each side, or one for each attribute of a side that has several."""
        sort = key.sort or (parse_template(entity.name) if owner.sort else None)
        return [
            tuple(self._text(entity, piece) for piece in side.pieces)
            if side.apart
            else self._text(entity, side)
            for side in (key.partition, sort)
            if side is not None
        ]

    def _stored(self, entity: EntitySchema, attribute: str) -> str:
        """The attribute of a field; one that holds a composed key is not its own."""
        for owner, key in keys(self.schema.by_table[entity.table], entity):
            for name, _, template in owner.templates(key):
                if name == attribute and not template.is_bare_field:
                    return f"{attribute}_"
        return attribute

    def _text(self, entity: EntitySchema, template: Template) -> str:
        out: list[str] = []
        for part in template.parts:
            if isinstance(part, Literal):
                out.append(part.text.replace("{", "").replace("}", ""))
                continue
            kind = self.kinds.get((entity.name, part.field), str)
            form = {datetime: ":iso", int: "" if template.is_bare_field else f":{NUMBER}"}.get(
                kind, ""
            )
            out += [DELIMITER] if out and out[-1].endswith("}") else []
            out.append(f"{{{python_name(part.field)}{form}}}")
        return "".join(out)

    # Structures

    def _counter(self, entity: EntitySchema, name: str) -> Counter | None:
        for each in self.follows:
            if each.fact == "amount" and (each.target, each.writes[0]) == (entity.name, name):
                return Counter(
                    each.source,
                    where=_recorded if self.decides(each, each.source) else None,
                    sums=python_name(each.sums) if each.sums else "",
                    via=_via(each),
                    sync=each.sync,  # type: ignore[arg-type]
                    creates=each.creates,
                    stamps=python_name(each.stamps) if each.stamps else "",
                    shards=each.shards,
                )
        return None

    def _maintainers(self, each: Follows) -> Iterator[Any]:
        source, target = (self.design.entities.get(name) for name in (each.source, each.target))
        if source is None or target is None:
            return
        sync: Any = each.sync
        if each.fact == "need":
            related = self._related(target, source, each, _via(each))
            yield OrphanMaintainer(related, each.name, sync)
        elif each.deletes:
            related = self._related(source, target, each, _via(each))
            yield CascadeMaintainer(related, each.name, sync, NOWHERE)
        elif each.fact == "job" and each.found is not None:
            for shown, copy in zip(each.fields, each.writes, strict=False):
                related = self._related(source, target, each, _via(each))
                origin = OriginMaintainer(related, python_name(shown), python_name(copy), NOWHERE)
                yield origin
                if any(e.fact == "shown" and e.writes == (copy,) for e in self.follows):
                    yield CopyMaintainer(origin)
        elif each.fact == "best":
            declared = Extreme(
                each.source,
                by=python_name(each.by),
                shows={python_name(ours): python_name(theirs) for ours, theirs in each.shows},
                moves=python_name(each.writes[-1]),
                smallest=each.smallest,
                through=_through(source, each),
                via=_via(each),
                sync=sync,
            )
            declared.name = each.name
            yield ExtremeMaintainer(declared, target)

    def _related(self, parent: Any, child: Any, each: Follows, via: dict[str, str]) -> Related:
        through = _through(child, each)
        return Related(parent, child, through, via, owner=each.name)

    def _feed(self, feed: FeedSchema) -> Feed[Any]:
        entities = self.design.entities
        item = self.schema.by_entity[feed.item]
        assert item.key is not None, "checked by the feed"
        reader = python_name(item.key.partition.fields[0])
        edges = {}
        for name in feed.edges or (feed.edge,):
            edge = entities[name]
            spec = edge.__spec__
            listed = (
                one
                for one in (*spec.placements.values(), spec.key)
                if one.templates.partition.fields[:1] != (reader,)
            )
            found = next(listed, None)
            mirror = next((c.target for c in self.copies.values() if c.source == name), None)
            if mirror is not None and (found is None or found is spec.key):
                edge.followers = OpenKey(entities[mirror], entities[mirror].__spec__.key)  # type: ignore[attr-defined]
                edges[edge] = "followers"
            elif found is not None:
                edges[edge] = found.name
        push = Flag(entities[feed.flag], ENABLED, SINCE) if feed.flag else None
        return Feed(
            feed.name, activity=entities[feed.post], edge=edges, item=entities[feed.item], push=push
        )


def _recorded(_: Any) -> Recorded:
    return Recorded(presence(Path((FLAG,)), there=True))


def _through(child: Any, each: Follows) -> str:
    placed, index = child.__spec__.placements.values(), python_name(each.found or "")
    return next((one.name for one in placed if one.index == index), "key")


def _via(each: Follows) -> dict[str, str]:
    return {python_name(theirs): python_name(ours) for theirs, ours in each.via}


def _field(entity: EntitySchema, attribute: str) -> str:
    return next((a.field for a in entity.attributes if a.name == attribute), attribute)
