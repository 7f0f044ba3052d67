"""`alpha5-wire info`: ask an arm what it is. It only asks: nothing moves or changes.

One question is on the line at a time, so that it does for RS-232 and RS-485.
"""

from __future__ import annotations

import argparse
import json
import math
import select
import sys
import time
from collections import deque
from pathlib import Path

from reach_alpha5_driver.cli.report import as_json, as_text
from reach_alpha5_driver.comparison import ExpectedArm, Mismatch, mismatches, outside_limits
from reach_alpha5_driver.devices import BY_ID, DEVICES
from reach_alpha5_driver.identification import (
    QUESTIONS,
    Identification,
    IdentificationConfig,
    Question,
)
from reach_alpha5_driver.identity import JointRanges
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import PacketError, PacketId, Request, encode, parse
from reach_alpha5_driver.transport.base import LineLost, OpenError, Transport
from reach_alpha5_driver.transport.serial import open_serial

TIMEOUT = 5.0
"""[s] A healthy arm has told all within half a second; giving an answer up takes 2 s."""

ANSWER_TIME = 0.1
"""[s] After that a question counts as not answered, and the next one is asked."""

PROGRESS_PERIOD = 0.1
"""[s] Between two looks of the progress line."""

ASKED = (*QUESTIONS, Question(PacketId.POSITION, tolerance=0.05))

DESCRIPTION = """\
Ask every device of an arm for its model, serial number, firmware, mode, limits and climate, and
show the answers, beside where they differ from a robot description. Requests are all that is sent:
nothing moves and nothing is changed. The driver must not run: two programs cannot share a port.
Exit status 0 if all five devices answered, 1 if not.
"""

EXAMPLES = """\
examples:
  alpha5-wire info /dev/ttyUSB0
  alpha5-wire info /dev/ttyUSB0 --json
  alpha5-wire info socket://192.168.2.15:4001 --description drone.urdf
"""

NO_BYTES = """\
Nothing came back. Look at the arm's supply (is it on?), the cable and its connectors, whether the
adapter is of the arm's kind (RS-232 or RS-485) with its wires the right way round, and --baud."""

NO_FRAMES = """\
Bytes came, but no whole frame among them. Look at --baud, at the adapter's kind (RS-232 or RS-485)
and wires, and whether something else speaks on the line."""

SOME_SILENT = """\
Look at the connectors on the way to the joints that are missing, and whether the line loses frames
(`alpha5-wire sniff`). A device that stays silent alone needs service."""


class DescriptionError(Exception):
    """The robot description cannot be read; the text says what to do."""


