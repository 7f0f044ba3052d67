"""Damage on the line, drawn from a seed: the same seed and traffic give the same damage."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

DELAY = (0.005, 0.050)
"""Shortest and longest pause of a `delay` [s]."""

SPLIT = (0.002, 0.020)
"""Shortest and longest gap of a `split` [s]."""

MAX_GARBAGE = 16
"""Most bytes of one `garbage`."""

KINDS = {
    "drop": "a byte is lost; rate per byte",
    "flip": "one bit of a byte is flipped; rate per byte",
    "lose": "a whole frame is lost; rate per frame",
    "duplicate": "a frame comes twice; rate per frame",
    "delay": "a frame, and all behind it, waits 5 to 50 ms; rate per frame",
    "split": "a frame has a gap of 2 to 20 ms inside; rate per frame",
    "merge": "a frame's terminator is lost: it is glued to the next; rate per frame",
    "garbage": "1 to 16 random bytes come before a frame; rate per frame",
}
"""Every kind of damage, with its meaning. Rates are probabilities, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that follow each other, and the pause before them [s]."""

    pause: float
    data: bytes


class Faults:
    """The damage of one direction. All rates start at zero."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._rates: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        """How often each kind has struck."""

    @property
    def rates(self) -> dict[str, float]:
        """Rates that are not zero, by kind."""
        return dict(self._rates)

    def set_rate(self, kind: str, rate: float) -> None:
        """Let `kind` strike with the probability `rate`.

        Raises:
            ValueError: unknown kind, or a rate outside 0..1.
        """
        if kind not in KINDS:
            raise ValueError(f"unknown fault {kind!r}: one of {', '.join(KINDS)}")
        if not 0.0 <= rate <= 1.0:
            raise ValueError(f"rate {rate}: a probability, 0 to 1")
        self._rates.pop(kind, None)
        if rate > 0.0:
            self._rates[kind] = rate

    def clear(self) -> None:
        """Let nothing strike any more."""
        self._rates.clear()

    def damage(self, frame: bytes) -> list[Piece]:
        """Return what becomes of one frame (wire bytes, with terminator)."""
        if not self._rates:
            return [Piece(0.0, frame)]
        if self._strikes("lose"):
            return []
        copies = 2 if self._strikes("duplicate") else 1
        pause = self._random.uniform(*DELAY) if self._strikes("delay") else 0.0
        pieces = [piece for _ in range(copies) for piece in self._pieces(self._spoil(frame))]
        if pieces and pause:
            pieces[0] = Piece(pieces[0].pause + pause, pieces[0].data)
        return pieces

    def _strikes(self, kind: str) -> bool:
        rate = self._rates.get(kind)
        if rate is None or self._random.random() >= rate:
            return False
        self.counts[kind] += 1
        return True

    def _spoil(self, frame: bytes) -> bytes:
        if self._strikes("merge"):
            frame = frame[:-1]
        if "drop" in self._rates:
            frame = bytes(byte for byte in frame if not self._strikes("drop"))
        if "flip" in self._rates:
            frame = bytes(
                byte ^ 1 << self._random.randrange(8) if self._strikes("flip") else byte
                for byte in frame
            )
        if self._strikes("garbage"):
            frame = self._random.randbytes(self._random.randint(1, MAX_GARBAGE)) + frame
        return frame

    def _pieces(self, data: bytes) -> list[Piece]:
        if len(data) < 2 or not self._strikes("split"):
            return [Piece(0.0, data)] if data else []
        cut = self._random.randrange(1, len(data))
        return [Piece(0.0, data[:cut]), Piece(self._random.uniform(*SPLIT), data[cut:])]
