#!/usr/bin/env python3
"""`make view SIM=1`: the simulated stack, and the page that shows it, until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from stack import Stack


def main() -> int:
    """Run both and return the exit status of `alpha5-view`, which takes the arguments."""
    with (
        tempfile.TemporaryDirectory(prefix="alpha5_view_") as folder,
        Stack(Path(folder)) as stack,
    ):
        print(f"the simulated arm is in  ROS_DOMAIN_ID={stack.domain.number}", flush=True)
        view = subprocess.Popen(["alpha5-view", *sys.argv[1:]], env=dict(stack.environment))
        for number in (signal.SIGINT, signal.SIGTERM):
            # A terminal's Ctrl-C reaches the page's process as well; twice is once.
            signal.signal(number, lambda *_: view.send_signal(signal.SIGINT))
        return view.wait()


if __name__ == "__main__":
    sys.exit(main())
