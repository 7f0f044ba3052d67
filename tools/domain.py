"""A ROS domain of one's own, so that two runs on one machine never meet."""

from __future__ import annotations

import random
import socket

DOMAINS = range(1, 102)
"""Domain ids whose ports lie below those that Linux hands out to anybody."""


class Domain:
    """A ROS domain id that no other holder on this machine has, until it is released."""

    def __init__(self) -> None:
        """Take a free one.

        Raises:
            RuntimeError: all are taken.
        """
        for number in random.sample(DOMAINS, len(DOMAINS)):
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                # A name without a file: it is gone with this process, whatever ends it.
                claim.bind(f"\0reach_alpha5-domain-{number}")
            except OSError:
                claim.close()
                continue
            self.number = number
            self._claim = claim
            return
        raise RuntimeError(f"{len(DOMAINS)} runs are at work on this machine; wait for one to end")

    def release(self) -> None:
        """Let others have it."""
        self._claim.close()
