"""Asks the arm what it is, and believes an answer when it was given twice.

An 8-bit checksum lets a damaged frame through now and then, and a damaged limit would hold until
the next start. So a value counts when two answers in a row agree, each to a question of its own: a
frame that the line doubled is one answer. Damage would have to strike the same bits twice and pass
the checksum both times.

Each device has rounds of its own. In a round all is asked that is still open; the next one begins
as soon as the round has brought all that it asked for, or after a pause that doubles from round to
round while nothing new comes. A device that is silent is asked only the little without which its
joint may not move, so that a dead one costs the others little time on a shared bus.

The arm may do without answers to the rest: what some rounds have not brought is reported as not
answered, and asked for ever more rarely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.identity import ArmIdentity, DeviceIdentity
from reach_alpha5_driver.protocol.packet import OneIdPacket
from reach_alpha5_driver.protocol.packets import (
    MAX_IDS,
    JointValue,
    Packet,
    PacketId,
    Reading,
)


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to know of each device."""

    packet_id: PacketId
    required: bool = False
    """Without the answer the joint may not move."""
    tolerance: float = 0.0
    """By how much two answers may differ that agree, in the unit of the packet. What is measured
    changes by itself; what is stored does not."""
    is_state: bool = False
    """It is no property but a state, which may be another each time: any two answers agree."""

    @property
    def name(self) -> str:
        """The packet's name, for people."""
        return self.packet_id.name.lower().replace("_", " ")


QUESTIONS: Final = (
    Question(PacketId.MODE, required=True, is_state=True),
    Question(PacketId.POSITION_LIMITS, required=True),
    Question(PacketId.VELOCITY_LIMITS),
    Question(PacketId.CURRENT_LIMITS),
    Question(PacketId.SERIAL_NUMBER),
    Question(PacketId.MODEL_NUMBER),
    Question(PacketId.SOFTWARE_VERSION),
    Question(PacketId.FACTORY_CLIMATE),
    Question(PacketId.HARDWARE_STATUS),
    Question(PacketId.VOLTAGE, tolerance=2.0),
    Question(PacketId.TEMPERATURE, tolerance=2.0),
    Question(PacketId.HUMIDITY, tolerance=5.0),
)
"""In the order in which they are asked."""

MOST_DOUBLINGS: Final = 16
"""Of a pause; beyond that it is longer than any `rare_period`."""


@dataclass(frozen=True, slots=True)
class IdentificationConfig:
    """Settings in s."""

    retry_period: float = 0.15
    """First pause before what was not answered is asked again."""
    slow_period: float = 1.0
    """Longest pause while something is missing without which the arm may not move."""
    rare_period: float = 30.0
    """Longest pause when only the rest is missing."""
    wanted_rounds: int = 4
    """Rounds without anything new after which the rest counts as not answered."""


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """An answer that is no packet, and why."""

    reason: str


@dataclass(slots=True)
class _Interview:
    """How far one device has been asked."""

    due: float = math.inf
    """When the next round begins."""
    heard: bool = False
    done: bool = False
    """What is required is known; the rest too, or it was asked often enough."""
    news: bool = True
    """Whether this round has brought something new."""
    quiet: int = 0
    """Rounds in a row that brought nothing new."""
    awaited: set[int] = field(default_factory=set)
    """Packet ids asked in this round and not answered."""
    last: dict[int, Packet | _Unreadable] = field(default_factory=dict)
    """The last answer to each open question."""
    settled: dict[int, Packet] = field(default_factory=dict)
    unreadable: dict[int, str] = field(default_factory=dict)
    """Why an answer makes no sense that was given twice in the same way."""


