"""What the benchmarks of one run share: the stack, how many samples to take, and how to speak."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import TracebackType

from benchmarks.rig import Rig


class Session:
    """One run. The stack is started for the first benchmark that needs it, and kept."""

    def __init__(self, folder: Path, quick: bool) -> None:
        """Run in `folder`; `quick` takes few samples, to see whether everything works."""
        self.folder = folder
        self.quick = quick
        self._rig: Rig | None = None
        self._exit = contextlib.ExitStack()

    def __enter__(self) -> Session:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the stack."""
        self._exit.close()

    def count(self, full: int, quick: int) -> int:
        """Return how many samples to take."""
        return quick if self.quick else full

    def say(self, text: str) -> None:
        """Tell the user how it goes."""
        print(text, flush=True)

    def rig(self) -> Rig:
        """Return the running stack, the arm deployed and still."""
        if self._rig is None:
            self.say("  starting the stack and deploying the simulated arm …")
            folder = self.folder / "rig"
            folder.mkdir(exist_ok=True)
            self._rig = self._exit.enter_context(Rig(folder))
        self._rig.settle()
        return self._rig