class Survey:
    """Questions and answers of one identification over an open line."""

    def __init__(self, line: Transport) -> None:
        """Ask over `line`."""
        self.identification = Identification(IdentificationConfig(), ASKED)
        self.decoder = StreamDecoder()
        self._line = line
        self._questions: deque[tuple[int, tuple[int, ...]]] = deque()
        self._awaited: set[tuple[int, int]] = set()
        self._ask_after = -math.inf

    def run(self, timeout: float, *, progress: bool) -> None:
        """Ask until all is known or `timeout` seconds are over.

        Raises:
            LineLost: the line is gone.
        """
        now = time.monotonic()
        end = now + timeout
        self.identification.start(now)
        while not self.identification.complete and now < end:
            self._ask(now)
            if progress:
                _show(self.identification, end - now)
            wake = min(end, now + PROGRESS_PERIOD)
            wake = min(wake, self._ask_after if self._awaited else self.identification.next_time())
            if select.select([self._line.fileno()], [], [], max(0.0, wake - now))[0]:
                self._take(self._line.read())
            now = time.monotonic()

    def _ask(self, now: float) -> None:
        """Put the next question on the line, if the last one is over."""
        if self._awaited and now < self._ask_after:
            return
        self._awaited.clear()
        if not self._questions:
            self._questions.extend(self.identification.asks(now))
        if self._questions:
            device_id, packet_ids = self._questions.popleft()
            self._awaited = {(device_id, packet_id) for packet_id in packet_ids}
            self._ask_after = now + ANSWER_TIME
            self._write(encode(Request(device_id, packet_ids)), self._ask_after)

    def _write(self, data: bytes, end: float) -> None:
        """Write as much as the line takes until `end`; a question that is cut is asked again."""
        while data and (left := end - time.monotonic()) > 0.0:
            data = data[self._line.write(data) :]
            if data:
                select.select([], [self._line.fileno()], [], left)

    def _take(self, data: bytes) -> None:
        now = time.monotonic()
        for event in self.decoder.receive(data):
            if not isinstance(event, Frame) or event.device_id not in BY_ID:
                continue
            self._awaited.discard((event.device_id, event.packet_id))
            index = BY_ID[event.device_id].index
            try:
                self.identification.on_packet(index, parse(event), now)
            except PacketError as error:
                self.identification.on_refused(index, event.packet_id, error.reason, now)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser], baud: int) -> None:
    """Add the command to `alpha5-wire`; `baud` is the default rate."""
    info = commands.add_parser(
        "info",
        help="ask an arm what it is; changes nothing",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    info.add_argument("port", metavar="PORT", help="device, or a pyserial URL (socket://…)")
    info.add_argument("--baud", type=int, default=baud, help="baud rate (%(default)s)")
    info.add_argument(
        "--timeout",
        type=_seconds,
        default=TIMEOUT,
        metavar="S",
        help="longest time to wait for answers, in seconds (%(default)s)",
    )
    info.add_argument("--json", action="store_true", help="print one JSON object")
    info.add_argument(
        "--description",
        metavar="FILE",
        help="expanded URDF (`xacro drone.urdf.xacro > FILE`) to compare the limits with",
    )
    info.add_argument("--prefix", default="", help="of the arm's joints in the description (none)")
    info.set_defaults(run=run_info)


def run_info(args: argparse.Namespace) -> int:
    """Ask, and print what was answered; 1 if a device has not said what the driver needs."""
    try:
        ranges = description_ranges(args.description, args.prefix) if args.description else None
        line = open_serial(args.port, args.baud)
    except (DescriptionError, OpenError) as error:
        print(f"alpha5-wire: {error}", file=sys.stderr)
        return 1
    survey = Survey(line)
    progress = sys.stderr is not None and sys.stderr.isatty()
    try:
        survey.run(args.timeout, progress=progress)
    except LineLost as error:
        print(f"alpha5-wire: {args.port} was lost: {error}; plug it in again", file=sys.stderr)
        return 1
    finally:
        line.close()
        if progress:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    found = compare(survey.identification, ranges)
    missing = survey.identification.missing()
    if args.json:
        head = {
            "port": args.port,
            "description": args.description,
            "missing": list(missing),
            "bytes": survey.decoder.counters.bytes,
            "frames": survey.decoder.counters.frames,
            "damaged": survey.decoder.counters.damaged,
        }
        body = as_json(survey.identification.identity, found)
        print(json.dumps(head | body, allow_nan=False), flush=True)
    elif survey.decoder.counters.frames:
        print(as_text(survey.identification.identity, found))
        if ranges is None:
            print("\nnot compared with a robot description: none was given (--description FILE)")
        sys.stdout.flush()
    if missing:
        print(f"alpha5-wire: {advice(survey)}", file=sys.stderr)
    return int(bool(missing))


def compare(identification: Identification, ranges: JointRanges | None) -> list[Mismatch]:
    """Return what is not as it should be, the gravest first."""
    identity = identification.identity
    positions = [said.position for said in identity.devices]
    return [
        *mismatches(identity, ExpectedArm(), ranges),
        *outside_limits(identity, positions),
    ]


def advice(survey: Survey) -> str:
    """Return what is missing and what to do about it."""
    missing = survey.identification.missing()
    counters = survey.decoder.counters
    ids = {device.joint: f"{device.joint} (device {device.id})" for device in DEVICES}
    told = ", ".join(ids.get(name, name) for name in missing)
    if not counters.bytes:
        return f"no answer from the arm.\n{NO_BYTES}"
    if not counters.frames:
        return f"no answer from the arm that can be read.\n{NO_FRAMES}"
    return f"no answer to what the driver must know: {told}.\n{SOME_SILENT}"


def description_ranges(path: str, prefix: str) -> JointRanges:
    """Return the limits in the expanded URDF at `path`.

    Raises:
        DescriptionError: it cannot be read, or is not one of this arm.
    """
    # Only here, for it takes longer to load than all the rest of the tool.
    from reach_alpha5_motion.model import ArmModel, ModelError

    try:
        limits = ArmModel.from_urdf(Path(path).read_text(encoding="utf-8"), prefix).limits
    except (OSError, UnicodeDecodeError, ModelError) as error:
        raise DescriptionError(
            f"{path}: {error}; give the expanded URDF, and --prefix if its joints have one"
        ) from error
    return JointRanges(limits.lower.tolist(), limits.upper.tolist(), limits.velocity.tolist())


def _show(identification: Identification, left: float) -> None:
    known = sum(said.identified for said in identification.identity.devices)
    text = f"asking … {known} of {len(DEVICES)} devices known, at most {left:.0f} s more"
    print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: a number of seconds above 0 is needed")
    return value
