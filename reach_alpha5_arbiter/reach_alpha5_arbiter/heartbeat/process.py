"""A process as the kernel shows it, and how one is started under the eyes of this one."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Iterator, Sequence

from reach_alpha5_arbiter.heartbeat.core import Life, life_of, life_of_all

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
"""What `hold_signals` keeps for `next_signal`."""


def hold_signals() -> None:
    """Keep signals back until they are asked for; threads that start later keep them back too."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def next_signal(seconds: float) -> signal.struct_siginfo | None:
    """Return the next signal within a time [s], or None."""
    return signal.sigtimedwait(SIGNALS, max(0.0, seconds))


def start(command: Sequence[str]) -> int:
    """Start a command, found as a shell finds it; return its process id.

    It gets the same terminal, files and environment, and none of its signals is held back.

    Raises:
        OSError: it cannot be started.
    """
    return os.posix_spawnp(
        command[0],
        list(command),
        os.environ,
        setsigmask=(),
        # What Python ignores, the command would ignore too.
        setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
    )


class Watched:
    """A process that is watched.

    What is asked is about that very process, also when its number is given to another one later.

    Raises:
        ProcessLookupError: there is none of that number.
        OSError: the number is that of a thread, or this kernel does not tell what is asked.
    """

    def __init__(self, pid: int) -> None:
        with open("/proc/thread-self/children", encoding="ascii"):
            self._pid = pid
        self._handle = os.pidfd_open(pid)
        self._exit = self._poll()

    def _poll(self) -> select.poll:
        exited = select.poll()
        exited.register(self._handle, select.POLLIN)
        return exited

    def life(self) -> Life:
        """Return how it is with it and all that it has started."""
        life = life_of_all(_life(self._pid), map(_life, _descendants(self._pid)))
        # Asked last: while it has not ended, the number was its own all the time.
        if self._exit.poll(0):
            return Life.GONE
        # Its first thread has ended and others go on: it does not run as it should.
        return Life.STOPPED if life is Life.GONE else life

    def tell_when_gone(self) -> None:
        """Have SIGCHLD sent to this process when it ends, as a child's end does by itself."""
        exited = self._poll()  # one object serves one thread

        def wait() -> None:
            exited.poll()
            os.kill(os.getpid(), signal.SIGCHLD)

        threading.Thread(target=wait, name="process-end", daemon=True).start()


def _life(pid: int) -> Life:
    """Return how it is with one process alone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return life_of(file.read())
    except OSError:
        return Life.GONE


def _descendants(pid: int) -> Iterator[int]:
    """Yield the processes that a process, or one of these, has started and that are there."""
    children: list[int] = []
    with contextlib.suppress(OSError):  # it has just ended
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                children += map(int, file.read().split())
    for child in children:
        yield child
        yield from _descendants(child)
