"""The judge's own account of the e-stop endpoints: which of them permit motion at present."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.endpoint import EndpointConfig
from reach_alpha5_common.command import StopLevel

MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Seen:
    """An endpoint as far as the events told."""

    config: EndpointConfig
    challenge: int | None = None
    asked_at: float = -math.inf
    answered: bool = False
    clear: bool = False
    lived_at: float = -math.inf
    contested_at: float = -math.inf


class EndpointAccount:
    """All of them."""

    def __init__(self, configs: Iterable[EndpointConfig]) -> None:
        self._seen = {config.name: Seen(config) for config in configs}

    def __contains__(self, name: str) -> bool:
        return name in self._seen

    def fork(self) -> EndpointAccount:
        """Return an independent twin."""
        twin = EndpointAccount(())
        twin._seen = dict(self._seen)
        return twin

    def all_clear(self) -> bool:
        """Whether each of them permits motion."""
        return all(seen.clear for seen in self._seen.values())

    def level_at_start(self) -> StopLevel:
        """What a new configuration starts with."""
        return self.lapse_level()

    def lapse_level(self) -> StopLevel:
        """The least that stands while any of them is not heard."""
        levels = [seen.config.lapse_level for seen in self._seen.values() if not seen.clear]
        return min(levels, default=StopLevel.NONE)

    def unasked(self, now: float) -> bool:
        """Whether one of them should have got a challenge before now, and did not."""
        return any(
            now - seen.asked_at > seen.config.timeout / 4 + 1e-9 for seen in self._seen.values()
        )

    def asked(self, challenge: events.Challenge, now: float) -> bool:
        """Take a challenge; return whether it is another one than before."""
        seen = self._seen[challenge.endpoint]
        self._seen[challenge.endpoint] = replace(
            seen, challenge=challenge.challenge, asked_at=now, answered=False
        )
        return challenge.challenge != seen.challenge

    def pass_time(self, now: float) -> bool:
        """Let time pass; return whether one of them is not clear any more."""
        lapsed = False
        for name, seen in self._seen.items():
            if seen.clear and now >= seen.lived_at + seen.config.timeout:
                self._seen[name] = replace(seen, clear=False)
                lapsed = True
        return lapsed

    def take(self, event: events.CheckIn | events.EndpointGone, now: float) -> StopLevel:
        """Take what came of one; return what it stops the arm with, if it was clear before."""
        seen = self._seen[event.endpoint]
        if isinstance(event, events.EndpointGone):
            self._seen[event.endpoint] = replace(seen, clear=False, challenge=None)
            return seen.config.lapse_level if seen.clear else StopLevel.NONE
        good = (
            event.challenge == seen.challenge
            and now < seen.asked_at + seen.config.timeout
            and event.response == event.challenge ^ MASK
        )
        level = StopLevel.of(event.level)
        if level is not StopLevel.NONE:
            answered = seen.answered or good
            self._seen[event.endpoint] = replace(seen, clear=False, answered=answered)
            return level
        if not good:
            return StopLevel.NONE
        if seen.answered:
            self._seen[event.endpoint] = replace(seen, clear=False, contested_at=now)
            return seen.config.lapse_level if seen.clear else StopLevel.NONE
        alone = now >= seen.contested_at + seen.config.timeout
        seen = replace(seen, answered=True)
        if alone:
            seen = replace(seen, clear=True, lived_at=seen.asked_at)
        self._seen[event.endpoint] = seen
        return StopLevel.NONE
