"""What the commands of the arbiter read in the same way from their command lines."""

from __future__ import annotations

import argparse


def topic_word(text: str) -> str:
    """Return a word that can be part of a topic.

    Raises:
        argparse.ArgumentTypeError: it cannot.
    """
    if not (text.isascii() and text.isidentifier()):
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be part of a topic; use letters, digits and _"
        )
    return text
