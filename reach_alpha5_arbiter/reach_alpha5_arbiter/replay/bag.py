"""The arbiter's topics in a bag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reach_alpha5_bags.names import resolve
from reach_alpha5_bags.reading import Bag as AnyBag
from reach_alpha5_bags.reading import BagError

JOURNAL, COMMANDS, STATES = "arbiter_journal", "driver_command", "arbiter_state"
TOPICS = (JOURNAL, COMMANDS, STATES)
JOURNAL_TYPE = "reach_alpha5_msgs/msg/ArbiterJournal"

__all__ = ["COMMANDS", "JOURNAL", "STATES", "Bag", "BagError", "Recorded"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A message of the arbiter's."""

    topic: str
    """Without the namespace."""
    at: float
    """Seconds since the bag's begin."""
    message: Any


class Bag:
    """The topics of one arbiter in an open bag.

    Args:
        path: the bag.
        namespace: of the arbiter; None = the only one that is there.

    Raises:
        BagError: see there.
    """

    def __init__(self, path: Path, namespace: str | None = None) -> None:
        self._bag = AnyBag(path)
        try:
            if not self._bag.of_type(JOURNAL_TYPE):
                raise BagError(
                    f"there is no topic of the type {JOURNAL_TYPE} in it. Record the arbiter's "
                    f"journal and its decisions, for example\n  "
                    f"ros2 bag record {' '.join(f'/alpha5/{topic}' for topic in TOPICS)}"
                )
            self.namespace = self._bag.namespace(JOURNAL_TYPE, namespace, "arbiter")
        except BaseException:
            self.close()
            raise
        self.duration = self._bag.duration
        """[s]"""

    @property
    def damage(self) -> list[str]:
        """What could not be read, for people."""
        return self._bag.damage

    def close(self) -> None:
        """Close all files."""
        self._bag.close()

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def has(self, topic: str) -> bool:
        """Say whether the bag has a topic of the arbiter's."""
        return resolve(self.namespace, topic) in self._bag.topics

    def read(self, begin: float = 0.0) -> Iterator[Recorded]:
        """Yield the messages from `begin` [s] after the bag's begin on."""
        names = {resolve(self.namespace, topic): topic for topic in TOPICS}
        for recorded in self._bag.read(names, begin):
            message = self._bag.message(recorded)
            if message is not None:
                yield Recorded(names[recorded.topic], recorded.at, message)
