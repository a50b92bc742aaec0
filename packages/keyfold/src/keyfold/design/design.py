"""`Declarations`: everything a design declares, for all other packages to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from keyfold.design import codes, schema
from keyfold.design.declaration import current_place, declared_at, declaring, refuse
from keyfold.design.pattern import Pattern
from keyfold.design.processor import KINDS, ChangeKind, Processor
from keyfold.design.read import Read
from keyfold.design.redeclaration import forget, is_interactive
from keyfold.design.source import caller
from keyfold.design.table import Table, check_table

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class EntitiesByName(dict[str, "type[Entity]"]):
    """The entities of a design; an unknown name raises a clear error."""

    def __init__(self, design: str) -> None:
        super().__init__()
        self._design = design

    def __missing__(self, name: str) -> type[Entity]:
        refuse(
            codes.UNKNOWN_REFERENCE,
            f"the design {self._design} has no entity {name!r}.",
            f"Declared: {', '.join(self) or 'none'}.",
        )


class Declarations:
    """A set of tables, entities and access patterns that belong together."""

    def __init__(self, name: str, *, description: str = "") -> None:
        self.name = name
        self.description = description
        self.tables: dict[str, Table] = {}
        self.entities = EntitiesByName(name)
        self.patterns: dict[str, Pattern[Any, Any]] = {}
        self.maintainers: list[Any] = []
        """Objects that keep secondary structures right, in order of declaration."""
        self.worked_out: dict[Any, Any] = {}
        """What follows from the declarations; emptied when a structure comes or goes."""
        self.processors: list[Processor] = []
        """User-written stream processors."""
        self.resolvers: list[Callable[[], object]] = []

    @declaring(
        "a table", 'Write design.table("Shop", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")]).'
    )
    def table(
        self,
        name: str,
        *,
        partition: str = "PK",
        sort: str | None = "SK",
        partition_type: schema.KeyType = "S",
        sort_type: schema.KeyType = "S",
        indexes: Iterable[schema.Index] = (),
        ttl: str | None = None,
        stream: Literal["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"] | None = None,
        type_attribute: str | None = "type",
        naming: Literal["camel", "snake"] = "camel",
        name_variable: str = "",
        description: str = "",
        silence: tuple[tuple[str, str], ...] = (),
    ) -> Table:
        """Declare a table. Attributes are stored in camelCase unless `naming="snake"`."""
        place = caller()
        if name in self.tables and not is_interactive():
            refuse(codes.NAME_TAKEN, f"the design {self.name} declares the table {name} twice.")
        if naming not in ("camel", "snake"):
            refuse(
                codes.TABLE_REFUSED,
                f"the table {name} has the naming {naming!r}.",
                'Use "camel" or "snake".',
            )
        declared = schema.TableSchema(
            name=name,
            partition=partition,
            sort=sort,
            partition_type=partition_type,
            sort_type=sort_type,
            indexes=(indexes,) if isinstance(indexes, schema.Index) else tuple(indexes),
            ttl=ttl,
            stream=stream,
            type_attribute=type_attribute,
            name_variable=name_variable,
            description=description,
            place=place,
            silences=tuple(schema.Silence(code, reason) for code, reason in silence),
        )
        check_table(declared)
        again = self.tables.get(name)
        if again is not None:
            again.schema, again.camel = declared, naming == "camel"
            return again
        self.tables[name] = Table(self, declared, camel=naming == "camel")
        return self.tables[name]

    @declaring("an access pattern", "Write @design.pattern(requests=1) above its function.")
    def pattern(
        self,
        *,
        name: str = "",
        requests: int | None = None,
        silence: tuple[tuple[str, str], ...] = (),
    ) -> Callable[[Callable[P, Read[T]]], Pattern[P, T]]:
        """Declare an access pattern; `requests` is its budget, enforced at run time."""

        def declare(function: Callable[P, Read[T]]) -> Pattern[P, T]:
            pattern = Pattern(function, name=name, requests=requests, silence=silence)
            if pattern.name in self.patterns and not is_interactive():
                refuse(
                    codes.NAME_TAKEN,
                    f"the design {self.name} declares the access pattern {pattern.name} twice.",
                )
            self.patterns[pattern.name] = pattern
            return pattern

        return declare

    def on(
        self,
        entity: type[Entity],
        *kinds: ChangeKind,
        name: str = "",
        seconds: float | None = None,
    ) -> Callable[[F], F]:
        """Run a function for changes of an entity's items, once per change.

        It receives the item before, the item after and the delivery. The writes it returns and the
        events it emits take effect together or not at all.
        """

        if not hasattr(entity, "__spec__"):
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"a processor follows {entity!r}, which is not an entity with a table.",
                'Write @design.on(Order, "insert") above the function.',
            )

        def declare(function: F) -> F:
            wanted = frozenset(kinds or KINDS)
            place = caller()
            processor = Processor(
                name or function.__name__, entity, wanted, function, seconds, place
            )
            if any(processor.name == other.name for other in self.processors):
                refuse(
                    codes.NAME_TAKEN,
                    f"the design {self.name} declares the processor {processor.name} twice.",
                )
            self.processors.append(processor)
            return function

        return declare

    def register(self, entity: type[Entity]) -> None:
        """Called by an entity's class statement."""
        spec = entity.__spec__
        known = self.entities.get(entity.__name__)
        if known is not None and known.__module__ == entity.__module__ and is_interactive():
            forget(self, known)
        elif known is not None:
            refuse(
                codes.NAME_TAKEN,
                f"the design {self.name} declares the entity {entity.__name__} twice.",
            )
        shape = spec.key.templates
        for other in self.entities.values():
            theirs = other.__spec__.key.templates
            if other.__table__ is not entity.__table__:
                continue
            attribute = entity.__table__.schema.type_attribute
            if attribute and other.__spec__.type_name == spec.type_name:
                refuse(
                    codes.NAME_TAKEN,
                    f"{entity.__name__} and {other.__name__} both store {spec.type_name!r} in "
                    f"{attribute}, so an item does not say which of them it is.",
                    "Give each its own type_name. Items without a type are recognised "
                    "by their keys.",
                )
            if theirs.skeleton == shape.skeleton:
                refuse(
                    "K4",
                    f"{entity.__name__} and {other.__name__} have the same key shape, {shape}: "
                    "their items can overwrite each other.",
                    "Give one of them its own prefix.",
                )
        self.entities[entity.__name__] = entity
        entity.__table__.entities.append(entity)

    def maintain(self, maintainer: Any) -> None:
        """Called by declarations that maintain a structure."""
        if maintainer.sync not in ("transaction", "stream"):
            refuse(
                codes.MARKER_MISUSED,
                f"{maintainer.label} has sync={maintainer.sync!r}.",
                'Use "transaction" (with the item) or "stream" (by the consumer).',
            )
        self.maintainers.append(maintainer)
        self.worked_out.clear()

    def drop(self, maintainers: list[Any], resolvers: list[Callable[[], object]]) -> None:
        """Stop maintaining these structures."""
        self.maintainers = [one for one in self.maintainers if one not in maintainers]
        self.resolvers = [one for one in self.resolvers if one not in resolvers]
        self.worked_out.clear()

    def joining(self, entity: type[Entity]) -> list[Any]:
        """The maintainers that join the transactions of an entity."""
        if entity not in self.worked_out:
            self.worked_out[entity] = [
                m for m in self.maintainers if m.source is entity and m.sync == "transaction"
            ]
        found: list[Any] = self.worked_out[entity]
        return found

    def when_complete(self, resolver: Callable[[], object]) -> None:
        """Run the function once all entities are declared, to resolve references by name."""
        self.resolvers.append(declared_at(current_place())(resolver))

    def complete(self) -> None:
        """Resolve references between entities; unknown names raise here."""
        while self.resolvers:
            self.resolvers.pop(0)()

    @property
    def schema(self) -> schema.Schema:
        """The whole design as data."""
        self.complete()
        described = [pattern.describe() for pattern in self.patterns.values()]
        return schema.Schema(
            name=self.name,
            tables=tuple(table.schema for table in self.tables.values()),
            entities=tuple(entity.__spec__.describe() for entity in self.entities.values()),
            patterns=tuple(one for one in described if isinstance(one, schema.PatternSchema)),
            searches=tuple(one for one in described if isinstance(one, schema.SearchSchema)),
            consumers=tuple(processor.describe() for processor in self.processors),
            feeds=tuple(m.describe() for m in self.maintainers if m.kind == "feed"),
            follows=tuple(maintainer.follows for maintainer in self.maintainers),
            description=self.description,
            enforced=True,
        )

    def __repr__(self) -> str:
        return f"Design({self.name!r})"
