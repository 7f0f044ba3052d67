"""`alpha5-wire`: look at the arm's serial bytes, and make some, at a desk.

It moves nothing: `encode` prints, `sniff` only reads, `info` sends nothing but requests.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import serial

from reach_alpha5_driver.cli.compose import (
    RECIPES,
    ComposeError,
    Recipe,
    device_of,
    never_sent,
)
from reach_alpha5_driver.cli.describe import Description, describe, refusal
from reach_alpha5_driver.cli.info import add_parser as add_info_parser
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import PacketError

BAUD_RATE: Final = 115200
READ_TIMEOUT: Final = 0.2
"""[s] Only bounds how long a read holds back a Ctrl-C on platforms that cannot interrupt it."""

INTERRUPTED: Final = 130

EXAMPLES: Final = """\
examples:
  alpha5-wire decode 010101010502ff085000
  alpha5-wire decode 0x06 0x03 0x60 0x01 0x05 0x52 0x00
  alpha5-wire decode - < capture.txt
  alpha5-wire encode velocity --device axis_e 0.1
  alpha5-wire encode velocity --device axis_a -0.001
  alpha5-wire encode request --device 3 position velocity
  alpha5-wire encode mode --device all standby
  alpha5-wire encode stop
  alpha5-wire sniff /dev/ttyUSB0
  alpha5-wire sniff socket://192.168.2.15:4001
