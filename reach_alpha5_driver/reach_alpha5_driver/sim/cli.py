"""The command `alpha5-sim`."""

from __future__ import annotations

import argparse
import gc
import math
import signal
import sys
import time
from collections.abc import Sequence
from typing import NoReturn

from reach_alpha5_driver.sim.arguments import CommandError
from reach_alpha5_driver.sim.arm import STOWED, ArmConfig
from reach_alpha5_driver.sim.commands import ERROR
from reach_alpha5_driver.sim.control import ControlClient, ControlServer
from reach_alpha5_driver.sim.ids import AXES, Mode
from reach_alpha5_driver.sim.log import LogWriter
from reach_alpha5_driver.sim.ports import Port, PortError, PtyPort, TcpPort
from reach_alpha5_driver.sim.server import Server
from reach_alpha5_driver.sim.simulation import SimConfig, Simulation

MODES = {mode.name.lower().replace("_", "-"): mode for mode in Mode}

AXIS_DEVICES = {axis: device for device, axis in reversed(AXES.items())}
"""Axes in the order of the chain, with their device ids."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

EPILOG = """\
While it runs, `alpha5-sim ctl PATH COMMAND...` sends commands to its control socket; `help` lists
them. It prints "ready PORT" when PORT can be opened. Example:

  alpha5-sim --link /tmp/alpha5 --log /tmp/alpha5.log --control /tmp/alpha5.ctl
  alpha5-sim ctl /tmp/alpha5.ctl stall 3
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["ctl"]:
            return _control(given[1:])
        return _serve(_parser().parse_args(given))
    except KeyboardInterrupt:
        return INTERRUPTED
    except (PortError, CommandError) as error:
        print(f"alpha5-sim: {error}", file=sys.stderr)
        return 1
    except OSError as error:  # the log or standard output takes no more
        print(f"alpha5-sim: cannot go on: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alpha5-sim",
        description="Simulate a Reach Alpha 5 on a serial port, at the line's true pace.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--link", metavar="PATH", help="symbolic link to the pseudo-terminal")
    where.add_argument(
        "--tcp", metavar="PORT", type=_tcp_port,
        help="serve TCP on 127.0.0.1 instead of a pseudo-terminal; 0 = any free port",
    )  # fmt: skip
    parser.add_argument(
        "--log", metavar="FILE", help="write every byte and its time; empty: do not"
    )
    parser.add_argument("--control", metavar="PATH", help="Unix socket for commands; empty: none")
    parser.add_argument(
        "--seed", type=int, default=0, help="of faults and noise (default %(default)s)"
    )
    wiring = parser.add_mutually_exclusive_group()
    wiring.add_argument("--rs485", action="store_true", help="half duplex, with collisions")
    wiring.add_argument(
        "--rs232", dest="rs485", action="store_false", help="full duplex, the default"
    )
    parser.add_argument("--baud", type=_baud, default=115200, help="line rate (%(default)s)")
    parser.add_argument(
        "--initial-posture", metavar="E,D,C,B,A", type=_posture, default=dict(STOWED),
        help="where the joints start, rad and m (default 0.1,1.57,0.08,0,0.007)",
    )  # fmt: skip
    parser.add_argument(
        "--initial-mode", metavar="MODE", choices=MODES, default="standby",
        help=f"of all joints: {', '.join(MODES)} (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--limits", metavar="AXIS=LOW:HIGH", type=_limits, action="append", default=[],
        help="position limits in the electronics, rad and m, such as e=1.0:5.5; 0:0 = none",
    )  # fmt: skip
    parser.add_argument(
        "--velocity-limits", metavar="AXIS=LOW:HIGH", type=_limits_about_zero, action="append",
        default=[], help="velocity limits in the electronics, rad/s and m/s",
    )  # fmt: skip
    parser.add_argument(
        "--current-limits", metavar="AXIS=LOW:HIGH", type=_limits_about_zero, action="append",
        default=[], help="current limits in the electronics, A",
    )  # fmt: skip
    parser.add_argument(
        "--object-width", metavar="M", type=_not_negative,
        help="jaw position at which the jaws meet an object (default: no object)",
    )  # fmt: skip
    parser.add_argument(
        "--noise", metavar="LEVEL", type=_not_negative, default=0.0,
        help="noise on telemetry; 1 is a poor encoder (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--do", metavar="COMMAND", action="append", default=[],
        help="obey a command of the control socket before it starts, such as --do 'stall 3'",
    )  # fmt: skip
    parser.add_argument(
        "--end-with-stdin", action="store_true",
        help="end when standard input does: when what has started it has gone, killed or not",
    )  # fmt: skip
    return parser


