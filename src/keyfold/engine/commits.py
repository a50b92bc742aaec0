"""Who may use which connection: writers one after another in group commits, readers beside them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from keyfold import errors
from keyfold.engine import storage
from keyfold.engine.forks import left_behind, open_here
from keyfold.engine.item_cache import HotItems
from keyfold.engine.lane import LOOP_LOCK_SECONDS, WouldStall, may_wait
from keyfold.engine.session_loans import SessionLender
from keyfold.engine.storage import Session
from keyfold.engine.write_job import Bystander, HalfDone, WriteJob

if TYPE_CHECKING:
    from keyfold.engine.storage.watch import FileWatch

T = TypeVar("T")

_LOOK_SECONDS = 1.0
# Long enough for a thread that waits to wake up.
_GIVEN_SECONDS = 0.0002


class Commits:
    """One file's connections.

    A writer puts its job into the queue and then takes the lock. Whoever gets the lock runs all
    jobs that wait, each so that it can be taken back alone, and commits once for all of them; the
    others find their job done when they get the lock in turn. A lone writer never changes threads.
    """

    def __init__(
        self,
        path: str,
        durability: str,
        forget_schema: Callable[[], None],
        hot: HotItems | None,
    ) -> None:
        self.path = path
        self._durability = durability
        self._forget_schema = forget_schema
        self._hot = hot
        self._writer = Session(storage.connect(path, durability, is_first=True))
        self._version = self._writer.version()
        self._lock = threading.Lock()
        self._queue: deque[WriteJob[Any]] = deque()
        self._in_memory = path == ":memory:"
        self._watch: FileWatch | None = None
        self._look_at = 0.0
        """When reads look at the file again."""
        self._readers: deque[Session] = deque()
        self._closed = self._is_forked = False
        self._has_company = False
        """Whether another process was seen to write to this file."""
        self._gathering = 0
        """The thread whose writes join the transaction, if there is one."""
        self._listeners: tuple[Callable[[], None], ...] = ()
        if not self._in_memory:
            from keyfold.engine.storage.watch import FileWatch

            self._watch = FileWatch(path)
            open_here.add(self)
        self._waiting = 0
        """How many threads wait for the lock, as far as can be seen without one."""

    def write(self, work: Callable[[Session], T], *, changes_last: bool = False) -> T:
        """Run `work` in a transaction; returns after the commit.

        Work that `changes_last` fails before its first change, if it does, or guards its changes
        itself: nobody else has to, for the sake of the others in the transaction.
        """
        if self._gathering == threading.get_ident():
            return self._join(work, changes_last)
        if not self._queue and self._lock.acquire(blocking=False):
            try:
                return self._alone(work)
            finally:
                self._lock.release()
        if not may_wait():
            self._wait()
            try:
                return self._alone(work)
            finally:
                self._lock.release()
        job = WriteJob(work, changes_last)
        self._queue.append(job)
        with self._lock:
            if not job.done:
                self._lead()
            if isinstance(job.error, Bystander):
                return self._alone(work)
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[no-any-return]

    def start(self) -> None:
        """Begin a transaction that the writes of this thread join until it says `gathered`.

        `finish` commits it, in whatever thread that is called; `abandon` takes all of it back. A
        write that fails takes back only itself.
        """
        self._wait()
        self._begin_group()

    def start_at_once(self) -> bool:
        """The same, if nobody has to be waited for; whether it is so."""
        if not self.is_free() or not self._lock.acquire(blocking=False):
            return False
        try:
            self._begin_group()
        except apsw.BusyError:
            return False
        return True

    @property
    def shares_connection(self) -> bool:
        """Whether readers and writers have one connection, as in memory."""
        return self._in_memory

    def is_free(self) -> bool:
        """Whether nobody writes at the moment, as far as can be seen without trying."""
        return not (self._has_company or self._queue or self._lock.locked())

    def gathered(self) -> None:
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
        """A session to read with; every statement sees the last commit before it."""
        return SessionLender(self)

    def take(self) -> Session:
        """The writer's session while nobody writes, for its warm cache; else one of the pool."""
        if self._gathering == threading.get_ident():
            return self._writer
        if self._watch is not None and (now := monotonic()) >= self._look_at:
            self._watch.look()
            self._look_at = now + _LOOK_SECONDS
        # Readers in a hurry would otherwise keep a waiting writer from the lock.
        if self._queue and not self._in_memory:
            return self._session_from_pool()
        if not self._lock.acquire(blocking=False):
            if not self._in_memory:
                return self._session_from_pool()
            self._wait()
        if self._closed:
            self._lock.release()
            self._check_open()
        return self._writer

    def give_way(self, session: Session) -> None:
        """Let others have the session if they wait for it; no statement may be under way."""
        if (self._waiting or self._queue) and self._is_shared(session):
            self._lock.release()
            time.sleep(_GIVEN_SECONDS)
            self._wait()

    def let_others(self) -> None:
        """Between two writes of long work: whoever waits comes first."""
        if self._waiting or self._queue:
            time.sleep(_GIVEN_SECONDS)

    def lend(self, session: Session) -> None:
        """Let others have a session that was taken, until it is taken again."""
        if self._is_shared(session):
            self._lock.release()

    def take_again(self, session: Session) -> None:
        if self._is_shared(session):
            self._wait()

    def _is_shared(self, session: Session) -> bool:
        """Whether others could want it, and it would come back."""
        return session is self._writer and self._gathering != threading.get_ident() and may_wait()

    def _wait(self) -> None:
        """Wait for the lock; on an event loop for a moment only."""
        self._waiting += 1
        try:
            if may_wait():
                self._lock.acquire()
            elif not self._lock.acquire(timeout=LOOP_LOCK_SECONDS):
                raise WouldStall
        finally:
            self._waiting -= 1

    def _session_from_pool(self) -> Session:
        try:
            return self._readers.pop()
        except IndexError:
            self._check_open()
            return Session(storage.connect(self.path, self._durability))

    def put_back(self, session: Session) -> None:
        if session is not self._writer:
            self._readers.append(session)
            if self._closed:
                self._close_readers()
        elif self._gathering != threading.get_ident():
            self._lock.release()

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """A session all of whose statements see the same commit; it may last."""
        if self._in_memory or self._gathering == threading.get_ident():
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
        """Call `tell` after each commit of this process, until the result is called."""
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
            if self._hot is not None:
                self._hot.close()
            self._close_readers()
            self._writer.connection.close()

    def _close_readers(self) -> None:
        while self._readers:
            self._readers.pop().connection.close()

    def leave_behind(self) -> None:
        """This is a child of the process that opened the file: SQLite cannot be used in it.

        Its connections are kept as they are: to close them would touch the locks of the parent.
        """
        left_behind.extend((self._writer, *self._readers))
        self._lock, self._gathering, self._readers = threading.Lock(), 0, deque()
        self._queue.clear()
        self._closed = self._is_forked = True

    def _check_open(self) -> None:
        if self._is_forked:
            raise errors.StorageError(
                f"{self.path} was opened before this process was forked; open it after the fork"
            )
        if self._closed:
            raise errors.StorageError(f"{self.path}: the engine is closed")

    def _alone(self, work: Callable[[Session], T]) -> T:
        """The way of a writer that nobody keeps waiting."""
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
                    job.error = Bystander(str(failure))
            if not isinstance(failure, Exception):
                raise
        finally:
            for job in jobs:
                job.done = True

    def _undone(self, error: BaseException) -> BaseException:
        """Take back the transaction that an error ended; the error to tell."""
        self._roll_back()
        if isinstance(error, errors.OperationError | WouldStall):
            return error
        if isinstance(error, apsw.BusyError) and not may_wait():
            return WouldStall()
        self._forget_schema()
        return storage.translated(error, self.path) if isinstance(error, apsw.Error) else error

    def _begin(self) -> None:
        self._writer.begin_write()
        if self._hot is not None:
            self._hot.begin()
        if self._writer.version() != self._version:
            self._forget_schema()
            self._has_company = True

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
        if self._hot is not None:
            self._hot.end()
        self._version = self._writer.version()
        if self._watch is not None:
            # Only then is it acknowledged: a file that nobody finds any more keeps nothing.
            self._watch.look()
        for tell in self._listeners:
            tell()

    def _roll_back(self) -> None:
        if self._closed:
            return
        self._writer.rollback()
        if self._hot is not None:
            self._hot.end()

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