class Identification:
    """Asks all devices until it knows them. Times are monotonic seconds."""

    def __init__(
        self, config: IdentificationConfig, questions: Sequence[Question] = QUESTIONS
    ) -> None:
        """Know nothing, and ask nothing before `start`."""
        self._config = config
        self._questions = {int(question.packet_id): question for question in questions}
        self._interviews = [_Interview() for _ in DEVICES]
        self._identity: ArmIdentity | None = None

    def start(self, now: float) -> None:
        """Forget all, and begin with a line that was just opened."""
        for device in DEVICES:
            self.restart(device.index, now)

    def restart(self, device_index: int, now: float) -> None:
        """Forget one device, and ask it anew: after a silence it may be another."""
        self._interviews[device_index] = _Interview(due=now)
        self._identity = None

    def forget(self) -> None:
        """Forget all and ask nothing: the line is lost."""
        self.start(math.inf)

    @property
    def complete(self) -> bool:
        """Whether all that is required is known, and the rest too or asked often enough."""
        return all(interview.done for interview in self._interviews)

    @property
    def identity(self) -> ArmIdentity:
        """What is known now; the same object until that changes."""
        if self._identity is None:
            self._identity = ArmIdentity(tuple(map(self._known, self._interviews)))
        return self._identity

    def missing(self) -> tuple[str, ...]:
        """Return what is required and not known, for people: a joint, or what it has not told."""
        missing = []
        for device, interview in zip(DEVICES, self._interviews, strict=True):
            if not interview.heard:
                missing.append(device.joint)
                continue
            for question in self._open(interview, required=True):
                reason = interview.unreadable.get(question.packet_id)
                why = "" if reason is None else f" ({reason})"
                missing.append(f"{device.joint} {question.name}{why}")
        return tuple(missing)

    def on_packet(self, device_index: int, packet: Packet, now: float) -> bool:
        """Take any packet of a device; return whether it answers a question that stands."""
        packet_id = packet.ID if isinstance(packet, OneIdPacket) else None
        return self._hear(device_index, packet_id, packet, now)

    def on_refused(self, device_index: int, packet_id: int, reason: str, now: float) -> bool:
        """Take a frame of a device that is no packet, with the reason of the `PacketError`."""
        return self._hear(device_index, packet_id, _Unreadable(reason), now)

    def asks(self, now: float) -> list[tuple[int, tuple[int, ...]]]:
        """Return what is to be asked now: device ids, each with 1 to 10 packet ids."""
        return [
            (device.id, packet_ids)
            for device, interview in zip(DEVICES, self._interviews, strict=True)
            if interview.due <= now
            for packet_ids in self._begin_round(interview, now)
        ]

    def next_time(self) -> float:
        """Return when something is to be asked next; inf = never."""
        return min(interview.due for interview in self._interviews)

    def _open(self, interview: _Interview, *, required: bool = False) -> list[Question]:
        """Return what is not known yet, or only what of it is required."""
        return [
            question
            for question in self._questions.values()
            if question.packet_id not in interview.settled and (question.required or not required)
        ]

    def _begin_round(self, interview: _Interview, now: float) -> list[tuple[int, ...]]:
        """Close a round and begin the next one; return the lists of packet ids to ask."""
        config = self._config
        interview.quiet = 0 if interview.news else interview.quiet + 1
        interview.news = False
        required = self._open(interview, required=True)
        if not required and interview.quiet >= config.wanted_rounds and not interview.done:
            interview.done = True
            self._identity = None
        longest = config.slow_period if required else config.rare_period
        pause = min(longest, config.retry_period * 2.0 ** min(interview.quiet, MOST_DOUBLINGS))
        interview.due = now + pause
        brief = not interview.heard or (interview.quiet > 0 and bool(required))
        questions = required if brief else self._open(interview)
        packet_ids = [int(question.packet_id) for question in questions]
        interview.awaited = set(packet_ids)
        # It is not documented what a device does with a list in which it does not know one id: if
        # it drops the list, what it does know must be asked alone.
        size = 1 if interview.heard and interview.quiet else MAX_IDS
        return [
            tuple(packet_ids[first : first + size]) for first in range(0, len(packet_ids), size)
        ]

    def _hear(
        self, device_index: int, packet_id: int | None, answer: Packet | _Unreadable, now: float
    ) -> bool:
        interview = self._interviews[device_index]
        first = not interview.heard and interview.due < math.inf
        if first:
            interview.heard = interview.news = True
            self._identity = None
        if packet_id not in interview.awaited:  # also a second answer to one question
            if first:
                interview.due = now
            return False
        interview.awaited.remove(packet_id)
        self._take(interview, self._questions[packet_id], answer)
        if not self._open(interview):
            interview.done = True
            interview.due = math.inf
        elif interview.news and not interview.awaited:
            interview.due = now
        return True

    def _take(
        self, interview: _Interview, question: Question, answer: Packet | _Unreadable
    ) -> None:
        """Keep an answer, and believe it if the last one was the same."""
        packet_id = question.packet_id
        before = interview.last.get(packet_id)
        interview.last[packet_id] = answer
        if before is None:
            interview.news = True
        elif not _agree(before, answer, question):
            return
        elif not isinstance(answer, _Unreadable):
            interview.settled[packet_id] = answer
            interview.unreadable.pop(packet_id, None)
            interview.news = True
            self._identity = None
        elif interview.unreadable.get(packet_id) != answer.reason:
            # Only the first is news: what never makes sense must not be asked for ever at once.
            interview.news |= packet_id not in interview.unreadable
            interview.unreadable[packet_id] = answer.reason
            self._identity = None

    def _known(self, interview: _Interview) -> DeviceIdentity:
        unanswered = [
            question.name
            for question in self._open(interview)
            if question.packet_id not in interview.unreadable
        ]
        return DeviceIdentity.of(
            interview.settled.values(),
            identified=not self._open(interview, required=True),
            unanswered=tuple(unanswered) if interview.done else (),
            unreadable=tuple(
                (self._questions[packet_id].name, reason)
                for packet_id, reason in interview.unreadable.items()
            ),
        )


def _agree(one: Packet | _Unreadable, other: Packet | _Unreadable, question: Question) -> bool:
    """Say whether two answers mean the same."""
    if isinstance(one, Reading | JointValue) and isinstance(other, Reading | JointValue):
        return abs(one.value - other.value) <= question.tolerance
    if question.is_state and type(one) is type(other):
        return not isinstance(one, _Unreadable) or one == other
    return one == other
