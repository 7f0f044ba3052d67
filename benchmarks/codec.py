"""Codec throughput: typed packets to bytes and back, on one core."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.results import Bar, Result, result
from benchmarks.series import Series
from benchmarks.session import Session
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import Current, Position, Velocity, encode, parse

LINE_RATE = 1152.0
"""Frames of 10 bytes that 115200 baud carry each second, per direction."""

BAR = Bar("ratio", ">=", 50.0)

SETS = 200
"""A batch is so many reports of position, velocity and current of every joint."""

READ = 46
"""Bytes that a read of the driver finds: what the line carries in its 4 ms between two reads."""


def run(session: Session) -> list[Result]:
    """Measure it in processor time, so that it does not matter what else the machine does."""
    values = [0.1 + 0.001 * number for number in range(SETS * len(DEVICES))]
    wire = _encode(values)
    frames = wire.count(0)
    chunks = [wire[at : at + READ] for at in range(0, len(wire), READ)]
    if _decode(chunks) != frames:
        raise RuntimeError("the decoder does not give back what the encoder was given")
    encoding, decoding = [], []
    for _ in range(session.count(60, 10)):
        encoding.append(_seconds(lambda: _encode(values)) / frames)
        decoding.append(_seconds(lambda: _decode(chunks)) / frames)
    series = [
        Series(name, "frames/s", tuple(1.0 / each for each in times), more_is_better=True)
        for name, times in (
            ("codec_encode", encoding),
            ("codec_decode", decoding),
            ("codec", [sum(pair) for pair in zip(encoding, decoding, strict=True)]),
        )
    ]
    for each in series:
        session.say(each.text())
    return [
        result(each, BAR if each.name == "codec" else None, LINE_RATE, each.p50 / LINE_RATE)
        for each in series
    ]


def _encode(values: list[float]) -> bytes:
    return b"".join(
        encode(kind(DEVICES[number % len(DEVICES)].id, value))
        for number, value in enumerate(values)
        for kind in (Position, Velocity, Current)
    )


def _decode(chunks: list[bytes]) -> int:
    decoder = StreamDecoder()
    packets = [
        parse(event)
        for chunk in chunks
        for event in decoder.receive(chunk)
        if isinstance(event, Frame)
    ]
    return len(packets)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.thread_time()
    work()
    return time.thread_time() - begin
