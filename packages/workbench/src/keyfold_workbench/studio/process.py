"""The studio of one design, served until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import uvicorn

from keyfold.design.schema import Schema
from keyfold.design.target import FILES, load_schema
from keyfold.errors import KeyfoldError
from keyfold.migrations.plan_file import find
from keyfold.review.draft.declarations import declarations_of, running_design
from keyfold.runtime import Design
from keyfold_engine.addresses import is_loopback, open_port
from keyfold_engine.clients import Client, ClientOptions, connect
from keyfold_engine.clients.address import Embedded, parse
from keyfold_engine.clients.retry import RetryPolicy
from keyfold_web.connections import BoundedConnection
from keyfold_workbench.adopt.document.design import design_of
from keyfold_workbench.adopt.inspection import observe
from keyfold_workbench.adopt.sources.detection import DOCUMENTS
from keyfold_workbench.adopt.sources.text_files import read_text
from keyfold_workbench.cost import known_workload
from keyfold_workbench.studio.app import create_studio
from keyfold_workbench.studio.gate import Gate
from keyfold_workbench.studio.system import StudioSystem

PROMPT: Final = ClientOptions(
    retries=RetryPolicy(attempts=4, deadline=8.0), connect_seconds=2.0, answer_seconds=8.0
)
"""A person waits for the page, so an unreachable backend is reported soon."""
PATIENCE: Final = 2.0
"""Seconds that a page waits for a server before a notice is shown."""
SAMPLE: Final = 1000
TABLES: Final = 20
"""Tables that are drafted where none is named."""
PLANS: Final = Path("migrations")
DRAFTED: Final = (
    "This design was drafted from the data. To change items, save it with keyfold inspect, and "
    "start the studio with the file."
)


@dataclass(frozen=True)
class StudioOptions:
    """The options of `keyfold studio`."""

    target: str
    backend: str
    tables: Sequence[str] = ()
    workload: Path | None = None
    migrations: Sequence[str] = ()
    write: bool = False
    read_only: bool = False
    host: str = "127.0.0.1"
    port: int = 8090
    password_file: Path | None = None
    table_prefix: str = ""
    table_names: Mapping[str, str] = field(default_factory=dict)


def run_studio(
    options: StudioOptions,
    say: Callable[[str], None],
    show: Callable[[str], object] | None = None,
) -> None:
    """Serve the studio until Ctrl-C; `show` opens its address in a browser."""
    gate = Gate(password=_password(options))
    with open_port(options.host, options.port) as listener:
        listener.listen()  # before the address is printed: a browser may be as quick
        client = connect(options.backend, PROMPT)
        try:
            local = isinstance(parse(options.backend), Embedded)
            app = create_studio(
                open_systems(options, client), gate, patience=None if local else PATIENCE
            )
            where = f"http://{options.host}:{listener.getsockname()[1]}/"
            opened = where if gate.password else f"{where}?token={gate.token}"
            say(f"Studio: {opened} (Ctrl-C stops)")
            if show is not None:
                show(opened)
            settings = uvicorn.Config(
                app, log_level="warning", http=BoundedConnection, timeout_graceful_shutdown=3
            )
            uvicorn.Server(settings).run(sockets=[listener])
        finally:
            client.close()


def _password(options: StudioOptions) -> str:
    if options.password_file is None:
        if not is_loopback(options.host):
            raise KeyfoldError(
                f"--host {options.host} is reachable from other machines: set --password-file FILE."
            )
        return ""
    try:
        password = options.password_file.read_text(encoding="utf-8").strip()
    except OSError as problem:
        raise KeyfoldError(f"--password-file {options.password_file}: {problem.strerror}") from None
    if len(password) < 12:
        raise KeyfoldError(f"--password-file {options.password_file}: give 12 characters or more.")
    return password


def open_systems(options: StudioOptions, client: Client) -> list[StudioSystem]:
    """The design of the options as a system; without one, each table drafted."""
    if not options.target:
        return [_of_file(options, client, one, DRAFTED) for one in _drafts(options, client)]
    if options.target.endswith(DOCUMENTS):
        path = Path(options.target)
        system = _of_file(options, client, design_of(read_text(path), path.name).schema)
        return [replace(system, document=path)]
    if not options.target.endswith(FILES):
        schema, design = load_schema(options.target), running_design(options.target)
        return [_system(options, client, schema, design)]
    return [_of_file(options, client, load_schema(options.target))]


def _of_file(
    options: StudioOptions, client: Client, schema: Schema, why_read_only: str = ""
) -> StudioSystem:
    """A design file runs as the Python that `keyfold new` would write; if it cannot, why not."""
    try:
        design = declarations_of(schema, options.target or schema.name)
    except KeyfoldError as problem:
        return _system(options, client, schema, why_read_only=str(problem))
    assert isinstance(design, Design), "what is written declares with keyfold.Design"
    return _system(options, client, design.schema, design, file=schema, why_read_only=why_read_only)


def _drafts(options: StudioOptions, client: Client) -> list[Schema]:
    names = list(options.tables)
    if not names:
        names = client.call("ListTables", {"Limit": TABLES})["TableNames"]
    found = [observe(client, name, sample=SAMPLE) for name in names]
    if not found:
        raise KeyfoldError(f"{options.backend} has no tables, so there is nothing to draft.")
    return found


def _system(
    options: StudioOptions,
    client: Client,
    schema: Schema,
    design: Design | None = None,
    *,
    file: Schema | None = None,
    why_read_only: str = "",
) -> StudioSystem:
    address = parse(options.backend)
    local = isinstance(address, Embedded)
    place = Path(address.path).name if isinstance(address, Embedded) else address.endpoint.url
    opened = str(Path(address.path).resolve()) if isinstance(address, Embedded) else options.backend
    return StudioSystem(
        slug=_slug(schema.name),
        title=schema.name,
        schema=schema,
        client=client,
        place=place,
        writable=(local or options.write) and not options.read_only and not why_read_only,
        address=opened,
        design=design,
        description=schema.description,
        workload=known_workload(options.target, file or schema, options.workload),
        migrations=[find(one, PLANS) for one in options.migrations],
        table_prefix=options.table_prefix,
        table_names=options.table_names,
        file=file,
        why_read_only=why_read_only,
    )


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name) or "design"
