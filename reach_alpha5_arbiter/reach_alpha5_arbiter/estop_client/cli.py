"""`alpha5-estop`: a terminal that is an e-stop. A software stop. Not safety-rated."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence

import rclpy
from rclpy.exceptions import InvalidNamespaceException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from reach_alpha5_arbiter.arguments import topic_word
from reach_alpha5_arbiter.endpoint import EndpointState
from reach_alpha5_arbiter.estop_client.keyboard import Key, Keyboard
from reach_alpha5_arbiter.estop_client.node import EStopClient
from reach_alpha5_arbiter.estop_client.status import Seen, status_line, unknown_endpoint
from reach_alpha5_common.command import StopLevel
from reach_alpha5_msgs.msg import ArbiterState

LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

LEVELS = {"cut": StopLevel.CUT, "settle_then_cut": StopLevel.SETTLE_THEN_CUT}

LOOP_PERIOD = 0.05
"""Longest time [s] between two looks at the keyboard."""

STATE_TIMEOUT = 1.0
"""Silence [s] of the arbiter's state after which it is not heard."""

WRONG_USE = 2
"""Exit code when the command cannot begin, as `argparse` has it."""

EPILOG = """\
A software stop. Not safety-rated: it goes through programs and a network.

While this command runs, it checks in for the endpoint, and the arm may move. It stops the arm, and
an e-stop latches, when a key is pressed, when the command ends, hangs or is killed, and when its
terminal or the network is gone.

  space, Enter, any other key   STOP
  c                             withdraw the objection; the latch stays until `reset` is called
  q, Ctrl-C                     leave: this stops the arm

Without a terminal each line of standard input is a key: a line `c` or `q`, and any other one is a
STOP. Its end is q, so that the arm stops when what writes it is gone. Examples:

  alpha5-estop bridge
  alpha5-estop deck --level settle_then_cut --namespace drone2/alpha5
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    if sys.stdin is None:
        print("alpha5-estop: standard input is closed: nobody could press STOP", file=sys.stderr)
        return WRONG_USE
    leave = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: leave.set())
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        try:
            node = Node(f"estop_{options.name}", namespace=options.namespace)
        except InvalidNamespaceException as error:
            print(f"alpha5-estop: --namespace: {error}", file=sys.stderr)
            return WRONG_USE
        desk = Desk(node, options.name, LEVELS[options.level])
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        done: Future[None] = Future()
        spin = threading.Thread(
            target=executor.spin_until_future_complete, args=(done,), daemon=True
        )
        spin.start()
        try:
            return desk.run(leave.is_set)
        finally:
            desk.leave()
            done.set_result(None)
            spin.join()
            desk.close()
            executor.shutdown()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


class Desk:
    """The person's side: keys in, one line of state out.

    Its loop is what must not hang: it alone feeds the endpoint.
    """

    def __init__(self, node: Node, name: str, level: StopLevel) -> None:
        self._name = name
        self._level = level
        self._client = EStopClient(node, name)
        self._state: tuple[Seen, float] | None = None
        self._refused = False
        self._shown = ""
        self._is_terminal = False
        self._is_unseen = False
        node.create_subscription(ArbiterState, "arbiter_state", self._on_state, LATEST)

    def run(self, is_over: Callable[[], bool]) -> int:
        """Check in until somebody leaves, or `is_over`; return the exit code."""
        with Keyboard(sys.stdin.fileno()) as keyboard:
            self._is_terminal = keyboard.is_terminal and sys.stdout.isatty()
            self._tell("space or Enter = STOP, c = withdraw it, q = leave, which stops the arm")
            while not (is_over() or self._is_unseen):
                self._client.feed()
                seen = self._seen()
                if seen is not None and (problem := unknown_endpoint(self._name, seen)):
                    self._refused = True
                    self._end_line()
                    print(f"alpha5-estop: {problem}", file=sys.stderr)
                    return WRONG_USE
                self._show(status_line(self._name, seen))
                for key in keyboard.read(LOOP_PERIOD):
                    if key is Key.LEAVE:
                        return 0
                    self._obey(key)
        return 0

    def leave(self) -> None:
        """Say a stop as the last word, unless no arbiter waits for this endpoint."""
        if not self._refused:
            self._client.press(self._level, f"{self._name} left")
            self._tell(
                "left: a stop was sent, but the arbiter is not heard"
                if self._seen() is None
                else "left: the arm is stopped; it needs this endpoint again, and a `reset`"
            )

    def close(self) -> None:
        """Be gone, when nothing spins the node any more."""
        self._client.close()

    def _obey(self, key: Key) -> None:
        if key is Key.STOP:
            self._client.press(self._level, f"pressed at {self._name}")
            self._tell(f"STOP ({self._level.name})")
        else:
            self._client.release()
            self._tell("withdrawn; call `reset` to clear the latch")

    def _on_state(self, message: ArbiterState) -> None:
        seen = Seen(
            {each.name: EndpointState(each.state) for each in message.estop_endpoints},
            StopLevel.of(message.estop_level) if message.estop_latched else StopLevel.NONE,
            message.estop_source,
            message.estop_reason,
            tuple(message.fault_causes),
            message.owner,
        )
        self._state = seen, time.monotonic()

    def _seen(self) -> Seen | None:
        if self._state is None or time.monotonic() - self._state[1] > STATE_TIMEOUT:
            return None
        return self._state[0]

    def _show(self, line: str) -> None:
        """Show a line in the place of the one before; without a terminal, if it is another one."""
        if line == self._shown:
            return
        self._shown = line
        if self._is_terminal:
            line = f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}"
        self._print(line, end="" if self._is_terminal else "\n")

    def _tell(self, line: str) -> None:
        """Print a line that stays."""
        self._end_line()
        self._print(line)

    def _end_line(self) -> None:
        if self._is_terminal and self._shown:
            self._print("")
        self._shown = ""

    def _print(self, line: str, end: str = "\n") -> None:
        try:
            print(line, end=end, flush=True)
        except OSError:  # nobody sees any more what this e-stop does: it leaves
            self._is_unseen = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alpha5-estop",
        description="Be an e-stop endpoint: the arm may move only while this command checks in.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "name",
        metavar="NAME",
        type=topic_word,
        help="of the endpoint, one of the arbiter's parameter `estop_endpoints`",
    )
    parser.add_argument(
        "--level",
        choices=LEVELS,
        default="cut",
        help="how far a STOP goes: each stops all joints at once; cut drops the motors' power at "
        "once, settle_then_cut once they rest (default %(default)s)",
    )
    parser.add_argument(
        "--namespace",
        default="alpha5",
        help="of the arbiter (default %(default)s)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
