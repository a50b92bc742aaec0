"""SQL tables and queries as a design file: one table, keys by access pattern, open questions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from keyfold_workbench.adopt.sql.queries import SqlQuery, read_queries
from keyfold_workbench.adopt.sql.tables import SqlColumn, SqlTable, read_tables
from keyfold.design.file import loads
from keyfold_engine.limits import GLOBAL_INDEXES


def design_from_sql(
    ddl: str, queries: str = "", *, name: str = "drafted", dialect: str = "postgres"
) -> str:
    """A design file's text, with the open questions as comments above it."""
    tables = read_tables(ddl, dialect)
    draft = _Draft(tables)
    for table in tables.values():
        draft.add_entity(table)
    for query in read_queries(queries, tables, dialect):
        draft.add_query(query)
    draft.ask_about_unread()
    body = yaml.safe_dump(draft.document(name), sort_keys=False, allow_unicode=True, width=100)
    loads(body)
    comments = "".join(f"# {line}\n" for line in draft.questions)
    return f"{comments}\n{body}" if comments else body


@dataclass
class _Draft:
    tables: dict[str, SqlTable]
    entities: dict[str, dict[str, Any]] = field(default_factory=dict)
    patterns: dict[str, dict[str, Any]] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    _placed: dict[tuple[str, tuple[str, ...], str], str] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set)

    def add_entity(self, table: SqlTable) -> None:
        entity = entity_name(table.name)
        key = table.primary_key
        if not key:
            key = tuple(table.columns)[:1]
            self.questions.append(f"{table.name} has no primary key. Is {key[0]} unique?")
        if _is_join(table):
            owner, other = key
            partition = f"{_prefix(self._target(table, owner))}#<{owner}>"
            sort = f"{_prefix(self._target(table, other))}#<{other}>"
        else:
            partition = f"{_prefix(entity)}#" + "#".join(f"<{one}>" for one in key)
            sort = _prefix(entity)
        self.entities[entity] = {
            "key": {"PK": partition, "SK": sort},
            "attributes": {
                one.name: self._attribute(table, one, is_key=one.name in key)
                for one in table.columns.values()
            },
        }
        if table.uniques:
            self.entities[entity]["uniques"] = [{"fields": list(one)} for one in table.uniques]
        where = f"PK={partition}, SK={sort}"
        self.patterns[f"{entity} by {' and '.join(key)}"] = {"get": entity, "where": where}

    def add_query(self, query: SqlQuery) -> None:
        table = self.tables[query.table]
        entity = entity_name(query.table)
        self._read.add(query.table)
        for joined in query.joins:
            self.questions.append(
                f"{query.text} joins {joined}. Copy what it shows of {entity_name(joined)} into "
                f"{entity}, or put both into one partition?"
            )
        if query.others:
            columns = ", ".join(query.others)
            self.questions.append(
                f"{query.text} has a condition on {columns} that no key can serve."
            )
        by = tuple(one for one in query.equals if one in table.columns)
        if set(by) == set(table.primary_key) or not query.equals:
            if not query.equals:
                self.questions.append(f"{query.text} reads the whole table. What is it for?")
            return
        sort = query.ranged or query.order
        sort = sort if sort in table.columns else ""
        index = self._index(entity, table, by, sort)
        name = f"{entity} by {' and '.join(by)}" + (f", by {sort}" if sort else "")
        pattern: dict[str, Any] = {
            "query": entity,
            "index": index,
            "where": f"{index}PK={_partition(entity, by)}",
        }
        if query.ranged == sort != "":
            pattern["where"] += f", {index}SK >= {_prefix(entity)}#<{sort}>"
        if query.descending:
            pattern["descending"] = True
        pattern |= {"limit": query.limit} if query.limit else {"paged": True}
        if query.calls:
            pattern["description"] = f"Called {query.calls} times in the log."
        self.patterns[name] = pattern

    def ask_about_unread(self) -> None:
        if self._read:
            unread = [entity_name(name) for name in self.tables if name not in self._read]
            if unread:
                self.questions.append(f"No query reads {', '.join(unread)}. What does?")
        else:
            self.questions.append(
                "Which queries does the application run? None of those given reads these tables."
            )

    def document(self, name: str) -> dict[str, Any]:
        used = sorted(set(self._placed.values()))
        indexes = {one: {"key": [f"{one}PK", f"{one}SK"]} for one in used}
        table: dict[str, Any] = {"key": ["PK", "SK"]}
        if indexes:
            table["indexes"] = indexes
        return {
            "design": name,
            "tables": {"main": table},
            "entities": self.entities,
            "patterns": self.patterns,
        }

    def _index(self, entity: str, table: SqlTable, by: tuple[str, ...], sort: str) -> str:
        """The first index without a placement of the entity."""
        placed = self._placed.get((entity, by, sort))
        if placed is not None:
            return placed
        number = 1 + sum(1 for one, _, _ in self._placed if one == entity)
        if number > GLOBAL_INDEXES:
            self.questions.append(f"{entity} needs more indexes than a table can have.")
        index = self._placed[entity, by, sort] = f"GSI{number}"
        parts = dict.fromkeys(one for one in (sort, *table.primary_key) if one)
        rest = "#".join(f"<{one}>" for one in parts)
        place: dict[str, Any] = {
            f"{index}PK": _partition(entity, by),
            f"{index}SK": f"{_prefix(entity)}#{rest}",
        }
        optional = [one for one in (*by, sort) if one and not table.columns[one].required]
        if optional:
            place["when"] = " AND ".join(f"attribute_exists({one})" for one in optional)
        self.entities[entity].setdefault("indexes", {})[index] = place
        return index

    def _attribute(self, table: SqlTable, column: SqlColumn, *, is_key: bool) -> str:
        words = [] if column.required or is_key else ["optional"]
        if column.type == "timestamp" and column.name.startswith("created"):
            words.append("fixed")
        # In a text key an id is text, whatever its SQL type; a time needs a fixed precision.
        stored = {"timestamp": "timestamp iso_ms"}.get(column.type, column.type)
        words.append("id" if is_key and column.type in ("string", "number") else stored)
        if column.name in table.references:
            words[-1] = "id"
            words.append(f"-> {self._target(table, column.name)}")
        if column.values:
            words.append(f"one of {', '.join(column.values)}")
        return " ".join(words)

    def _target(self, table: SqlTable, column: str) -> str:
        return entity_name(table.references[column])


def entity_name(table: str) -> str:
    """`order_lines` as `OrderLine`."""
    words = [word for word in re.split(r"[^A-Za-z0-9]+", table) if word]
    last = words[-1]
    if last.endswith("ies"):
        last = f"{last[:-3]}y"
    elif last.endswith(("sses", "xes", "ches", "shes")):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith("ss"):
        last = last[:-1]
    return "".join(word[:1].upper() + word[1:] for word in [*words[:-1], last])


def _prefix(entity: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", entity).upper()


def _partition(entity: str, by: tuple[str, ...]) -> str:
    return f"{_prefix(entity)}#" + "#".join(f"{one.upper()}#<{one}>" for one in by)


def _is_join(table: SqlTable) -> bool:
    return len(table.primary_key) == 2 and all(one in table.references for one in table.primary_key)
