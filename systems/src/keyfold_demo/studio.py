"""The systems of the demo, as the studio shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from keyfold.design.file import load as load_schema
from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold_demo.systems import FormerSystem, System
from keyfold_engine.clients.protocol import Client
from keyfold_web.page import PATH as PAGE_PATH
from keyfold_web.page import page_folder
from keyfold_web.service import Service
from keyfold_workbench.cost import Workload
from keyfold_workbench.cost import load as load_workload
from keyfold_workbench.studio import StudioSystem

LOOKED_AT = 20
"""Items of each entity among which example values are looked for."""


def studio_system(
    system: System, service: Service, client: Client, data: Path, address: str
) -> StudioSystem:
    """A system with its document, its workload and its pages."""
    schema = system.design.schema
    written = system.folder / "as_written.yaml"
    _, _, description = system.title.partition(": ")
    return StudioSystem(
        slug=system.name,
        title=system.short_title,
        schema=schema,
        client=client,
        place=data.name,
        writable=True,
        address=address,
        design=system.design,
        description=description,
        workload=_workload(system.folder / "workload.yaml", schema),
        as_written=load_schema(written) if written.exists() else None,
        page=f"/{service.name}{PAGE_PATH}" if page_folder(type(service)) else None,
    )


def former_system(
    system: System, former: FormerSystem, client: Client, data: Path, address: str
) -> StudioSystem:
    """A former system, with the migrations to the current one."""
    return StudioSystem(
        slug=former.name,
        title=f"{system.short_title} before",
        schema=former.design.schema,
        client=client,
        place=data.name,
        writable=True,
        address=address,
        design=former.design,
        description="the tables of before, and the migration to try on them",
        workload=_workload(system.folder / "workload.yaml", former.design.schema),
        migrations=former.migrations,
        table_prefix=former.prefix,
    )


def _workload(path: Path, schema: Schema) -> Workload | None:
    """The system's workload; that of an earlier design does not apply."""
    try:
        return load_workload(path, schema)
    except KeyfoldError:
        return None


def example_values(system: StudioSystem, fields: Sequence[str], user: str) -> dict[str, str]:
    """Values of fields that one item has together, an item of the user if there is one."""
    found: list[Mapping[str, object]] = [{"user_id": user}] if user else []
    for seen in system.survey.tables(1.0).values():
        found += [one.values for items in seen.examples.values() for one in items[:LOOKED_AT]]

    def texts_of(values: Mapping[str, object]) -> dict[str, str]:
        return {
            name: value for name in fields if isinstance(value := values.get(name), str) and value
        }

    found.sort(key=lambda values: (-len(texts_of(values)), user not in values.values()))
    made: dict[str, str] = {}
    for values in found:
        made = texts_of(values) | made
        if len(made) == len(fields):
            break
    return made
