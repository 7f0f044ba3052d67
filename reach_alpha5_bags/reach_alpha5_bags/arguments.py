"""What the commands of this package take alike."""

from __future__ import annotations

import argparse
import math


def moment(text: str) -> float:
    """Read a time after a bag's begin [s].

    Raises:
        argparse.ArgumentTypeError: it is none.
        ValueError: it is no number.
    """
    seconds = float(text)
    if not 0.0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a time in seconds, 0 or more")
    return seconds
