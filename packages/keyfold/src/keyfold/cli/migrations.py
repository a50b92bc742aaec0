"""`keyfold migrations`: change a running system without downtime."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any

from keyfold import settings
from keyfold.cli._migration_flags import configure
from keyfold.cli._output import print_json
from keyfold.cli._progress import reporter
from keyfold.cli._target import design_target, existing, existing_or_empty, reachable

if TYPE_CHECKING:
    from keyfold.design.schema import Schema
    from keyfold.migrations import Backend, Migration, MigrationStatus, Migrator

HELP = "Plan a change of tables and items, apply it under traffic, or roll it back."
EXAMPLES = (
    "keyfold migrations snapshot app.design:design",
    "keyfold migrations diff app.design:design --backend app.db",
    "keyfold migrations plan orders-by-season --backend app.db",
    "keyfold migrations apply orders-by-season --dry-run --backend app.db",
    "keyfold migrations status --backend app.db --format json",
    "keyfold migrations show orders-by-season",
    "keyfold migrations rollback orders-by-season --backend app.db",
    "keyfold migrations check app.design:design --backend app.db",
)
SNAPSHOT = "schema.json"
PATIENCE_SECONDS = 2.0
__all__ = ["HELP", "configure", "run"]


def run(args: argparse.Namespace) -> int:
    actions = {
        "snapshot": _snapshot,
        "diff": _diff,
        "plan": _plan,
        "apply": _apply,
        "status": _status,
        "show": _show_plan,
        "rollback": _rollback,
        "check": _check,
    }
    return actions[args.action](args)


def _snapshot(args: argparse.Namespace) -> int:
    from keyfold.migrations.snapshot import save

    path = args.folder / SNAPSHOT
    changed = save(_schema(args), path)
    print(f"{path} {'written' if changed else 'is up to date'}")
    return 0


def _diff(args: argparse.Namespace) -> int:
    if args.format == "json":
        print_json(dict(_differences(args)))
        return 0
    for title, changes in _differences(args):
        print(f"{title}: {'nothing' if not changes else ''}".rstrip())
        for change in changes:
            print(f"  {change}")
    return 0


def _check(args: argparse.Namespace) -> int:
    found = [(title, changes) for title, changes in _differences(args) if changes]
    if args.format == "json":
        print_json({"agree": not found, "differences": dict(found)})
        return 1 if found else 0
    for title, changes in found:
        print(f"{title}:")
        for change in changes:
            print(f"  {change}")
    if not found:
        print("design, snapshot and live tables agree")
    return 1 if found else 0


def _differences(args: argparse.Namespace) -> list[tuple[str, list[str]]]:
    from keyfold.migrations.diff import diff, diff_tables
    from keyfold.migrations.snapshot import read

    schema = _schema(args)
    kept = read(args.folder / SNAPSHOT)
    since = ["the snapshot is missing"]
    if kept is not None:
        since = [str(change) for change in diff(kept, schema)]
    live = _live(_backend(args, existing_or_empty, schema), schema)
    return [
        ("Since the snapshot", since),
        ("On the backend", [str(change) for change in diff_tables(live, schema)]),
    ]


def _plan(args: argparse.Namespace) -> int:
    from keyfold.design.schema import Schema as EmptySchema
    from keyfold.errors import MigrationError
    from keyfold.migrations.diff import diff
    from keyfold.migrations.plan import draft
    from keyfold.migrations.plan_file import PLANS
    from keyfold.migrations.schema_change import name_of
    from keyfold.migrations.snapshot import read, save

    schema = _schema(args)
    found = read(args.folder / SNAPSHOT)
    missing, kept = found is None, found or EmptySchema(schema.name)
    changes = diff(kept, schema)
    if not changes:
        raise MigrationError(
            "nothing changed since the snapshot, so a plan would be empty. To recreate the last "
            f"plan, restore {args.folder / SNAPSHOT} to its previous version and delete the plan"
        )
    backend = _backend(args, existing_or_empty, schema)
    live = _live(backend, schema)
    if missing and live.tables:
        raise MigrationError(
            f"{args.folder} has no snapshot, and the backend has "
            f"{', '.join(table.name for table in live.tables)} already. First save the design of "
            "those tables with keyfold migrations snapshot; then change it and plan"
        )
    target = settings.from_arguments(args).design
    number = len(list(args.folder.glob(PLANS))) + 1
    called = args.name or name_of(changes)
    name = f"{number:04d}_{called.replace('-', '_')}"
    made = draft(
        name,
        kept,
        schema,
        design=target,
        defaults=_defaults(target),
    )
    path = made.save(args.folder)
    save(schema, args.folder / SNAPSHOT)
    print(f"{path} written: {len(changes)} changes")
    for question in made.open_questions:
        print(f"  decide {question}")
    for words in made.duplicates:
        print(f"  note: {words}")
    return 0


def _apply(args: argparse.Namespace) -> int:
    from keyfold.errors import MigrationError
    from keyfold.migrations.migration import PHASES

    if args.to not in PHASES[1:]:
        raise MigrationError(f"{args.to!r} is not a phase; {settings.nearest(args.to, PHASES[1:])}")
    for plan in [args.plan] if args.plan else _plans(args):
        args.plan = plan
        if args.dry_run:
            _print_estimate(args)
            continue
        migrator = _migrator(args, reachable)
        _refuse_duplicates(args, migrator)
        wait = (lambda: True) if args.follow else None
        state = migrator.apply(args.to, repair=not args.no_repair, wait=wait)
        print(f"{migrator.migration.name}: {state.phase} is complete")
        if state.phase not in (args.to, "contract"):
            break  # The next plan starts from the result of this one.
    if args.follow and not args.dry_run:
        print("copying; Ctrl-C stops", flush=True)
        migrator.follow(lambda: False)
    return 0


def _refuse_duplicates(args: argparse.Namespace, migrator: Migrator) -> None:
    """Other programs would see items twice from the backfill on: somebody has to know."""
    from keyfold.errors import MigrationError

    if migrator.migration.duplicates and migrator.copies and not args.allow_duplicates:
        raise MigrationError(
            f"{migrator.migration.name}: {'. '.join(migrator.migration.duplicates)}. If no other "
            "program reads the table, or all of them filter, apply with --allow-duplicates"
        )


def _print_estimate(args: argparse.Namespace) -> None:
    """Print a plan's effects; creates nothing, not even the state table."""
    from keyfold.migrations.estimate import estimate

    migrator = _migrator(args, existing_or_empty)
    print(f"{migrator.migration.name}:")
    for words in (*migrator.migration.words(), *migrator.migration.duplicates):
        print(f"  {words}")
    for phase in estimate(migrator.migration, migrator.backend):
        print(f"  {phase.words(args.rate)}")


