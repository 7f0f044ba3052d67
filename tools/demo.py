"""The demo: a pad session drives the simulated arm through the real stack, and the bytes judge it.

Simulated arm, driver, arbiter and teleop run as processes of their own, from the launch file that
a drone uses. A recorded pad session is played to them. At the end the byte log of the simulated
arm says what happened in each phase; the exit status is 0 only if all of it was right.

Environment:
  HEADLESS=1  plain lines instead of the live view (also when stdout is no terminal)
  STAY=1      leave everything running afterwards, for your own pad and commands, until Ctrl-C
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from demo_judge import EXPECTED, Evidence, Fault, Finding, Window, judge
from demo_view import LiveView, PlainView, View
from rich.console import Console
from rich.table import Table
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import Joy
from stack import Client, Stack, await_ready

from reach_alpha5_motion.model import ArmModel

WORKSPACE = Path(__file__).resolve().parents[1]
SESSION = WORKSPACE / "examples" / "pad_session"
JOY_TOPIC = "/alpha5/joy"
PHASE_TOPIC = "/alpha5/session_phase"


class Interrupted(Exception):
    """The user asked to leave."""


def read_session(folder: Path) -> Iterator[tuple[float, str | Joy]]:
    """Yield (seconds since the start, name of the phase that begins, or frame of the pad)."""
    with AnyReader([folder]) as bag:
        for connection, stamp, data in bag.messages():
            message = bag.deserialize(data, connection.msgtype)
            at = (stamp - bag.start_time) / 1e9
            if connection.topic == PHASE_TOPIC:
                yield at, message.data
            elif connection.topic == JOY_TOPIC:
                yield at, Joy(axes=message.axes.tolist(), buttons=message.buttons.tolist())


ESTOP_NS = 500_000_000
"""An e-stop latches faults of its own; those that show so long before it [ns] are of it, too."""


class FaultWatch:
    """Notes each fault that the arbiter latches, but for those that come of an e-stop."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def look(self, arbiter: Any) -> None:
        """Take in the newest `arbiter_state`."""
        now = time.monotonic_ns()
        is_open = bool(self.faults) and self.faults[-1].end is None
        if arbiter.estop_latched:
            if is_open and now - self.faults[-1].begin < ESTOP_NS:
                self.faults.pop()
            return
        if arbiter.fault_latched and not is_open:
            causes = tuple(arbiter.fault_causes)
            self.faults.append(Fault(causes, now, None, os.getloadavg()[0]))
        elif is_open and not arbiter.fault_latched:
            self.faults[-1] = replace(self.faults[-1], end=now)


def play(client: Client, view: View, leave: threading.Event, watch: FaultWatch) -> list[Window]:
    """Play the session at its own pace and return when each phase was played."""
    begins: list[tuple[str, int]] = []
    start = time.monotonic()
    for at, item in read_session(SESSION):
        while (wait := start + at - time.monotonic()) > 0:
            view.update()
            watch.look(client.last("arbiter_state"))
            if leave.wait(min(wait, 0.05)):
                raise Interrupted
        if isinstance(item, str):
            begins.append((item, time.monotonic_ns()))
            view.phase(item, EXPECTED[item][0] if item in EXPECTED else "")
        else:
            item.header.stamp = client.node.get_clock().now().to_msg()
            client.joy.publish(item)
    ends = [begin for _, begin in begins[1:]] + [time.monotonic_ns()]
    return [Window(name, begin, end) for (name, begin), end in zip(begins, ends, strict=True)]


def fault_lines(faults: Sequence[Fault], windows: Sequence[Window]) -> Iterator[str]:
    """Yield what to know of the faults that latched."""
    for fault in faults:
        phase = next((w.phase for w in windows if w.begin <= fault.begin < w.end), "the start")
        yield (
            f"A FAULT latched {(fault.begin - windows[0].begin) / 1e9:.1f} s into the session, in "
            f"{phase}: {', '.join(fault.causes)}. "
            + ("It was reset later." if fault.end is not None else "It was not reset.")
        )
        yield (
            f"The load average was {fault.load:.1f} on {os.cpu_count()} processors: a machine "
            "that is busy with something else is the likely cause."
        )
    if faults:
        yield (
            "Under a latched fault nothing moves until a reset: what is not judged above is a "
            "consequence. Run the demo again when the machine is idle."
        )


