"""Connection use: writers one after another in group commits, readers beside them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from keyfold_engine import errors
from keyfold_engine.engine import storage
from keyfold_engine.engine.forks import left_behind, open_here
from keyfold_engine.engine.lane import LOOP_LOCK_SECONDS, WouldStall, may_wait
from keyfold_engine.engine.session_loans import SessionLender, SessionPool
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.write_job import HalfDone, UndoneWithOthers, WriteJob

if TYPE_CHECKING:
    from keyfold_engine.engine.storage.watch import FileWatch

T = TypeVar("T")

# A process that has not written for this many commits is not expected to.
_OTHERS_COMMITS = 32
# Long enough for a waiting thread to wake up.
_GIVEN_SECONDS = 0.0002


class Commits:
    """The connections of one file.

    A writer queues its job and then takes the lock. Whoever gets the lock runs all queued jobs,
    each in its own savepoint, and commits once for all of them; the others find their job done when
    they get the lock. A lone writer never changes threads.
    """

    def __init__(
        self,
        path: str,
        durability: str,
        forget_schema: Callable[[], None],
    ) -> None:
        self.path = path
        self._forget_schema = forget_schema
        self._writer = Session(storage.connect(path, durability, is_first=True))
        self._version = self._writer.version()
        self._lock = threading.Lock()
        self._queue: deque[WriteJob[Any]] = deque()
        self._is_read_only = storage.is_read_only(self._writer.connection)
        self._has_one_connection = path == ":memory:" or self._is_read_only
        self._watch: FileWatch | None = None
        self._readers = SessionPool(path, durability)
        self._closed = self._is_forked = False
        self._other_writers = 0
        """More than 0: another process was seen to write to this file, not long ago."""
        self.foreign_commits = 0
        """How often another process was seen to have written."""
        self._gathering = 0
        """The thread whose writes join the transaction, if there is one."""
        self._listeners: tuple[Callable[[], None], ...] = ()
        if path != ":memory:":
            from keyfold_engine.engine.storage.watch import FileWatch

            self._watch = FileWatch(path)
            open_here.add(self)
        self._waiting = 0
        """How many threads wait for the lock, as far as can be seen without one."""

    def write(self, work: Callable[[Session], T], *, changes_last: bool = False) -> T:
        """Run `work` in a transaction; returns after the commit.

        Work that `changes_last` either fails before its first change or guards its changes itself,
        so it needs no savepoint.
        """
        if self._gathering == threading.get_ident():
            return self._join(work, changes_last)
        if not self._queue and self._lock.acquire(blocking=False):
            try:
                return self._run_alone(work)
            finally:
                self._lock.release()
        if not may_wait():
            self._wait()
            try:
                return self._run_alone(work)
            finally:
                self._lock.release()
        job = WriteJob(work, changes_last)
        self._queue.append(job)
        with self._lock:
            if not job.done:
                self._lead()
            if isinstance(job.error, UndoneWithOthers):
                return self._run_alone(work)
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[no-any-return]

    def start(self) -> None:
        """Begin a transaction that this thread's writes join until `end_gathering`.

        `finish` commits it, in any thread; `abandon` rolls it back. A write that fails rolls back
        only itself.
        """
        self._wait()
        self._begin_group()

    def start_at_once(self) -> bool:
        """`start` without waiting; returns whether the transaction began."""
        if not self.is_free() or not self._lock.acquire(blocking=False):
            return False
        try:
            self._begin_group()
        except apsw.BusyError:
            return False
        return True

    @property
    def shares_connection(self) -> bool:
        """Whether readers and writers share one connection, as in memory."""
        return self._has_one_connection and not self._is_read_only

    def is_free(self) -> bool:
        """Whether the lock seems free, without trying it."""
        return not (self._other_writers or self._queue or self._lock.locked())

    def end_gathering(self) -> None:
        """No more writes join."""
        self._gathering = 0

    def finish(self) -> None:
        try:
            self._commit()
        except BaseException:
            self._take_back()
            raise
        finally:
            self._lock.release()

    def abandon(self) -> None:
        self._gathering = 0
        try:
            self._take_back()
        finally:
            self._lock.release()

    def read(self) -> SessionLender:
        """A session for reading; every statement sees the latest commit."""
        return SessionLender(self)

    def take(self) -> Session:
        """The writer's session if it is free, for its warm cache; otherwise one of the pool."""
        if self._gathering == threading.get_ident():
            return self._writer
        if self._watch is not None and monotonic() >= self._watch.due:
            self._watch.look()
        # Otherwise fast readers could starve a waiting writer.
        if self._queue and not self._has_one_connection:
            return self._session_from_pool()
        if not self._lock.acquire(blocking=False):
            if not self._has_one_connection:
                return self._session_from_pool()
            self._wait()
        if self._closed:
            self._lock.release()
            self._check_open()
        return self._writer

    def yield_session(self, session: Session) -> None:
        """Release the session if others wait for it; no statement may be in progress."""
        if (self._waiting or self._queue) and self._is_shared(session):
            self._lock.release()
            time.sleep(_GIVEN_SECONDS)
            self._wait()

    def let_writers_run(self) -> None:
        """Let waiting writers run first, between two writes of long work."""
        if self._waiting or self._queue:
            time.sleep(_GIVEN_SECONDS)

    def lend(self, session: Session) -> None:
        """Release a session until it is taken again."""
        if self._is_shared(session):
            self._lock.release()

    def take_again(self, session: Session) -> None:
        if self._is_shared(session):
            self._wait()

    def _is_shared(self, session: Session) -> bool:
        """Whether others could want it, and it would come back."""
        return session is self._writer and self._gathering != threading.get_ident() and may_wait()

    def _wait(self) -> None:
        """Wait for the lock; on an event loop only briefly."""
        self._waiting += 1
        try:
            if may_wait():
                self._lock.acquire()
            elif not self._lock.acquire(timeout=LOOP_LOCK_SECONDS):
                raise WouldStall
        finally:
            self._waiting -= 1

    def _session_from_pool(self) -> Session:
        self._check_open()
        return self._readers.take()

    def put_back(self, session: Session) -> None:
        if session is not self._writer:
            self._readers.put_back(session)
        elif self._gathering != threading.get_ident():
            self._lock.release()

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """A session whose statements all see the same commit; it may be long-lived."""
        if self._has_one_connection or self._gathering == threading.get_ident():
            with self.read() as session:
                yield session
            return
        session = self._session_from_pool()
        try:
            session.begin_read()
            yield session
        finally:
            session.rollback()
            self.put_back(session)

    def on_commit(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call `tell` after each commit of this process; calling the result ends that."""
        with self._lock:
            self._listeners = (*self._listeners, tell)

        def forget() -> None:
            with self._lock:
                self._listeners = tuple(each for each in self._listeners if each is not tell)

        return forget

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._readers.close()
            self._writer.connection.close()

    def abandon_connections(self) -> None:
        """Called in a forked child, which must not use the parent's SQLite connections.

        They are kept open: closing them would release the parent's locks.
        """
        left_behind.extend((self._writer, *self._readers.empty()))
        self._lock, self._gathering = threading.Lock(), 0
        self._queue.clear()
        self._closed = self._is_forked = True

    def _check_open(self) -> None:
        if self._is_forked:
            raise errors.StorageError(
                f"{self.path} was opened before this process was forked; open it after the fork"
            )
        if self._closed:
            raise errors.StorageError(f"{self.path}: the engine is closed")

    def _run_alone(self, work: Callable[[Session], T]) -> T:
        """The path of a writer without contention."""
        self._check_open()
        try:
            self._begin()
            result = work(self._writer)
            self._commit()
        except BaseException as error:
            failure = self._undone(error)
            if failure is error:
                raise
            raise failure from error
        return result

    def _lead(self) -> None:
        jobs = []
        while self._queue:
            jobs.append(self._queue.popleft())
        try:
            self._check_open()
            self._begin()
            self._run_together(jobs)
        except BaseException as error:
            failure = self._undone(error)
            for job in jobs:
                job.error = failure
                if isinstance(failure, errors.Corrupt) and not job.is_stuck:
                    job.error = UndoneWithOthers(str(failure))
            if not isinstance(failure, Exception):
                raise
        finally:
            for job in jobs:
                job.done = True

    def _undone(self, error: BaseException) -> BaseException:
        """Roll back after an error; returns the error to report."""
        self._roll_back()
        if isinstance(error, errors.OperationError | WouldStall):
            return error
        if isinstance(error, apsw.BusyError) and not may_wait():
            return WouldStall()
        self._forget_schema()
        return storage.translated(error, self.path) if isinstance(error, apsw.Error) else error

    def _begin(self) -> None:
        if self._is_read_only:
            raise errors.Full(
                f"{self.path}: the disk is full; nothing was written. Open the file again when "
                "there is room"
            )
        self._writer.begin_write()
        if self._writer.version() != self._version:
            self._forget_schema()
            self.foreign_commits += 1
            self._other_writers = _OTHERS_COMMITS
        elif self._other_writers:
            self._other_writers -= 1

    def _begin_group(self) -> None:
        try:
            self._check_open()
            self._begin()
        except BaseException:
            self._lock.release()
            raise
        self._gathering = threading.get_ident()

    def _take_back(self) -> None:
        self._roll_back()
        self._forget_schema()

    def _commit(self) -> None:
        self._writer.commit()
        self._version = self._writer.version()
        if self._watch is not None:
            # Acknowledge only now: a file that was deleted keeps nothing.
            self._watch.look()
        for tell in self._listeners:
            tell()

    def _roll_back(self) -> None:
        if self._closed:
            return
        self._writer.rollback()

    def _run_together(self, jobs: list[WriteJob[Any]]) -> None:
        for job in jobs:
            try:
                job.result = self._join(job.work, job.changes_last)
            except (apsw.Error, HalfDone):
                job.is_stuck = True
                raise
            except Exception as error:
                job.error = error
        self._commit()

    def _join(self, work: Callable[[Session], T], changes_last: bool) -> T:
        session = self._writer
        if not changes_last:
            session.guard()
        before = session.changes()
        try:
            result = work(session)
        except apsw.Error:
            raise
        except Exception as error:
            if not session.is_guarded and session.changes() != before:
                raise HalfDone(f"{self.path}: a write failed in the middle: {error!r}") from error
            session.take_back_guarded()
            raise
        session.keep_guarded()
        return result
