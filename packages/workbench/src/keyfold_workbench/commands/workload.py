"""`keyfold workload`: draft a workload file, or fill one from a running system."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from keyfold import settings
from keyfold.cli._target import add_design, design_target, existing
from keyfold.errors import KeyfoldError

if TYPE_CHECKING:
    from urllib.request import Request

    from keyfold.design.schema import Schema
    from keyfold_workbench.cost import EntityLoad
    from keyfold_workbench.cost.observed_workload import Scrape

HELP = "Draft a workload file, or record one from a running system."
EXAMPLES = (
    "keyfold workload init design.yaml -o workload.yaml",
    "keyfold workload record app.design:design --metrics http://127.0.0.1:8080/metrics",
)


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def command(name: str, help: str, *flags: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=help, description=help)
        add = made.add_argument
        add_design(made)
        add(
            "--output",
            "-o",
            type=Path,
            metavar="FILE",
            help="write to this file, not to the terminal",
        )
        settings.add_flags(made, *flags)
        return made

    command("init", "Write a workload file with every name and a default number.", "design")
    record = command(
        "record",
        "Write a workload file from a service's metrics and a backend's items.",
        "design",
        "backend",
        "table_prefix",
        "table_names",
    )
    add = record.add_argument
    add("--metrics", metavar="URL", help="URL of the service's metrics: http://host/metrics")
    add("--token-file", type=Path, metavar="FILE", help="an administrator's token for the metrics")
    add("--seconds", type=float, default=60.0, help="duration in seconds (default: 60)")
    add("--every", type=float, default=5.0, help="seconds between two samples (default: 5)")
    add("--sample", type=int, default=5000, metavar="N", help="items to read of each table")


def run(args: argparse.Namespace) -> int:
    from keyfold.design.target import load_schema
    from keyfold_workbench.cost import draft

    current = settings.from_arguments(args)
    target = design_target(args)
    schema = load_schema(target)
    text = draft.draft(schema) if args.action == "init" else _record(args, schema, current)
    if args.output is None:
        print(text, end="")
        return 0
    if args.action == "init" and args.output.exists():
        raise KeyfoldError(f"{args.output} already exists; choose another file")
    args.output.write_text(text, encoding="utf-8")
    print(f"{args.output}: written", file=sys.stderr)
    return 0


def _record(args: argparse.Namespace, schema: Schema, current: settings.Settings) -> str:
    from dataclasses import replace

    from keyfold_workbench.cost import Workload, draft, observed_workload

    if args.seconds <= 0 or args.every <= 0 or args.sample < 1:
        raise KeyfoldError("--seconds, --every and --sample must be more than 0")
    held = _items(schema, current, args.sample)
    seen = Workload()
    if args.metrics:
        scrapes = _scrape(_metrics(args), args.seconds, args.every)
        seen = observed_workload.traffic(schema, observed_workload.rates(scrapes))
    if not held and not args.metrics:
        raise KeyfoldError(
            f"{current.backend} has none of the design's tables; set --backend or --metrics"
        )
    return draft.observed_draft(schema, replace(seen, entities=held))


def _items(schema: Schema, current: settings.Settings, sample: int) -> dict[str, EntityLoad]:
    from keyfold_engine.clients import connect
    from keyfold_workbench.cost import observed_workload

    names = {
        table.name: table.physical_name(current.table_prefix, current.table_names)
        for table in schema.tables
    }
    client = connect(existing(current.backend))
    try:
        return observed_workload.entities(client, schema, names, sample)
    finally:
        client.close()


def _metrics(args: argparse.Namespace) -> Request:
    """The request for metrics, with the administrator's token if one was given."""
    from urllib.request import Request

    url = args.metrics
    if not url.startswith(("http://", "https://")):
        raise KeyfoldError(f"{url!r} is not a metrics URL; give http://host:port/metrics")
    if args.token_file is None:
        return Request(url)
    try:
        token = args.token_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise KeyfoldError(f"{args.token_file}: the token cannot be read: {error}") from None
    return Request(url, headers={"Authorization": f"Bearer {token}"})


def _scrape(metrics: Request, seconds: float, every: float) -> list[Scrape]:
    from keyfold_workbench.cost.observed_workload import Scrape

    first = _fetch(metrics)
    started = time.monotonic()
    found = [Scrape(0.0, first)]
    while (passed := time.monotonic() - started) < seconds or len(found) < 2:
        if sys.stderr.isatty():
            print(f"\r{passed:.0f} of {seconds:.0f} s", end="", file=sys.stderr, flush=True)
        time.sleep(max(0.0, min(every, seconds - passed)))
        found.append(Scrape(time.monotonic() - started, _fetch(metrics)))
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return found


def _fetch(metrics: Request) -> str:
    from urllib.error import HTTPError, URLError
    from urllib.request import urlopen

    url = metrics.full_url
    try:
        with urlopen(metrics, timeout=10) as answer:
            text: str = answer.read().decode()
            return text
    except HTTPError as error:
        remedy = "; give --token-file with an administrator's token" if error.code == 401 else ""
        raise KeyfoldError(f"{url}: the metrics cannot be read: {error}{remedy}") from None
    except (URLError, OSError) as error:
        raise KeyfoldError(f"{url}: the metrics cannot be read: {error}") from None
