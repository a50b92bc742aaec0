"""`keyfold check`: review a design."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from keyfold import settings
from keyfold.cli._target import existing
from keyfold.errors import DeclarationError, KeyfoldError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from keyfold.design.schema import Place, Schema
    from keyfold.review.check.config import CheckConfig, FailOn
    from keyfold.review.check.report import Fix, Review

HELP = "Review a design as an expert would."
EXAMPLES = (
    "keyfold check app.design:design",
    "keyfold check design.yaml --format sarif --output findings.sarif",
)
FORMATS = ("text", "json", "sarif")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "target",
        nargs="*",
        help="package.module:design or FILE.yaml (default: the design in the settings)",
    )
    add("--select", action="append", default=[], metavar="CODES", help="only these rules, as K4,Q")
    add("--ignore", action="append", default=[], metavar="CODES", help="all but these")
    add("--explain", action="store_true", help="show an example for each finding")
    add("--fix", action="store_true", help="apply fixes that need no decision")
    add("--output", type=Path, metavar="FILE", help="write to this file, not to the terminal")
    add("--watch", action="store_true", help="check again whenever a file here changes")
    add("--live", action="store_true", help="also compare with the tables of the backend")
    add("--sample", type=int, default=500, metavar="N", help="items to read with --live")
    add_report_flags(parser)
    settings.add_flags(parser, "design", "backend", "table_prefix", "table_names")


def add_report_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags for a report's format, its baseline and the exit code."""
    add = parser.add_argument
    add("--format", choices=FORMATS, default="text", help="output format")
    add("--baseline", type=Path, metavar="FILE", help="leave out the findings in this file")
    add(
        "--write-baseline",
        type=Path,
        metavar="FILE",
        help="write the current findings to this file",
    )
    add(
        "--fail-on",
        choices=("error", "warning", "note", "question", "never"),
        help="exit with 1 from this severity on (default: warning)",
    )


def run(args: argparse.Namespace) -> int:
    from keyfold.design.target import load_schema
    from keyfold.review.check import config
    from keyfold.review.check.fixes import declaration_fixes

    if args.watch or args.fix:
        from keyfold.cli._watch import import_uncached, watch

        import_uncached()
    if args.watch:
        watch([word for word in args.given if word != "--watch"])
    current = settings.from_arguments(args)
    targets = args.target or [current.design]
    if not targets[0]:
        raise KeyfoldError("name a design: keyfold check package.module:design, or FILE.yaml")
    chosen = config.load()
    try:
        schemas = [load_schema(target) for target in targets]
    except DeclarationError as refused:
        if not args.fix or not _write_fixes(declaration_fixes(refused)):
            raise
        # Modules that were imported before the error hold half of the design.
        return subprocess.run(
            [sys.executable, "-m", "keyfold", *args.given], check=False
        ).returncode
    if args.live:
        schemas = [_observe(schema, current, args.sample) for schema in schemas]
    typed = map(_with_types, schemas, targets) if _selects(chosen, args, "D5") else schemas
    reports = [_review(schema, chosen, args) for schema in typed]
    if args.fix:
        fixed = [
            _write_fixes(each for f in report.findings for each in f.fixes) for report in reports
        ]
        reports = [
            _check_again(report, target, files, chosen, args)
            for report, target, files in zip(reports, targets, fixed, strict=True)
        ]
    report = reports[0]
    for more in reports[1:]:
        report = report.join(more)
    return finish(report, args, chosen)


def finish(report: Review, args: argparse.Namespace, chosen: CheckConfig) -> int:
    """Write a report in the chosen format, without known findings; the exit code."""
    from keyfold.review.check import baseline

    if args.write_baseline:
        baseline.write(report, args.write_baseline)
        kept = len(report.findings)
        print(f"{kept} finding{'s' * (kept != 1)} kept in {args.write_baseline}")
        return 0
    known: Path | None = args.baseline or chosen.baseline
    if known is not None:
        report = baseline.without_known(report, known)
    written = _render(report, args)
    if args.output:
        args.output.write_text(written + "\n", encoding="utf-8")
    elif written:
        print(written)
    fail_on: FailOn = args.fail_on or chosen.fail_on
    return 1 if fail_on != "never" and report.fails(fail_on) else 0


def _review(schema: Schema, chosen: CheckConfig, args: argparse.Namespace) -> Review:
    from keyfold.review.check import check

    select, ignore = _selection(chosen, args)
    return chosen.apply(check(schema, select=select, ignore=ignore, severity=chosen.severity))


def _selection(chosen: CheckConfig, args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The codes and families to run, and those to leave out."""
    return _codes(args.select) or [*chosen.select], [*_codes(args.ignore), *chosen.ignore]


def _selects(chosen: CheckConfig, args: argparse.Namespace, code: str) -> bool:
    from keyfold.review.check import rules

    return any(rule.code == code for rule in rules(*_selection(chosen, args)))


def _write_fixes(fixes: Iterable[tuple[Place, Fix]]) -> set[Path]:
    """Write what can be fixed; returns the changed files."""
    from keyfold.review.check.fixes import fix_files

    changed = fix_files(fixes)
    for path, (text, count) in changed.items():
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {count} fixed", file=sys.stderr)
    return set(changed)


def _check_again(
    report: Review, target: str, files: set[Path], chosen: CheckConfig, args: argparse.Namespace
) -> Review:
    """The report after its fixes; a Python design is not imported again."""
    from keyfold.design.target import FILES, load_schema

    if not files:
        return report
    if target.endswith(FILES):
        return _review(load_schema(target), chosen, args)
    left = (
        finding
        for finding in report.findings
        if not finding.fixes or any(Path(place.file) not in files for place, _ in finding.fixes)
    )
    return replace(report, findings=tuple(left))


def _with_types(schema: Schema, target: str) -> Schema:
    """The design with its outdated type files."""
    from keyfold.design.target import FILES, load_design

    if target.endswith(FILES):
        return schema
    try:
        design = load_design(target)
    except KeyfoldError:
        return schema  # A Schema built in Python has no entities to generate types for.
    from keyfold.review.typed_module import typed_modules

    stale = [one.file for one in typed_modules(design.entities.values()) if one.stale]
    return replace(schema, stale_types=tuple(os.path.relpath(file) for file in stale))


def _observe(schema: Schema, current: settings.Settings, sample: int) -> Schema:
    """The design with observations of its tables in the backend."""
    from keyfold.hooks import hook
    from keyfold_engine.clients import connect

    client = connect(existing(current.backend))
    try:
        observe = hook("observe", "--live", "keyfold-workbench")
        observed: Schema = observe(
            client, schema, current.table_prefix, current.table_names, sample
        )
        return observed
    finally:
        client.close()


def _codes(given: list[str]) -> list[str]:
    return [code.strip() for part in given for code in part.split(",") if code.strip()]


def _render(report: Review, args: argparse.Namespace) -> str:
    from keyfold.review.check import report_formats
    from keyfold.review.check.text import text

    if args.format == "text":
        colour = sys.stdout.isatty() and not args.output and "NO_COLOR" not in os.environ
        width = min(110, shutil.get_terminal_size((100, 24))[0])
        return text(report, colour=colour, width=width, explain=vars(args).get("explain", False))
    write = report_formats.as_json if args.format == "json" else report_formats.as_sarif
    return write(report)