def _plans(args: argparse.Namespace) -> list[str]:
    """The plans of the directory, in order."""
    from keyfold.errors import MigrationError
    from keyfold.migrations.plan_file import PLANS

    found = sorted(path.stem for path in args.folder.glob(PLANS))
    if not found:
        raise MigrationError(
            f"{args.folder} has no plans; create one with keyfold migrations plan NAME"
        )
    return found


def _show_plan(args: argparse.Namespace) -> int:
    migration = _migration(args)
    print(f"{migration.name}{': ' if migration.description else ''}{migration.description}")
    for words in (*migration.words(), *migration.duplicates):
        print(f"  {words}")
    return 0


def _status(args: argparse.Namespace) -> int:
    found = []
    for plan in [args.plan] if args.plan else _plans(args):
        args.plan = plan
        found.append(_read_status(args))
    if args.format == "json":
        print_json([_status_data(status) for status in found])
    else:
        for status in found:
            _show_status(status)
    return 1 if any(status.problems for status in found) else 0


def _status_data(status: MigrationStatus) -> dict[str, Any]:
    return {
        "plan": status.name,
        "phase": status.state.phase,
        "writes": status.state.writes,
        "lag_seconds": status.lag,
        "history": [str(change) for change in status.history],
        "segments": dict(status.segments),
        "applications": status.routers,
        "problems": [str(problem) for problem in status.problems],
    }