def report(
    console: Console,
    rows: list[tuple[Window, str, Finding]],
    ready_after: float,
    faults: Sequence[Fault] = (),
) -> bool:
    """Print the table of what happened; return whether all of it was right."""
    table = Table("phase", "what must happen", "seen at the arm", "", title="What happened")
    for window, words, finding in rows:
        verdict = "[green]ok" if finding.ok else "[bold red]WRONG"
        if not finding.is_judged:
            verdict = "[yellow]not judged"
        table.add_row(window.phase, words, finding.seen, verdict)
    console.print(table)
    unjudged = sum(not finding.is_judged for _, _, finding in rows)
    wrong = sum(not finding.ok for _, _, finding in rows) - unjudged
    for line in fault_lines(faults, [window for window, _, _ in rows]):
        console.print(line, highlight=False, markup=False)
    console.print(
        f"Motion was possible {ready_after:.1f} s after the start. "
        + (
            f"{wrong} of {len(rows)} phases WENT WRONG"
            + (f", {unjudged} are not judged." if unjudged else ".")
            if wrong or unjudged
            else f"All {len(rows)} phases ok."
        )
    )
    return wrong + unjudged == 0


def stay(console: Console, stack: Stack, view: View, leave: threading.Event) -> None:
    """Keep everything running, and show it, until the user has had enough."""
    console.print(
        "\nEverything is left running; Ctrl-C ends it. In another terminal, in this folder:\n\n"
        f"  export ROS_DOMAIN_ID={stack.domain.number}\n"
        "  tools/run python3 YOUR_NODE.py\n"
        f"  tools/run alpha5-sim ctl {stack.control_path} help\n\n"
        f"A pad of yours publishes sensor_msgs/Joy on {JOY_TOPIC}, laid out as in\n"
        "reach_alpha5_teleop/profiles/xbox_game_controller.yaml. With ROS 2's joy:\n"
        "  ros2 run joy game_controller_node --ros-args -r __ns:=/alpha5\n"
        f"Every byte of the line: {stack.log_path}\n"
        f"What the nodes say: {stack.output_path}\n",
        highlight=False,
        soft_wrap=True,
    )
    view.phase("your turn", f"export ROS_DOMAIN_ID={stack.domain.number}")
    with view:
        while not leave.wait(0.05):
            view.update()


def run(console: Console, folder: Path, leave: threading.Event) -> int:
    """Bring the stack up, play, judge; return the exit status."""
    headless = os.environ.get("HEADLESS") == "1" or not console.is_terminal
    began = time.monotonic()
    with Stack(folder) as stack:
        client = Client(stack.domain.number)
        try:
            console.print("starting simulated arm, driver, arbiter and teleop …")
            await_ready(client, leave=leave)
            ready_after = time.monotonic() - began
            watch = FaultWatch()
            view = (PlainView if headless else LiveView)(console, client.last)
            with view:
                windows = play(client, view, leave, watch)
            evidence = Evidence(stack.wire(), ArmModel.from_urdf(stack.robot_description))
            right = report(
                console, judge(evidence, windows, watch.faults), ready_after, watch.faults
            )
            if os.environ.get("STAY") == "1":
                stay(console, stack, view, leave)
            return 0 if right else 1
        except TimeoutError as error:
            console.print(f"[red]{error}")
            console.print(stack.output(), highlight=False, markup=False)
            return 1
        finally:
            client.close()


def main() -> int:
    """Run the demo."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    leave = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        leave.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    console = Console(width=None if sys.stdout.isatty() else 120)
    with tempfile.TemporaryDirectory(prefix="alpha5_demo_") as folder:
        try:
            return run(console, Path(folder), leave)
        except Interrupted:
            console.print("interrupted")
            return 130


if __name__ == "__main__":
    sys.exit(main())
