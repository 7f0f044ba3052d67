"""A command whose output is read no further ends without a word."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from reach_alpha5_common.broken_pipe import UNREAD, quiet

DEADLINE = 60.0

BODIES = {
    "much": "for _ in range(100000): print('line')",
    "little, still buffered": "print('line')",
    "help": "print('usage'); raise SystemExit(0)",
    "flushed": "print('line', flush=True)",
}


def start(body: str) -> subprocess.Popen[str]:
    """Start a command that waits for a line before it prints."""
    program = textwrap.dedent("""
        import sys
        from reach_alpha5_common.broken_pipe import quiet

        @quiet
        def main():
            sys.stdin.readline()
            {}
            return 3

        sys.exit(main())
    """).format(body)
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_reader_that_has_had_enough_gets_no_traceback(body: str) -> None:
    process = start(body)
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate("go\n", DEADLINE)
    assert (process.returncode, said) == (UNREAD, "")


def test_what_is_read_to_its_end_ends_as_ever() -> None:
    process = start("print('line')")
    assert process.communicate("go\n", DEADLINE) == ("line\n", "")
    assert process.returncode == 3


def test_other_failures_are_left_alone() -> None:
    @quiet
    def main() -> int:
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        main()
