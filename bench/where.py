"""`python -m bench.where [SECONDS]`: where a served request's time goes, by layer.

The server runs in this process, the load in another; the processor's time is sampled.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from contextlib import ExitStack
from types import FrameType

from bench import load
from bench.cases.wire import OPERATIONS, fill, fresh_requests
from keyfold_engine.engine import Engine
from keyfold_engine.wire import Server, ServerSettings

_SAMPLE_SECONDS = 0.001
_CONNECTIONS = 16
_ITEMS = 100_000

# The innermost frame that is in one of these modules says where a sample was taken.
LAYERS = {
    "keyfold_engine.wire": "sockets, HTTP, answer",
    "keyfold_engine.engine.shapes": "shape check",
    "keyfold_engine.expressions": "expressions",
    "keyfold_engine.values": "values: keys, sizes",
    "keyfold_engine.engine.storage": "SQLite",
    "keyfold_engine.engine.commits": "SQLite",
    "keyfold_engine.engine.read": "SQLite",
    "keyfold_engine.engine": "operation",
}


class Samples:
    """Counts which layer is at work, every millisecond of processor time."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()

    def __enter__(self) -> Samples:
        signal.signal(signal.SIGPROF, self._take)
        signal.setitimer(signal.ITIMER_PROF, _SAMPLE_SECONDS, _SAMPLE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _take(self, _number: int, frame: FrameType | None) -> None:
        while frame is not None:
            name = frame.f_globals.get("__name__", "")
            for prefix, layer in LAYERS.items():
                if name == prefix or name.startswith(prefix + "."):
                    self.taken[layer] += 1
                    return
            frame = frame.f_back


def measure(seconds: float) -> dict[str, Counter[str]]:
    """What is taken in this thread, which alone can be sampled, while another has it asked."""
    found: dict[str, Counter[str]] = {}
    with Engine.open(":memory:") as engine, Samples() as samples:
        server = Server(engine, ServerSettings(port=0)).start()
        address = load.local(server.port)

        def ask() -> None:
            fill(address, _ITEMS)
            for operation in OPERATIONS:
                with ExitStack() as stack:
                    requests = load.prepared(operation.name, fresh_requests(operation, _ITEMS, 0))
                    sent = load.Load(stack, requests)
                    found[operation.title] = samples.taken = Counter()
                    sent.drive(address, _CONNECTIONS, seconds)
            server.stop()

        threading.Thread(target=ask).start()
        server.run()
    return found


def table(found: dict[str, Counter[str]]) -> str:
    layers = list(dict.fromkeys(LAYERS.values()))
    lines = ["| | " + " | ".join(layers) + " |", "|---" * (len(layers) + 1) + "|"]
    for title, taken in found.items():
        shares = [f"{100 * taken[layer] / max(1, taken.total()):.0f} %" for layer in layers]
        lines.append(f"| {title} | " + " | ".join(shares) + " |")
    return "\n".join(lines)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    print(table(measure(seconds)))


if __name__ == "__main__":
    main()
