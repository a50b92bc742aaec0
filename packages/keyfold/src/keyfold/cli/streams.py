"""`keyfold streams`: run a consumer, or look how the consumers are doing."""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from keyfold.cli import _letters
from keyfold.cli._output import add_format, print_json
from keyfold.cli._target import add_target, open_db

if TYPE_CHECKING:
    from keyfold.runtime.db import Db
    from keyfold.streams import Outcome, Sink

HELP = "Consume the change streams of a design's tables; look at records that failed."
EXAMPLES = (
    "keyfold streams run app.design:design --backend app.db",
    "keyfold streams status app.design:design --backend app.db --format json",
    "keyfold streams events app.design:design --backend app.db",
    "keyfold streams letters app.design:design --backend app.db --replay all",
)
BEHIND = 1


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    text = "Run a consumer until Ctrl-C; several processes share the shards."
    running = commands.add_parser("run", help=text, description=text)
    add_target(running)
    running.add_argument(
        "--threads", type=int, default=1, help="shards to read in parallel (default: 1)"
    )
    running.add_argument("--batch", type=int, default=500, help="records per read (default: 500)")
    running.add_argument(
        "--queue", action="append", default=[], metavar="NAME", help="keep events in this queue"
    )
    running.add_argument(
        "--webhook",
        action="append",
        default=[],
        metavar="URL",
        help="post events there, signed with KEYFOLD_WEBHOOK_SECRET",
    )
    running.add_argument(
        "--from",
        dest="begin",
        choices=("oldest", "now"),
        default="oldest",
        help="where a first run begins: with the oldest record that is kept, or, on a table in use "
        "whose numbers are right, with what is written from now on (default: oldest)",
    )
    running.add_argument("--once", action="store_true", help="stop at the end of the streams")
    text = "Show shards, their owners and lag, dead letters and waiting events."
    shown = commands.add_parser("status", help=text, description=text)
    add_target(shown)
    add_format(shown)
    text = "List undelivered events, or drop one."
    events = commands.add_parser("events", help=text, description=text)
    add_target(events)
    add_format(events)
    events.add_argument("--drop", metavar="ID", help="drop this event and continue with later ones")
    _letters.configure(commands)


def run(args: argparse.Namespace) -> int:
    with open_db(args) as db:
        if args.action == "letters":
            return _letters.run(db, args)
        if args.action == "events":
            return _events(db, args)
        return _run(db, args) if args.action == "run" else _status(db, args.format)


def _run(db: Db, args: argparse.Namespace) -> int:
    from keyfold.errors import KeyfoldError
    from keyfold.streams import Consumer, ConsumerOptions

    consumer = Consumer(db, sinks=_sinks(args), options=ConsumerOptions(batch=args.batch))
    if args.begin == "now":
        consumer.skip()
    if args.once:
        print(_words(consumer.drain()))
        return 0
    if not consumer.tables:
        raise KeyfoldError(
            f"{db.context.design.name} has nothing to consume: no @design.on, and no "
            'structure with sync="stream"'
        )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: consumer.stop())
    print(f"{consumer.worker} consumes {db.context.design.name}; Ctrl-C stops it", file=sys.stderr)
    consumer.run(threads=args.threads, on_progress=_show)
    return 0


def _sinks(args: argparse.Namespace) -> list[Sink]:
    import os

    from keyfold.errors import KeyfoldError
    from keyfold.streams import Queue, Webhook

    secret = os.environ.get("KEYFOLD_WEBHOOK_SECRET", "")
    if args.webhook and not secret:
        raise KeyfoldError("set KEYFOLD_WEBHOOK_SECRET to sign webhook requests")
    return [
        *(Queue(name) for name in args.queue),
        *(Webhook(url, secret) for url in args.webhook),
    ]


def _events(db: Db, args: argparse.Namespace) -> int:
    import orjson

    from keyfold.streams import forget, waiting

    if args.drop is not None:
        db.run(forget(db.context, args.drop))
        print(f"{args.drop}  dropped")
        return 0
    events = db.run(waiting(db.context))
    if args.format == "json":
        print_json([{"id": e.id, "at": e.at, "name": e.name, "payload": e.payload} for e in events])
        return 0
    for event in events:
        payload = orjson.dumps(event.payload).decode()
        print(f"{event.id}  {event.at:%Y-%m-%d %H:%M:%S}  {event.name}  {payload}")
    if not events:
        print("no waiting events")
    return 0


def _status(db: Db, form: str) -> int:
    from keyfold.streams import Consumer, status

    now = db.run(status(db.context))
    troubled = now.dead_letters or any(shard.lost for shard in now.shards)
    if form == "json":
        unread = list(Consumer(db).tables) if not now.shards else []
        print_json({**asdict(now), "lag_seconds": now.lag_seconds, "never_read": unread})
        return BEHIND if troubled or unread else 0
    if not now.shards and (tables := Consumer(db).tables):
        print(f"no consumer has read the stream of {', '.join(tables)} yet: keyfold streams run")
        return BEHIND
    for shard in now.shards:
        state = shard.lost or ("finished" if shard.finished else f"lag {shard.lag_seconds:.0f} s")
        owner = shard.owner or "no owner"
        if shard.unsure:
            owner = f"{shard.unsure} or no owner: its clock is ahead of this one"
        print(f"{shard.shard}  {owner}  {state}")
    print(
        f"{len(now.shards)} shards, lag {now.lag_seconds:.0f} s, "
        f"{now.dead_letters} dead letters, {now.waiting_events} waiting events"
    )
    return BEHIND if troubled else 0


def _show(outcome: Outcome) -> None:
    if outcome.records:
        print(_words(outcome), flush=True)


def _words(outcome: Outcome) -> str:
    return (
        f"{outcome.records} records: {outcome.applied} effects, {outcome.repeated} repeated, "
        f"{outcome.dead} dead letters, lag {outcome.lag_seconds:.0f} s"
    )
