"""`keyfold serve`: DynamoDB's API on this machine."""

from __future__ import annotations

import argparse
import gc
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from keyfold_engine.engine.delays import DelaySetting
    from keyfold_engine.wire.settings import ServerSettings

HELP = "Serve DynamoDB's API on a data file, for every DynamoDB tool."
EXAMPLES = ("keyfold serve --data app.db --port 8000",)


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--data", default=":memory:", metavar="FILE", help="data file (default: memory only)")
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=8000, help="port, 0 for any free one (default: %(default)s)")
    add(
        "--workers",
        type=int,
        default=1,
        help="processes that share the port and the data file, for more reads; writes take turns "
        "(default: %(default)s)",
    )
    add("--region", default="us-east-1", help="region in ARNs and signatures")
    add(
        "--regions",
        action="store_true",
        help="separate tables for each region in signatures, for global tables",
    )
    add(
        "--accounts",
        action="store_true",
        help="also separate tables for each account: of the caller's principal, or an access key "
        "of twelve digits",
    )
    add(
        "--credentials",
        type=_path,
        metavar="FILE",
        help="verify signatures against these keys (the format of ~/.aws/credentials; "
        "or set KEYFOLD_CREDENTIALS=ACCESS_KEY:SECRET)",
    )
    tls = "tls_certificate"
    add("--tls-cert", dest=tls, type=_path, metavar="FILE", help="certificate chain (PEM)")
    add("--tls-key", type=_path, metavar="FILE", help="its private key (PEM)")
    add(
        "--dialect",
        choices=("current", "classic"),
        default="current",
        help="wording of validation errors: current (most of Amazon's regions today) or classic "
        "(before the changes of 2026)",
    )
    add(
        "--durability",
        choices=("full", "relaxed", "memory"),
        default="full",
        help="when a write is acknowledged: on disk, written to the system, or in memory",
    )
    add(
        "--insecure-bind",
        action="store_true",
        help="listen on other addresses without credentials",
    )
    add(
        "--cors",
        dest="origins",
        action="append",
        metavar="ORIGIN",
        help="allow pages of this origin, '*' for all (default: pages of this machine)",
    )
    add(
        "--request-log", metavar="FILE", help="write a JSON line per request; - for standard output"
    )
    add(
        "--buckets", type=_path, metavar="DIR", help="directory whose subdirectories are S3 buckets"
    )
    add(
        "--kinesis",
        metavar="DIR|URL",
        help="target of Kinesis destinations: a directory, or a local server",
    )
    add(
        "--delays",
        type=_delays,
        default="at once",
        metavar="WHEN",
        help="how long changes of tables take: 'at once' (the default), 'amazon', or seconds by "
        "phase, such as allocating=2,backfilling=10",
    )
    add("--tracing", action="store_true", help="record requests as OpenTelemetry spans")
    add("--max-connections", type=int, default=1000, help="per worker (default: %(default)s)")
    add(
        "--receive-seconds",
        type=float,
        default=30.0,
        help="time limit for receiving a request (default: %(default)s)",
    )


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def _delays(text: str) -> DelaySetting:
    from keyfold_engine.engine.delays import read_delays

    try:
        return read_delays(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def run(args: argparse.Namespace) -> int:
    # Everything loaded so far stays, so collecting it wastes time: a worker enables the collector
    # again once it listens.
    gc.disable()
    try:
        from keyfold_engine.wire.workers import serve

        settings = _settings(args)

        def on_ready(port: int) -> None:
            scheme = "https" if settings.tls_certificate else "http"
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            print(f"Serving DynamoDB on {scheme}://{host}:{port} ({settings.data})", flush=True)

        serve(settings, on_ready)
    finally:
        gc.enable()
    return 0


def _settings(args: argparse.Namespace) -> ServerSettings:
    from keyfold_engine.wire.cors import LOOPBACK_ORIGINS
    from keyfold_engine.wire.settings import ClientLimits, ServerSettings, read_credentials

    given = {name: value for name, value in vars(args).items() if name in ServerSettings._fields}
    given["credentials"] = read_credentials(args.credentials, os.environ)
    given["origins"] = tuple(args.origins or LOOPBACK_ORIGINS)
    return ServerSettings(
        **given,
        clients=ClientLimits(
            connections=args.max_connections, receive_seconds=args.receive_seconds
        ),
    )