def _show_status(status: MigrationStatus) -> None:
    print(f"{status.name}: {status.state.phase}")
    print(f"  writes go to the {status.state.writes} side")
    if status.lag is not None:
        print(f"  copying is {status.lag:.1f} s behind")
    for part, progress in status.segments.items():
        done = "finished" if progress["finished"] else "under way"
        print(f"  {part.partition(':')[2]}: {progress['done']:,} items, {done}")
    print(f"  {status.routers} applications follow")
    for change in status.history:
        print(f"  {change}")
    for problem in status.problems:
        print(f"  problem: {problem}")


def _read_status(args: argparse.Namespace) -> MigrationStatus:
    """The state, or an error soon: a person waits, whatever the server does."""
    from keyfold.errors import KeyfoldError

    backend = settings.from_arguments(args).backend
    if "://" not in backend:
        return _migrator(args, existing_or_empty).status()
    read: Future[MigrationStatus] = Future()

    def ask() -> None:
        try:
            read.set_result(_migrator(args, existing_or_empty, promptly=True).status())
        except BaseException as problem:
            read.set_exception(problem)

    Thread(target=ask, daemon=True).start()
    try:
        return read.result(PATIENCE_SECONDS)
    except FutureTimeout:
        if read.done():
            raise
        raise KeyfoldError(
            f"the backend {backend} has not answered for {PATIENCE_SECONDS:g} seconds"
        ) from None


def _rollback(args: argparse.Namespace) -> int:
    migrator = _migrator(args, existing)
    state = migrator.rollback(args.to, keep=args.keep)
    where = "where it began" if state.phase == "planned" else f"at {state.phase}"
    print(f"{migrator.migration.name}: back {where}")
    if state.phase != "planned":
        print(
            "Both sides are written. Deploy the previous version of the application while `apply "
            "--to verify --follow` copies what it writes, then roll back the rest"
        )
    return 0


def _schema(args: argparse.Namespace) -> Schema:
    from keyfold.design.target import load_schema

    return load_schema(design_target(args))


def _defaults(target: str) -> set[tuple[str, str]]:
    """The optional fields by entity; a design file does not declare them."""
    from keyfold.design.target import load_design

    if ":" not in target:
        return set()
    return {
        (entity.__name__, field.name)
        for entity in load_design(target).entities.values()
        for field in entity.__spec__.fields.values()
        if not field.required
    }


def _backend(
    args: argparse.Namespace,
    address: Callable[[str], str],
    schema: Schema | None = None,
    *,
    promptly: bool = False,
) -> Backend:
    """The backend of the settings; `address` says what to make of it."""
    from keyfold.migrations import backend_of
    from keyfold_engine.clients import ClientOptions, connect
    from keyfold_engine.clients.retry import RetryPolicy

    chosen = settings.from_arguments(args)
    once = ClientOptions(RetryPolicy(attempts=1), answer_seconds=PATIENCE_SECONDS + 1)
    made = backend_of(
        connect(address(chosen.backend), once if promptly else None),
        prefix=chosen.table_prefix,
        names=chosen.table_names,
        tables=schema.tables if schema else (),
    )
    return replace(made, attempts=1) if promptly else made


def _live(backend: Backend, schema: Schema) -> Schema:
    from keyfold.design.schema import Schema as LiveSchema

    found = [backend.live(table.name) for table in schema.tables]
    return LiveSchema(schema.name, tuple(table for table in found if table is not None))


def _migration(args: argparse.Namespace) -> Migration:
    from keyfold.migrations.plan_file import find

    return find(args.plan, args.folder)


def _migrator(
    args: argparse.Namespace, address: Callable[[str], str], *, promptly: bool = False
) -> Migrator:
    from keyfold.migrations import Migrator, ScanPace

    migration = _migration(args)  # a wrong name makes no file and asks no backend
    backend = _backend(args, address, promptly=promptly)
    remote = "://" in settings.from_arguments(args).backend
    given = vars(args)
    settle = given.get("settle")
    return Migrator(
        migration,
        backend,
        pace=ScanPace(given.get("segments", 4), given.get("rate", 0)),
        settle=settle if settle is not None else (2.0 if remote else 0.0),
        without_routers=given.get("without_routers", False),
        report=reporter(),
        say=lambda words: print(words, flush=True),
    )