def _serve(options: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, _leave)
    # A shell without job control starts its background jobs with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config = SimConfig(
        arm=ArmConfig(
            posture=options.initial_posture,
            position_limits=dict(options.limits),
            velocity_limits=dict(options.velocity_limits),
            current_limits=dict(options.current_limits),
            mode=MODES[options.initial_mode],
            object_width=options.object_width,
        ),
        baud=options.baud,
        half_duplex=options.rs485,
        seed=options.seed,
        noise=options.noise,
    )
    try:
        log = LogWriter(options.log) if options.log else None
    except OSError as error:
        raise PortError(f"cannot write the log {options.log}: {error.strerror}") from error
    port: Port = PtyPort(options.link) if options.tcp is None else TcpPort(options.tcp)
    try:
        control = ControlServer(options.control) if options.control else None
    except PortError:
        port.close()
        raise
    leash = sys.stdin.fileno() if options.end_with_stdin else None
    server = Server(Simulation(config, time.monotonic()), port, log, control, leash)
    try:
        for command in options.do:
            if (answer := server.execute(command)).startswith(ERROR):
                raise CommandError(f"--do {command!r}: {answer}")
        wiring = "RS-485, half duplex" if options.rs485 else "RS-232, full duplex"
        print(
            f"alpha5-sim: a Reach Alpha 5 at {options.baud} baud, {wiring}, seed {options.seed}",
            file=sys.stderr,
        )
        print(f"ready {port.name}", flush=True)
        gc.freeze()  # a full collection would hold the line up: the driver would be blamed
        try:
            server.serve()
        except (KeyboardInterrupt, SystemExit):
            server.linger()
            raise
        server.linger()
    finally:
        server.close()
    return 0


def _control(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="alpha5-sim ctl", description="Send one command to a running alpha5-sim."
    )
    parser.add_argument("path", help="its control socket")
    parser.add_argument("command", nargs="+", help="the command; `help` lists them")
    options = parser.parse_args(arguments)
    try:
        client = ControlClient(options.path)
        answer = client.command(" ".join(options.command))
    except OSError as error:
        raise PortError(f"{options.path}: {error}; is alpha5-sim running?") from error
    print(answer)
    return int(answer.startswith(ERROR))


def _leave(signum: int, frame: object) -> NoReturn:
    sys.exit(0)


def _tcp_port(text: str) -> int:
    port = _integer(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port}: a TCP port is 0 to 65535")
    return port


def _baud(text: str) -> int:
    baud = _integer(text)
    if baud <= 0:
        raise argparse.ArgumentTypeError(f"{baud}: a line rate is above 0")
    return baud


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number is needed") from None


def _finite(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r}: a finite number is needed")
    return value


def _not_negative(text: str) -> float:
    value = _finite(text)
    if value < 0.0:
        raise argparse.ArgumentTypeError(f"{text!r}: must not be negative")
    return value


def _posture(text: str) -> dict[int, float]:
    values = [_finite(part) for part in text.split(",")]
    if len(values) != len(AXIS_DEVICES):
        raise argparse.ArgumentTypeError(f"{text!r}: five numbers, for e,d,c,b,a")
    return dict(zip(AXIS_DEVICES.values(), values, strict=True))


def _limits(text: str) -> tuple[int, tuple[float, float]]:
    axis, _, bounds = text.partition("=")
    low, _, high = bounds.partition(":")
    if axis not in AXIS_DEVICES or not high:
        raise argparse.ArgumentTypeError(f"{text!r}: write AXIS=LOW:HIGH, such as e=1.0:5.5")
    limits = (_finite(low), _finite(high))
    if limits[0] > limits[1]:
        raise argparse.ArgumentTypeError(f"{text!r}: the lower limit comes first")
    return AXIS_DEVICES[axis], limits


def _limits_about_zero(text: str) -> tuple[int, tuple[float, float]]:
    device_id, (low, high) = _limits(text)
    if not low <= 0.0 <= high:
        raise argparse.ArgumentTypeError(f"{text!r}: zero must lie between")
    return device_id, (low, high)


if __name__ == "__main__":
    sys.exit(main())
