"""Reads CSV and JSON lines as entities of a design, with a mapping from columns to fields."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.errors import KeyfoldError
from keyfold.settings import nearest
from keyfold_engine.limits import ITEM_BYTES
from keyfold_engine.values.wire import check_item

MOST_TOLD = 20
_EMPTY = ("", None)


@dataclass
class RowReader:
    """Reads the rows of one file as items of one entity."""

    entity: type[Entity]
    path: Path
    mapping: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        spec = self.entity.__spec__
        names = [name for name in self.mapping.values() if name]
        for name in names:
            if names.count(name) > 1:
                raise KeyfoldError(f"--map gives the field {name} two columns; give it one")
        for column, name in self.mapping.items():
            if name and name not in spec.fields:
                known = nearest(name, spec.fields)
                raise KeyfoldError(
                    f"--map {column}={name}: {spec.name} has no field {name}; {known}"
                )

    def problems(self) -> list[str]:
        """The first errors in the rows. Nothing is written if there are any."""
        found: list[str] = []
        for place, row in self._rows():
            try:
                self._check(self._entity(row))
            except (ValidationError, KeyfoldError, ValueError) as problem:
                found.append(f"{self.path}:{place}: {_reason(problem)}")
                if len(found) == MOST_TOLD:
                    break
        return found

    def _check(self, entity: Entity) -> None:
        """Refuse what the backend would refuse, when other rows are written already."""
        size = check_item(entity.__spec__.encode(entity)).size
        if size > ITEM_BYTES:
            raise KeyfoldError(f"the item has {size:,} bytes; DynamoDB takes {ITEM_BYTES:,}")

    def entities(self) -> Iterator[Entity]:
        for _, row in self._rows():
            yield self._entity(row)

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        try:
            if self.path.suffix in (".jsonl", ".ndjson", ".json"):
                yield from self._lines()
            else:
                yield from self._table()
        except UnicodeDecodeError:
            raise KeyfoldError(f"{self.path}: the file is not UTF-8 text") from None
        except OSError as error:
            raise KeyfoldError(f"{self.path}: the file cannot be read: {error.strerror}") from None

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self.path.open(encoding="utf-8-sig") as lines:
            for place, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    row = _parsed(line, parse_float=str)
                except json.JSONDecodeError as error:
                    raise KeyfoldError(
                        f"{self.path}:{place}: this is not JSON: {error.msg}"
                    ) from None
                except ValueError as error:
                    raise KeyfoldError(f"{self.path}:{place}: {error}") from None
                if not isinstance(row, dict):
                    raise KeyfoldError(f"{self.path}:{place}: expected an object of fields")
                yield place, row

    def _table(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self.path.open(encoding="utf-8-sig", newline="") as lines:
            delimiter = "\t" if self.path.suffix == ".tsv" else ","
            rows = csv.reader(lines, delimiter=delimiter, strict=True)
            try:
                header = next(rows, [])
                for column in header:
                    if header.count(column) > 1:
                        raise KeyfoldError(f"{self.path}: two columns are called {column!r}")
                for row in rows:
                    if row and len(row) != len(header):
                        amount = "more" if len(row) > len(header) else "fewer"
                        raise KeyfoldError(
                            f"{self.path}:{rows.line_num}: the row has {amount} values than the "
                            "header has columns"
                        )
                    if row:
                        yield rows.line_num, dict(zip(header, row, strict=True))
            except csv.Error as error:
                raise KeyfoldError(
                    f"{self.path}:{rows.line_num}: this is not CSV: {error}"
                ) from None

    def _entity(self, row: Mapping[str, Any]) -> Entity:
        return self.entity(**self._values(row))

    def _values(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row's columns as fields: by mapping, field name or attribute name."""
        spec = self.entity.__spec__
        by_attribute = {f.attribute: name for name, f in spec.fields.items() if f.reader is None}
        values: dict[str, Any] = {}
        for column, value in row.items():
            name = self.mapping.get(column, column)
            if not name:
                continue
            name = name if name in spec.fields else by_attribute.get(name, name)
            if name not in spec.fields:
                raise KeyfoldError(
                    f"{spec.name} has no field {column}: add --map {column}=FIELD, or "
                    f"--map {column}= to leave it out; {nearest(column, spec.fields)}"
                )
            if name in values:
                raise KeyfoldError(f"two columns give {name}; one of them is {column}")
            given = _value(spec, name, value)
            if given is not None:
                values[name] = given
        return values


def _value(spec: EntitySpec, name: str, value: Any) -> Any:
    """A CSV text converted for its field; None if empty."""
    kind = spec.fields[name].kind
    if value in _EMPTY and kind.endswith("_set"):
        return []
    if value in _EMPTY and (kind != "string" or spec.fields[name].optional):
        return None
    if isinstance(value, str) and (
        kind.endswith("_set") or kind in ("list", "map", "model", "any")
    ):
        text = value.strip()
        if text[:1] in ("[", "{"):
            return _parsed(text)
        if kind.endswith("_set") or kind == "list":
            return [part.strip() for part in text.split(";") if part.strip()]
    return value


def _parsed(text: str, **options: Any) -> Any:
    """JSON, without what its parser passes over or fails on."""
    try:
        return json.loads(text, object_pairs_hook=_object, **options)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the JSON has {twice!r} twice in one object")
    return found


def _reason(problem: Exception) -> str:
    if isinstance(problem, ValidationError):
        found = problem.errors(include_url=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in found)
    return str(problem)
