"""Commands whose reader has had enough, as `head` has. Shell: standard output."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

UNREAD = 141
"""Exit code when nobody reads on, as shells have it of a command that SIGPIPE ended."""

Given = ParamSpec("Given")


def quiet(main: Callable[Given, int]) -> Callable[Given, int]:
    """Make a command end without a word, with `UNREAD`, when its output is read no further."""

    @functools.wraps(main)
    def command(*args: Given.args, **kwargs: Given.kwargs) -> int:
        try:
            try:
                return main(*args, **kwargs)
            finally:
                # What is buffered fails here and not when the interpreter ends.
                if sys.stdout is not None:
                    sys.stdout.flush()
        except BrokenPipeError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
            return UNREAD

    return command