"""

_SEPARATORS: Final = re.compile(r"[\s,:;]+")
_NEGATIVE: Final = re.compile(r"-[.\d]")


class PortError(Exception):
    """The port could not be opened, or was lost."""


def hex_bytes(text: str) -> bytes:
    """Return the bytes that hex text means: with or without spaces, commas, colons and `0x`.

    Raises:
        ValueError: it is not hex, or has half a byte.
    """
    data = bytearray()
    for word in _SEPARATORS.split(text.strip()):
        digits = word.lower().removeprefix("0x")
        if word and not digits:
            raise ValueError("0x without digits")
        # One digit alone is a byte; any other odd number has lost half of one.
        data += bytes.fromhex(f"0{digits}" if len(digits) == 1 else digits)
    return bytes(data)


def decode_texts(texts: Iterable[str]) -> Iterator[Description]:
    """Yield one description per frame, or refusal, of hex texts that are one byte stream.

    The last frame may lack its terminator.
    """
    decoder = StreamDecoder()
    nothing = True
    for text in texts:
        try:
            data = hex_bytes(text)
        except ValueError as error:
            nothing = False
            yield refusal("bad_hex", f"{text.strip()[:80]!r}: {error}")
            continue
        for event in decoder.receive(data):
            nothing = False
            yield describe(event)
    for event in decoder.receive(b"\0"):
        nothing = False
        yield describe(event)
    if nothing:
        yield refusal("too_short", "no bytes to decode")


def run_decode(args: argparse.Namespace) -> int:
    """Print what the given hex says; 1 if any of it was refused."""
    texts: Iterable[str] = args.hex
    if args.hex == ["-"]:
        # A closed standard input is None, and holds nothing.
        lines: Iterable[bytes] = sys.stdin.buffer if sys.stdin is not None else ()
        texts = (line.decode("ascii", "replace") for line in lines)
    refused = False
    for line in decode_texts(texts):
        refused |= "refused" in line
        _print_json(line)
    return int(refused)


def run_encode(args: argparse.Namespace) -> int:
    """Print the bytes of a packet in hex; 1 if it was refused."""
    recipe: Recipe = args.recipe
    try:
        device = device_of(args.device.strip()) if recipe.needs_device else 0
        wire = recipe.make(device, [word.strip() for word in args.words])
    except (ComposeError, PacketError) as error:
        print(f"alpha5-wire: refused: {error}", file=sys.stderr)
        return 1
    print(wire.hex(), flush=True)
    return 0


def read_port(url: str, baud_rate: int) -> Iterator[bytes]:
    """Yield what arrives at a port, for ever. Never writes.

    Raises:
        PortError: the port cannot be opened, or was lost.
    """
    try:
        with serial.serial_for_url(url, baudrate=baud_rate, timeout=READ_TIMEOUT) as port:
            while True:
                yield port.read(max(1, port.in_waiting))
    except (OSError, ValueError, OverflowError) as error:
        raise PortError(f"{url}: {error}") from error


def run_sniff(args: argparse.Namespace) -> int:
    """Print each frame that arrives at a port, until Ctrl-C; 1 if the port is lost."""
    decoder = StreamDecoder()
    try:
        for data in read_port(args.port, args.baud):
            for event in decoder.receive(data):
                _print_json({"time_s": round(time.time(), 6)} | describe(event))
    except KeyboardInterrupt:
        return 0
    except PortError as error:
        print(f"alpha5-wire: {error}", file=sys.stderr)
        return 1
    return 0


def _print_json(line: Description) -> None:
    print(json.dumps(line), flush=True)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="alpha5-wire",
        description="Decode, encode and watch the serial protocol of the Reach Alpha 5. "
        "Nothing is sent to an arm but the questions of `info`.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    decode = commands.add_parser(
        "decode",
        help="print one JSON object per frame in the given hex",
        description="Print one JSON object per frame, values in SI units; or why it is refused. "
        "All arguments are one stream of bytes; the last 00 may be left out. "
        "Exit status 1 if anything was refused.",
    )
    decode.add_argument("hex", nargs="+", metavar="HEX", help="hex bytes, or - for standard input")
    decode.set_defaults(run=run_decode)

    encode = commands.add_parser(
        "encode",
        help="print the bytes of a packet as hex",
        description="Print the bytes of a packet as hex, from values in SI units: "
        "rad, rad/s, A; for the jaws (axis_a) m, m/s.",
    )
    packets = encode.add_subparsers(metavar="PACKET", required=True)
    for name, recipe in RECIPES.items():
        packet = packets.add_parser(name, help=recipe.help, description=recipe.help)
        if recipe.needs_device:
            packet.add_argument(
                "--device", required=True, metavar="DEVICE", help="axis_a ... axis_e, 1 ... 5, all"
            )
        packet.set_defaults(run=run_encode, recipe=recipe, words=[])
        for word in recipe.words:
            if recipe.many:
                packet.add_argument("words", nargs="+", metavar=word)
            else:
                packet.add_argument("words", action="append", metavar=word)

    sniff = commands.add_parser(
        "sniff",
        help="print each frame that arrives at a port; reads only",
        description="Print one JSON object per frame that arrives at a port, until Ctrl-C. "
        "Nothing is written to it. Give it a tap of its own: two readers of one port take bytes "
        "away from each other.",
    )
    sniff.add_argument("port", metavar="PORT", help="device, or a pyserial URL (socket://…)")
    sniff.add_argument("--baud", type=int, default=BAUD_RATE, help="baud rate (%(default)s)")
    sniff.set_defaults(run=run_sniff)

    add_info_parser(commands, BAUD_RATE)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if len(words) > 1 and words[0] == "encode" and never_sent(words[1]):
        print(
            f"alpha5-wire: refused: {words[1]} must never be sent: it can make the arm useless",
            file=sys.stderr,
        )
        return 1
    if sys.stdout is None:
        print("alpha5-wire: standard output is closed: nothing can be told", file=sys.stderr)
        return 1
    # argparse takes -1e-3 for an option, unless there is a space in it.
    args = make_parser().parse_args([f" {w}" if _NEGATIVE.match(w) else w for w in words])
    try:
        status: int = args.run(args)
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        # Nothing more can be written; a reader that has had enough (`| head`) knows that.
        if not isinstance(error, BrokenPipeError):
            print(f"alpha5-wire: cannot go on: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
