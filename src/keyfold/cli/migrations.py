"""`keyfold migrations`: change a running system without downtime."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from keyfold import settings
from keyfold.cli._progress import reporter
from keyfold.cli._target import existing, existing_or_empty

if TYPE_CHECKING:
    from keyfold.design.schema import Schema
    from keyfold.migrations import Backend, Migration, Migrator

HELP = "Plan a change of tables and items, apply it while traffic goes on, or go back."
SNAPSHOT = "schema.json"


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def command(name: str, help: str, *flags: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=help, description=help)
        made.add_argument(
            "--folder",
            type=Path,
            default=Path("migrations"),
            metavar="FOLDER",
            help="where the snapshot and the plans are (default: migrations)",
        )
        settings.add_flags(made, *flags)
        return made

    naming = ("table_prefix", "table_names")
    command("snapshot", "Keep the design's schema in the folder.", "design")
    command(
        "diff",
        "Say what differs between the design, the snapshot and the live tables.",
        "design",
        "backend",
        *naming,
    )
    plan = command(
        "plan", "Write a plan for what changed since the snapshot.", "design", "backend", *naming
    )
    plan.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="what to call it, as orders-by-season (default: after the first change)",
    )
    apply = command(
        "apply",
        "Run a plan phase by phase, or all that are not complete, in order.",
        "backend",
        *naming,
    )
    _add_plan(apply, optional=True)
    apply.add_argument(
        "--to",
        default="hold",
        metavar="PHASE",
        help="the last phase to run: expand, follow, backfill, verify, switch-reads, "
        "switch-writes, hold or contract (default: hold)",
    )
    apply.add_argument(
        "--dry-run",
        action="store_true",
        help="say what it will read and write, and what that costs; change nothing",
    )
    apply.add_argument(
        "--follow",
        action="store_true",
        help="keep copying: while it waits for applications to follow, and afterwards until Ctrl-C",
    )
    apply.add_argument(
        "--segments", type=int, default=4, help="parallel scans (default: %(default)s)"
    )
    apply.add_argument(
        "--rate", type=float, default=0, metavar="N", help="items a second at most (default: all)"
    )
    apply.add_argument(
        "--settle",
        type=float,
        metavar="SECONDS",
        help="how long the streams must be quiet before a switch (default: 2, embedded 0)",
    )
    apply.add_argument(
        "--without-routers",
        action="store_true",
        help="switch though no application reports that it follows",
    )
    apply.add_argument(
        "--no-repair", action="store_true", help="report what differs, do not copy it again"
    )
    status = command("status", "Show where a plan is, or where all are.", "backend", *naming)
    _add_plan(status, optional=True)
    command(
        "list", "List the plans of the folder in order, each with its phase.", "backend", *naming
    )
    history = command("history", "Show when plans came to their phases.", "backend", *naming)
    _add_plan(history, optional=True)
    show = command("show", "Show the steps of a plan in words.")
    _add_plan(show)
    rollback = command("rollback", "Go back to where a plan began.", "backend", *naming)
    _add_plan(rollback)
    rollback.add_argument(
        "--keep",
        choices=("old", "new"),
        help="whose items stay where both sides were written since the switch",
    )
    command(
        "check",
        "Fail when design, snapshot and live tables differ (for continuous integration).",
        "design",
        "backend",
        *naming,
    )


def _add_plan(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument(
        "plan",
        metavar="PLAN",
        nargs="?" if optional else None,
        help="a plan of the folder by its name, a file, or module:name of a Migration",
    )


def run(args: argparse.Namespace) -> int:
    actions = {
        "snapshot": _snapshot,
        "diff": _diff,
        "plan": _plan,
        "apply": _apply,
        "status": _status,
        "list": _list,
        "history": _history,
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
    for title, changes in _differences(args):
        print(f"{title}: {'nothing' if not changes else ''}".rstrip())
        for change in changes:
            print(f"  {change}")
    return 0


def _check(args: argparse.Namespace) -> int:
    found = [(title, changes) for title, changes in _differences(args) if changes]
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
    from keyfold.migrations.diff import diff, name_of
    from keyfold.migrations.plan import draft
    from keyfold.migrations.snapshot import read, save

    schema = _schema(args)
    found = read(args.folder / SNAPSHOT)
    missing, kept = found is None, found or EmptySchema(schema.name)
    changes = diff(kept, schema)
    if not changes:
        raise MigrationError(
            "nothing changed since the snapshot, so a plan would be empty. To make the last plan "
            f"again, put {args.folder / SNAPSHOT} back as it was before it, and delete its file"
        )
    backend = _backend(args, existing_or_empty, schema)
    live = _live(backend, schema)
    if missing and live.tables:
        raise MigrationError(
            f"{args.folder} has no snapshot, and the backend has "
            f"{', '.join(table.name for table in live.tables)} already. Keep the design as "
            "those tables have it first: keyfold migrations snapshot; then change it and plan"
        )
    target = settings.from_arguments(args).design
    number = len(list(args.folder.glob("[0-9][0-9][0-9][0-9]_*.py"))) + 1
    called = args.name or name_of(changes)
    name = f"{number:04d}_{called.replace('-', '_')}"
    made = draft(
        name,
        kept,
        schema,
        live=_live(backend, kept),
        design=target,
        defaults=_defaults(target),
    )
    path = made.save(args.folder)
    save(schema, args.folder / SNAPSHOT)
    print(f"{path} written: {len(changes)} changes")
    for question in made.open_questions:
        print(f"  decide {question}")
    return 0


def _apply(args: argparse.Namespace) -> int:
    from keyfold.errors import MigrationError
    from keyfold.migrations.estimate import compared, estimate
    from keyfold.migrations.migration import PHASES

    if args.to not in PHASES[1:]:
        raise MigrationError(f"{args.to!r} is not a phase; {settings.nearest(args.to, PHASES[1:])}")
    for plan in [args.plan] if args.plan else _plans(args):
        args.plan = plan
        if args.dry_run:
            _print_estimate(args)
            continue
        migrator = _migrator(args, str)
        expected = estimate(migrator.migration, migrator.backend) if migrator.copies else []
        wait = (lambda: True) if args.follow else None
        state = migrator.apply(args.to, repair=not args.no_repair, wait=wait)
        for words in compared(expected, migrator.work):
            print(f"{migrator.migration.name}: {words}")
        print(f"{migrator.migration.name}: {state.phase} is complete")
        if state.phase not in (args.to, "contract"):
            break  # what comes after it is made for what it leaves
    if args.follow and not args.dry_run:
        print("copying; Ctrl-C stops", flush=True)
        migrator.follow(lambda: False)
    return 0


def _print_estimate(args: argparse.Namespace) -> None:
    """What a plan would do; the table of states is not made either."""
    from keyfold.migrations.estimate import estimate, words_of

    migrator = _migrator(args, existing_or_empty)
    print(f"{migrator.migration.name}:")
    for words in migrator.migration.words():
        print(f"  {words}")
    for words in words_of(estimate(migrator.migration, migrator.backend), args.rate):
        print(f"  {words}")


def _history(args: argparse.Namespace) -> int:
    for plan in [args.plan] if args.plan else _plans(args):
        args.plan = plan
        migrator = _migrator(args, existing_or_empty)
        print(f"{migrator.migration.name}:")
        for change in migrator.store.history() if migrator.store.exists() else ():
            print(f"  {change}")
    return 0


def _plans(args: argparse.Namespace) -> list[str]:
    """The plans of the folder, in order."""
    from keyfold.errors import MigrationError

    found = sorted(path.stem for path in args.folder.glob("[0-9][0-9][0-9][0-9]_*.py"))
    if not found:
        raise MigrationError(f"{args.folder} has no plans; make one: migrations plan NAME")
    return found


def _list(args: argparse.Namespace) -> int:
    for plan in _plans(args):
        args.plan = plan
        print(f"{plan}: {_migrator(args, existing_or_empty).status().state.phase}")
    return 0


def _show_plan(args: argparse.Namespace) -> int:
    migration = _migration(args)
    print(f"{migration.name}{': ' if migration.description else ''}{migration.description}")
    for words in migration.words():
        print(f"  {words}")
    return 0


def _status(args: argparse.Namespace) -> int:
    if args.plan:
        return _status_of(args)
    worst = 0
    for plan in _plans(args):
        args.plan = plan
        worst = max(worst, _status_of(args))
    return worst


def _status_of(args: argparse.Namespace) -> int:
    status = _migrator(args, existing_or_empty).status()
    state = status.state
    print(f"{status.name}: {state.phase}")
    print(f"  reads {state.reads}, writes {state.writes}{', closed' if state.closed else ''}")
    if status.lag is not None:
        print(f"  copying is {status.lag:.1f} s behind")
    for part, progress in status.segments.items():
        done = "finished" if progress["finished"] else "under way"
        print(f"  {part.partition(':')[2]}: {progress['done']:,} items, {done}")
    print(f"  {status.routers} routers follow")
    for problem in status.problems:
        print(f"  problem: {problem}")
    return 1 if status.problems else 0


def _rollback(args: argparse.Namespace) -> int:
    migrator = _migrator(args, existing)
    migrator.rollback(keep=args.keep)
    print(f"{migrator.migration.name}: back where it began")
    return 0


def _schema(args: argparse.Namespace) -> Schema:
    from keyfold.design.target import load_schema
    from keyfold.errors import SettingError

    target = settings.from_arguments(args).design
    if not target:
        raise SettingError("Name a design with --design module:name, or set it in keyfold.toml")
    return load_schema(target)


def _defaults(target: str) -> set[tuple[str, str]]:
    """The fields that an item need not have, by entity; a design file says nothing of them."""
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
    args: argparse.Namespace, address: Callable[[str], str], schema: Schema | None = None
) -> Backend:
    """The backend of the settings; `address` says what to make of it."""
    from keyfold.clients import connect
    from keyfold.migrations import backend_of

    chosen = settings.from_arguments(args)
    return backend_of(
        connect(address(chosen.backend)),
        prefix=chosen.table_prefix,
        names=chosen.table_names,
        tables=schema.tables if schema else (),
    )


def _live(backend: Backend, schema: Schema) -> Schema:
    from keyfold.design.schema import Schema as LiveSchema

    found = [backend.live(table.name) for table in schema.tables]
    return LiveSchema(schema.name, tuple(table for table in found if table is not None))


def _migration(args: argparse.Namespace) -> Migration:
    from keyfold.migrations.plan import find

    return find(args.plan, args.folder)


def _migrator(args: argparse.Namespace, address: Callable[[str], str]) -> Migrator:
    from keyfold.migrations import Migrator, ScanPace

    backend = _backend(args, address)
    remote = "://" in settings.from_arguments(args).backend
    given = vars(args)
    settle = given.get("settle")
    return Migrator(
        _migration(args),
        backend,
        pace=ScanPace(given.get("segments", 4), given.get("rate", 0)),
        settle=settle if settle is not None else (2.0 if remote else 0.0),
        without_routers=given.get("without_routers", False),
        report=reporter(),
        say=lambda words: print(words, flush=True),
    )
