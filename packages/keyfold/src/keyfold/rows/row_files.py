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
                self._entity(row)
            except (ValidationError, KeyfoldError, ValueError) as problem:
                found.append(f"{self.path}:{place}: {_reason(problem)}")
                if len(found) == MOST_TOLD:
                    break
        return found

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
                    row = json.loads(line, parse_float=str)
                except json.JSONDecodeError as error:
                    raise KeyfoldError(
                        f"{self.path}:{place}: this is not JSON: {error.msg}"
                    ) from None
                if not isinstance(row, dict):
                    raise KeyfoldError(f"{self.path}:{place}: expected an object of fields")
                yield place, row

    def _table(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self.path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines, delimiter="\t" if self.path.suffix == ".tsv" else ",")
            try:
                for row in rows:
                    if None in row:
                        raise KeyfoldError(
                            f"{self.path}:{rows.line_num}: the row has more values than the "
                            "header has columns"
                        )
                    yield rows.line_num, row
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
            return json.loads(text)
        if kind.endswith("_set") or kind == "list":
            return [part.strip() for part in text.split(";") if part.strip()]
    return value


def _reason(problem: Exception) -> str:
    if isinstance(problem, ValidationError):
        found = problem.errors(include_url=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in found)
    return str(problem)
