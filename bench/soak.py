"""`python -m bench.soak`: a server in a file under one storm after another, and what it takes.

Every second a line: memory, handles, size of the file and of its log, the slowest GetItem of that
second. In the end it has to be as it was before, and to have answered every GetItem.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from bench import peers, storms
from bench.storms import Hold, Storm
from keyfold_engine.limits import MB

GOAL_MEMORY = 1.2
QUIET_SECONDS = 8.0
WIDTH, HEIGHT, LEFT = 720, 110, 60


@dataclass(frozen=True)
class Moment:
    """What the server takes at one second of the soak."""

    second: float
    storm: str
    memory_mb: float
    handles: int
    file_mb: float
    log_mb: float
    lag_ms: float


@dataclass(frozen=True)
class Verdict:
    """The server before and after, both when nobody asked anything."""

    moments: list[Moment]
    before: Moment
    after: Moment

    def complaints(self) -> list[str]:
        """What has not come back."""
        found = []
        if self.after.memory_mb > GOAL_MEMORY * self.before.memory_mb:
            found.append(f"memory: {self.before.memory_mb:.0f} to {self.after.memory_mb:.0f} MB")
        if self.after.handles > self.before.handles + 2:
            found.append(f"handles: {self.before.handles} to {self.after.handles}")
        return found


class Watch:
    """Looks at a server once a second, and asks it for an item all the time."""

    def __init__(self, port: int, pid: int, file: Path) -> None:
        self._port, self._pid, self._file = port, pid, file
        self.storm = "quiet"
        self.moments: list[Moment] = []
        self._started = time.monotonic()
        self._ended = threading.Event()
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self._thread.start()

    def moment(self, lag: float = 0.0) -> Moment:
        log = Path(f"{self._file}-wal")
        return Moment(
            round(time.monotonic() - self._started, 1),
            self.storm,
            round(storms.resident(self._pid) / MB, 1),
            storms.handles(self._pid),
            round(self._file.stat().st_size / MB, 1),
            round(log.stat().st_size / MB, 1) if log.exists() else 0.0,
            round(lag * 1e3, 1),
        )

    def settled(self) -> Moment:
        """What the server takes when nothing is under way any more: a slow machine takes longer."""
        least = self.moment()
        since = time.monotonic()
        while time.monotonic() < since + QUIET_SECONDS and self.failure is None:
            time.sleep(1)
            now = self.moment()
            if now.memory_mb < least.memory_mb - 1:
                least, since = now, time.monotonic()
        return self.moment()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _look_on(self) -> None:
        while not self._ended.is_set():
            try:
                self.moments.append(self.moment(max(storms.probe(self._port, 1.0))))
            except Exception as error:
                self.failure = error
                return


@contextmanager
def _holding(port: int, hold: Hold) -> Iterator[None]:
    held = hold(port)
    yield
    for connection in held:
        connection.close()


def soak(port: int, pid: int, file: Path, seconds: float, kinds: Sequence[Storm]) -> Verdict:
    """Storms in turn, then quiet."""
    # Each is answered once, so that what is made once is made, however slow the machine is.
    for storm in kinds:
        storms.send_once(port, storm)
    for hold in storms.HOLDS.values():
        with _holding(port, hold):
            time.sleep(1)
    watch = Watch(port, pid, file)
    before = watch.settled()
    end = time.monotonic() + seconds
    each = max(2.0, min(30.0, seconds / (2 * len(kinds))))
    holds = itertools.cycle(storms.HOLDS.items())
    for turn, storm in enumerate(itertools.cycle(kinds)):
        if time.monotonic() > end or watch.failure is not None:
            break
        watch.storm = storm.name
        with storms.raging(port, storm):
            if turn % 2:
                name, hold = next(holds)
                watch.storm += f", and {name}"
                with _holding(port, hold):
                    time.sleep(each)
            else:
                time.sleep(each)
    watch.storm = "quiet"
    after = watch.settled()
    watch.end()
    if watch.failure is not None:
        raise watch.failure
    return Verdict(watch.moments, before, after)


def curves(moments: Sequence[Moment]) -> str:
    """Each figure over time, as plain SVG."""
    names = [field.name for field in fields(Moment)][2:]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT * len(names)}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT * len(names)}" fill="#fff"/>',
    ]
    last = max(moments[-1].second, 1.0)
    for place, name in enumerate(names):
        values = [float(getattr(moment, name)) for moment in moments]
        most, bottom = max([*values, 0.1]), HEIGHT * (place + 1) - 16
        points = " ".join(
            f"{LEFT + (WIDTH - LEFT - 12) * moment.second / last:.1f},"
            f"{bottom - (HEIGHT - 40) * value / most:.1f}"
            for moment, value in zip(moments, values, strict=True)
        )
        label = f"{name.replace('_', ' ')}, at most {most:g}"
        parts.append(f'<text x="12" y="{HEIGHT * place + 16}">{label}</text>')
        parts.append(f'<polyline points="{points}" fill="none" stroke="#2b6cb0"/>')
    return "\n".join([*parts, "</svg>", ""])


def run(seconds: float, kinds: Sequence[Storm] = storms.STORMS, items: int = 40_000) -> Verdict:
    """A server of its own, on a file of its own."""
    with ExitStack() as stack:
        file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "soak.db"
        port = peers.free_port()
        pid = stack.enter_context(peers.server(peers.keyfold(port, file), port))
        storms.prepare(port, items)
        return soak(port, pid, file, seconds, kinds)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--to", type=Path, default=Path("bench/results"), metavar="FOLDER")
    given = parser.parse_args()
    verdict = run(given.seconds)
    with (given.to / "soak.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(field.name for field in fields(Moment))
        table.writerows(map(astuple, verdict.moments))
    (given.to / "soak.svg").write_text(curves(verdict.moments))
    lags = [moment.lag_ms for moment in verdict.moments]
    print(f"before: {verdict.before}\nafter:  {verdict.after}\nslowest GetItem: {max(lags)} ms")
    for complaint in verdict.complaints():
        print(f"not as before: {complaint}")
    return bool(verdict.complaints())


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
