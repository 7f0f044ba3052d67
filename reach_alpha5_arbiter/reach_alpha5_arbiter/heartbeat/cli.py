"""`alpha5-heartbeat`: makes a source of a program that sends no heartbeats."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence

from reach_alpha5_arbiter.arguments import topic_word
from reach_alpha5_arbiter.heartbeat.core import Life, Pulse, exit_code
from reach_alpha5_arbiter.heartbeat.process import Watched, hold_signals, next_signal, start

PERIOD = 0.1
"""Time [s] between two heartbeats: the arbiter's time-outs are several times as long."""

WRONG_USE = 2
"""Exit code when this command cannot begin, as `argparse` has it."""
CANNOT_RUN, NOT_FOUND = 126, 127
"""Exit codes when COMMAND cannot begin, as a shell has them."""

Say = Callable[[bool], None]

EPILOG = """\
While COMMAND runs, the arbiter takes SOURCE for present. When it ends, is killed or is stopped,
SOURCE is gone at once and the arm stops; when it is continued, SOURCE is back, and has to be
neutral first. A process that COMMAND has started and that is stopped counts as well; one that
has ended does not, so name the program itself, or `ros2 run`, which ends with it. `ros2 launch`
lives on when a node of it dies.

What is not noticed: a COMMAND that lives and hangs, or that a control group freezes. Nobody can
see from outside whether a process hangs or waits. So what it asks for should end by itself: a
twist has a lifetime, a goal its duration. A program that can send heartbeats itself should do
so, from the loop that must not hang.

SIGINT, SIGTERM and SIGHUP are passed on to COMMAND, and its exit code is that of this command
(128 and the signal's number when a signal has killed it). With --pid these signals end this
command alone, and SOURCE is gone.

  alpha5-heartbeat planner -- ros2 run moveit_ros_move_group move_group ...
  alpha5-heartbeat app --namespace left -- ros2 topic pub -r 10 /left/app/twist ...
  alpha5-heartbeat planner --pid 4711
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    own, command = split(words)
    # Before there are other threads, which would take signals and be ended by them; and what is
    # imported for ROS starts some.
    hold_signals()
    from reach_alpha5_arbiter.heartbeat.heart import Heart, ros, without_ros

    parser = _parser()
    try:
        options = parser.parse_args(without_ros(own))
        if bool(command) is (options.pid is not None):
            parser.error("give either -- COMMAND, or --pid of a process that runs")
        with ros(own):
            heart = Heart(options.source, options.namespace, options.client_id)
            try:
                if command:
                    return _run(heart.say, command)
                return _accompany(heart.say, options.pid)
            finally:
                heart.close()
    except RuntimeError as error:
        print(f"alpha5-heartbeat: {error}", file=sys.stderr)
        return WRONG_USE


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words before the first `--`, and those after it."""
    end = words.index("--") if "--" in words else len(words)
    return list(words[:end]), list(words[end + 1 :])


def _run(say: Say, command: Sequence[str]) -> int:
    """Run a command with heartbeats; return its exit code."""
    try:
        child = start(command)
    except OSError as error:
        print(f"alpha5-heartbeat: cannot run {command[0]}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_RUN

    def pass_on(got: signal.struct_siginfo) -> bool:
        # What a terminal sends, it has sent to the command as well: twice would be in a hurry.
        if got.si_code <= 0:
            os.kill(child, got.si_signo)
        return True

    beat(say, Watched(child), pass_on)
    _, status = os.waitpid(child, 0)
    return exit_code(os.waitstatus_to_exitcode(status))


def _accompany(say: Say, pid: int) -> int:
    """Send heartbeats for a process that runs already; return the exit code."""
    try:
        watched = Watched(pid)
    except OSError as error:
        print(f"alpha5-heartbeat: cannot watch process {pid}: {error.strerror}", file=sys.stderr)
        return WRONG_USE
    watched.tell_when_gone()
    beat(say, watched, lambda got: False)
    return 0


def beat(say: Say, watched: Watched, obey: Callable[[signal.struct_siginfo], bool]) -> None:
    """Send heartbeats until the process is gone, or a signal ends it; the last says so.

    Args:
        say: sends one, that says whether the source is present.
        watched: for whom.
        obey: is given each signal that comes; returns whether to go on.
    """
    pulse = Pulse(PERIOD)
    going_on = True
    while True:
        life = watched.life() if going_on else Life.GONE
        present = pulse.beat(life, time.monotonic())
        if present is not None:
            say(present)
        if life is Life.GONE:
            return
        got = next_signal(pulse.due - time.monotonic())
        if got is not None and got.si_signo != signal.SIGCHLD:
            going_on = obey(got)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alpha5-heartbeat",
        usage="%(prog)s SOURCE [options] (-- COMMAND ... | --pid PID)",
        description="Send the heartbeats of a source of the arbiter while a program runs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "source", metavar="SOURCE", type=topic_word, help="as in the arbiter's parameter `sources`"
    )
    parser.add_argument("--pid", type=_number, help="of a process that runs already")
    parser.add_argument(
        "--namespace",
        type=_namespace,
        default="alpha5",
        help="of the arbiter (%(default)s); --ros-args -r __ns:=/NAME does as well",
    )
    parser.add_argument(
        "--client-id",
        default="",
        metavar="ID",
        help="for a program that calls the arbiter's services, which want it; else made up",
    )
    return parser


def _namespace(text: str) -> str:
    for part in text.strip("/").split("/"):
        topic_word(part)
    return text


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no process id")
    return int(text)
