"""One e-stop endpoint as the arbiter keeps it: what it answered, and what it stands for.

A software stop. Not safety-rated.

An endpoint permits motion only as long as it proves, again and again, that it lives and has no
objection. It gets a challenge every quarter of its time-out and answers the newest one with its
bitwise complement. An answer proves that the endpoint lived when the challenge was given, and no
more: so it counts from then, and not from its arrival. Whatever the link delays, the endpoint
lapses no later than one `timeout` after the last moment at which it is known to have lived.

Challenges keep out what repeats blindly: a buffer, a bag, a process that hangs in its send loop.
They are no defence against malice, since everybody who hears one can answer it; who may publish on
the topic is for DDS security to say.

An `Endpoint` is a value. What happens to it gives a new one; nothing here sends or latches.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace
from hashlib import blake2b

from reach_alpha5_arbiter.codes import Code
from reach_alpha5_arbiter.latches import MAX_TEXT
from reach_alpha5_arbiter.tables import Machine, Row
from reach_alpha5_common.command import StopLevel
from reach_alpha5_common.refusal import Problem

CHALLENGES_PER_TIMEOUT = 4
"""The way there and back may take as much time as lies between two challenges."""

ALL_ONES = 2**64 - 1
HALF = 2**32


class EndpointState(enum.IntEnum):
    """What is known of an endpoint; the numbers are those of `EStopEndpointStatus`."""

    AWAITED = 0
    CLEAR = 1
    OBJECTING = 2
    LAPSED = 3


class EndpointEvent(enum.Enum):
    """What changes the state of an endpoint."""

    CHECK_IN_CLEAR = "the newest challenge is answered, for the first time: no objection"
    CHECK_IN_OBJECTS = "the newest challenge is answered, with an objection"
    OBJECTS = "an objection with a wrong answer: it is obeyed, and no sign of life"
    CONTESTED = "the newest challenge is answered twice: two clients speak under this name"
    LAPSE = "no answer for the time-out, counted from the last challenge that was answered"
    LOST = "its publisher disappeared: gone outright"


ENDPOINT: Machine[EndpointState, EndpointEvent] = Machine(
    "e-stop endpoint",
    EndpointState.AWAITED,
    (
        Row(EndpointState.AWAITED, EndpointEvent.CHECK_IN_CLEAR, EndpointState.CLEAR),
        Row(EndpointState.AWAITED, EndpointEvent.CHECK_IN_OBJECTS, EndpointState.OBJECTING),
        Row(EndpointState.AWAITED, EndpointEvent.OBJECTS, EndpointState.AWAITED),
        Row(EndpointState.AWAITED, EndpointEvent.LOST, EndpointState.AWAITED),
        Row(EndpointState.CLEAR, EndpointEvent.CHECK_IN_CLEAR, EndpointState.CLEAR),
        Row(EndpointState.CLEAR, EndpointEvent.CHECK_IN_OBJECTS, EndpointState.OBJECTING),
        Row(EndpointState.CLEAR, EndpointEvent.OBJECTS, EndpointState.OBJECTING),
        Row(EndpointState.CLEAR, EndpointEvent.CONTESTED, EndpointState.LAPSED),
        Row(EndpointState.CLEAR, EndpointEvent.LAPSE, EndpointState.LAPSED),
        Row(EndpointState.CLEAR, EndpointEvent.LOST, EndpointState.LAPSED),
        Row(EndpointState.OBJECTING, EndpointEvent.CHECK_IN_CLEAR, EndpointState.CLEAR),
        Row(EndpointState.OBJECTING, EndpointEvent.CHECK_IN_OBJECTS, EndpointState.OBJECTING),
        Row(EndpointState.OBJECTING, EndpointEvent.OBJECTS, EndpointState.OBJECTING),
        Row(EndpointState.OBJECTING, EndpointEvent.CONTESTED, EndpointState.LAPSED),
        Row(EndpointState.OBJECTING, EndpointEvent.LAPSE, EndpointState.LAPSED),
        Row(EndpointState.OBJECTING, EndpointEvent.LOST, EndpointState.LAPSED),
        Row(EndpointState.LAPSED, EndpointEvent.CHECK_IN_CLEAR, EndpointState.CLEAR),
        Row(EndpointState.LAPSED, EndpointEvent.CHECK_IN_OBJECTS, EndpointState.OBJECTING),
        Row(EndpointState.LAPSED, EndpointEvent.OBJECTS, EndpointState.LAPSED),
        Row(EndpointState.LAPSED, EndpointEvent.CONTESTED, EndpointState.LAPSED),
        Row(EndpointState.LAPSED, EndpointEvent.LOST, EndpointState.LAPSED),
    ),
)

HEARD = frozenset({EndpointState.CLEAR, EndpointState.OBJECTING})
"""It checks in, and lapses when it does not any more."""


class CheckInRefusal(Code):
    """Why a check-in does not count: `Refusal.code`. An objection is obeyed all the same."""

    STALE_CHALLENGE = (
        "stale_challenge",
        "the challenge is not the newest one, or its time is over; answer each as soon as it is "
        "heard, or give the endpoint a longer timeout",
    )
    BAD_RESPONSE = (
        "bad_response",
        "the response is not the challenge with all 64 bits inverted; mend the endpoint",
    )
    TWO_ANSWERS = (
        "two_answers",
        "the challenge was answered before, or was within the last timeout: two clients speak "
        "under this name, or one answers twice; stop all but one, and answer each challenge once",
    )

    def problem(self) -> Problem:
        """Return it as a problem."""
        return Problem(self.code, self.meaning)


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    """One endpoint that must check in.

    Raises:
        ValueError: a time-out that is not above 0, or a lapse that would stop nothing.
    """

    name: str
    timeout: float = 1.0
    """Time [s] after the last challenge that it answered after which it lapses."""
    lapse_level: StopLevel = StopLevel.SETTLE_THEN_CUT
    """What it stands for while it is not heard."""

    def __post_init__(self) -> None:
        if not 0.0 < self.timeout < math.inf:
            raise ValueError(f"{self.name}: timeout is {self.timeout} s; it must be above 0")
        if self.lapse_level is StopLevel.NONE:
            raise ValueError(f"{self.name}: lapse_level is NONE; a lapse must stop the arm")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint at one moment."""

    config: EndpointConfig
    session: int
    """Of this run of the arbiter, 0 to 2^64 - 1: two runs give different challenges."""
    state: EndpointState = ENDPOINT.initial
    last: EndpointEvent | None = None
    """What happened to it last; None = nothing yet."""
    level: StopLevel = StopLevel.NONE
    """Of its last word."""
    reason: str = ""
    """Of its last word, for people."""
    issued: int = 0
    """Challenges that were given."""
    challenge: int | None = None
    """The newest one; None = there is none that could be answered."""
    given_at: float = -math.inf
    """Monotonic time [s] at which it was given."""
    is_answered: bool = False
    """Whether it was answered already."""
    lived_at: float = -math.inf
    """Monotonic time [s] at which the last challenge that was answered was given."""
    contested_at: float = -math.inf
    """Monotonic time [s] at which two clients were heard last."""
    checked_in_at: float = -math.inf
    """Monotonic time [s] of the last good check-in."""
    check_ins: int = 0
    """Good ones."""
    refusals: int = 0

    @classmethod
    def awaited(cls, config: EndpointConfig, session: int) -> Endpoint:
        """Return an endpoint at the start of a run of the arbiter: it stops the arm."""
        return cls(config, session)

    @property
    def is_clear(self) -> bool:
        """Whether it permits motion."""
        return self.state is EndpointState.CLEAR

    @property
    def stands_for(self) -> StopLevel:
        """How the arm is to be stopped on its behalf; NONE = not at all."""
        if self.is_clear:
            return StopLevel.NONE
        if self.state is EndpointState.OBJECTING:
            return self.level
        return max(self.level, self.config.lapse_level)

    @property
    def why(self) -> str:
        """Why it stops the arm, for people; empty = it does not."""
        if self.is_clear:
            return ""
        if self.last is None:
            return "it has not checked in yet"
        if self.last in (EndpointEvent.CHECK_IN_OBJECTS, EndpointEvent.OBJECTS):
            return self.reason or "it objects"
        return str(self.last.value)

    def challenge_at(self) -> float:
        """Return the monotonic time [s] at which the next challenge is to be given."""
        return self.given_at + self.config.timeout / CHALLENGES_PER_TIMEOUT

    def lapses_at(self) -> float:
        """Return the monotonic time [s] at which it lapses if it does not answer any more."""
        return self.lived_at + self.config.timeout if self.state in HEARD else math.inf

    def challenged(self, now: float) -> Endpoint:
        """Give the next challenge: from now on it is the only one that counts."""
        issued = self.issued + 1
        return replace(
            self,
            issued=issued,
            challenge=challenge_of(self.session, self.config.name, issued),
            given_at=now,
            is_answered=False,
        )

    def checked_in(
        self, challenge: int, response: int, level: int, reason: str, now: float
    ) -> tuple[Endpoint, Problem | None]:
        """Take a check-in, and return why it does not count as a sign of life, if it does not.

        A level that nobody defined is CUT. An objection, a level above NONE, is obeyed in any
        case: a stop is never refused. It may answer a challenge that was answered already, since
        whoever objects must not wait for the next one.
        """
        asked = StopLevel.of(level)
        refusal = self._against_answer(challenge, response, now)
        if asked is not StopLevel.NONE:
            return self._objected(asked, reason[:MAX_TEXT], refusal, now)
        if refusal is not None:
            return self._refused(refusal)
        if self.is_answered:
            ended = self._after(EndpointEvent.CONTESTED)
            return replace(ended, contested_at=now)._refused(CheckInRefusal.TWO_ANSWERS)
        answered = replace(self, is_answered=True)
        if now < self.contested_at + self.config.timeout:
            # One of the two: only a while without the other shows that it is alone.
            return answered._refused(CheckInRefusal.TWO_ANSWERS)
        cleared = answered._proven(EndpointEvent.CHECK_IN_CLEAR, now)
        return replace(cleared, level=asked, reason=reason[:MAX_TEXT]), None

    def lapsed(self) -> Endpoint:
        """Take that it did not answer in time."""
        return self._after(EndpointEvent.LAPSE)

    def lost(self) -> Endpoint:
        """Take that its publisher disappeared. What it still has under way does not count."""
        return replace(self._after(EndpointEvent.LOST), challenge=None)

    def check_in_age(self, now: float) -> float:
        """Return the time [s] since its last good check-in; NaN = there was none."""
        return now - self.checked_in_at if math.isfinite(self.checked_in_at) else math.nan

    def _against_answer(self, challenge: int, response: int, now: float) -> CheckInRefusal | None:
        # The age as well: were the next challenge late, this one must not count for longer.
        if challenge != self.challenge or now >= self.given_at + self.config.timeout:
            return CheckInRefusal.STALE_CHALLENGE
        return None if response == answer_to(challenge) else CheckInRefusal.BAD_RESPONSE

    def _objected(
        self, level: StopLevel, reason: str, refusal: CheckInRefusal | None, now: float
    ) -> tuple[Endpoint, Problem | None]:
        if refusal is None:
            proven = replace(self, is_answered=True)._proven(EndpointEvent.CHECK_IN_OBJECTS, now)
            return replace(proven, level=level, reason=reason), None
        # Whoever cannot answer may make it worse, but not better.
        worse = replace(
            self._after(EndpointEvent.OBJECTS), level=max(self.level, level), reason=reason
        )
        return worse._refused(refusal)

    def _proven(self, event: EndpointEvent, now: float) -> Endpoint:
        return replace(
            self._after(event),
            lived_at=self.given_at,
            checked_in_at=now,
            check_ins=self.check_ins + 1,
        )

    def _after(self, event: EndpointEvent) -> Endpoint:
        return replace(self, state=ENDPOINT.step(self.state, event).then, last=event)

    def _refused(self, refusal: CheckInRefusal) -> tuple[Endpoint, Problem]:
        return replace(self, refusals=self.refusals + 1), refusal.problem()


def answer_to(challenge: int) -> int:
    """Return the response to a challenge: its bitwise complement in 64 bits."""
    return challenge ^ ALL_ONES


def challenge_of(session: int, name: str, number: int) -> int:
    """Return the challenge with a number, 0 to 2^64 - 1, of an endpoint in a run of the arbiter.

    A Feistel network of four rounds over the number, keyed by session and name: a permutation, so
    that no challenge comes twice in a run, and one whose next value nobody sees in those before.
    """
    key = blake2b(session.to_bytes(8, "big") + name.encode()).digest()
    left, right = divmod(number, HALF)
    for _ in range(4):
        mixed = blake2b(right.to_bytes(4, "big"), key=key, digest_size=4)
        left, right = right, left ^ int.from_bytes(mixed.digest(), "big")
    return left * HALF + right
