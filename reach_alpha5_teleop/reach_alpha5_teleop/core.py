"""When a pad's wish may be said: the rules of teleop in one place. Pure; the node is its shell.

Theory of operation. The pad is *armed* or not. It becomes armed in a frame that holds the deadman
while every control that could move something is at rest, and only then; so a stick that is held
over while the deadman goes down moves nothing until it has been let go once. These events disarm
it, and each ends a running motion with one neutral command at once:

* the deadman is up,
* the e-stop button is down, or the stick mode changes,
* the controls contradict each other,
* a frame is refused, the pad is silent for `joy_ttl`, or its publisher is gone,
* the arbiter says that somebody else owns the arm, that a latch is set, or that it waits for a
  neutral input.

While it is armed, every frame that asks for motion becomes a command that ends by itself after
`command_lifetime`. While it is not, nothing is said but the neutral input that the arbiter waits
for. A pad that nobody touches is silent, so it never holds the arm (D3).
"""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_common.command import STILL, GripperCommand
from reach_alpha5_common.refusal import Problem, Refusal, RefusalLog
from reach_alpha5_teleop.mapping import Mode, interpret
from reach_alpha5_teleop.pad import JoyFrame, Pad
from reach_alpha5_teleop.profile import Profile

NEUTRAL_RETRY = 0.2
"""Shortest time [s] between two neutral inputs in answer to an arbiter that waits for one."""

PAD = "pad"
"""Whose frames and presses the refusals are."""


@dataclass(frozen=True, slots=True)
class TeleopConfig:
    """Settings of the core; times in seconds.

    Attributes:
        source: our name in the arbiter's configuration.
        joy_ttl: silence of the pad beyond this is absence.
        command_lifetime: a motion command ends by itself after this.
    """

    source: str = "teleop"
    joy_ttl: float = 0.5
    command_lifetime: float = 0.5


@dataclass(frozen=True, slots=True)
class ArbiterView:
    """What teleop needs to know of an `ArbiterState`."""

    owner: str
    latched: bool
    """An e-stop or a fault latch is set."""
    neutral_required: bool
    """The arbiter waits for a neutral input of ours."""


@dataclass(frozen=True, slots=True)
class Publish:
    """Publish this command."""

    command: GripperCommand


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Publish a heartbeat."""

    present: bool


@dataclass(frozen=True, slots=True)
class EStopPressed:
    """Publish an e-stop."""


@dataclass(frozen=True, slots=True)
class ResetPressed:
    """Call the reset service."""


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """Tell the pilot how the sticks move the arm now."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class Refused:
    """Tell the pilot what was not obeyed."""

    refusal: Refusal


Output = Publish | Heartbeat | EStopPressed | ResetPressed | ModeChanged | Refused


class TeleopCore:
    """The pad's side of the arm. Every method returns what to do, in order.

    `now` is monotonic time in seconds and never decreases.
    """

    def __init__(self, profile: Profile, config: TeleopConfig) -> None:
        self._profile = profile
        self._config = config
        self._pad = Pad(profile, config.joy_ttl)
        self._mode = Mode.CARTESIAN
        self._armed = False
        self._moving = False
        self._at_rest = False
        self._neutral_at = float("-inf")
        self.refusals = RefusalLog()

    @property
    def present(self) -> bool:
        """Whether a pad is there."""
        return self._pad.present

    @property
    def mode(self) -> Mode:
        """How the sticks move the arm."""
        return self._mode

    def on_joy(self, frame: JoyFrame, now: float) -> list[Output]:
        """Take a frame of the pad."""
        # A gap that no tick has seen is the same silence.
        out = self._absent(now) if self._pad.expire(now) else []
        # Before all else, and from any frame that shows the button: D4, rule 1.
        if self._pad.estop_pressed(frame, now):
            out.insert(0, EStopPressed())
        known = self._pad.present
        state = self._pad.receive(frame, now)
        if isinstance(state, Problem):
            self._at_rest = False
            return out + self._refuse(state, now) + self._disarm(now)
        if not known:
            out.append(self._heartbeat())

        if "mode" in state.pressed:
            self._mode = self._mode.next
            out += [ModeChanged(self._mode), *self._disarm(now)]
        intent = interpret(self._profile, state, self._mode, self._config.command_lifetime)
        self._at_rest = intent.at_rest
        if "reset" in state.pressed:
            out += self._reset(now)

        if self._pad.estop_down or intent.ambiguous or "deadman" not in state.down:
            out += self._disarm(now)
        elif intent.at_rest:
            self._armed = True
        if self._armed and not intent.command.is_neutral:
            self._moving = True
            out.append(Publish(intent.command))
        else:
            out += self._end_motion(now)
        return out

    def on_pad_gone(self, now: float) -> list[Output]:
        """Nobody publishes the pad any more: gone outright, no timer is waited for (D6)."""
        known = self._pad.present
        self._pad.forget()
        return self._absent(now) if known else []

    def on_arbiter(self, view: ArbiterView, now: float) -> list[Output]:
        """Take what the arbiter says of itself and of us."""
        theirs = view.owner not in ("", self._config.source)
        if not (theirs or view.latched or view.neutral_required):
            return []
        out = self._disarm(now)
        if (
            view.neutral_required
            and not view.latched
            and self._pad.present
            and self._at_rest
            and now - self._neutral_at >= NEUTRAL_RETRY
        ):
            out.append(self._neutral(now))
        return out

    def tick(self, now: float) -> list[Output]:
        """Let time pass, called once in every heartbeat period: notice silence, beat."""
        out = self._absent(now) if self._pad.expire(now) else []
        return [*out, self._heartbeat()]

    def close(self, now: float) -> list[Output]:
        """Leave: one neutral command and a heartbeat that says so (D6, rule 11)."""
        self._pad.forget()
        self._armed = self._moving = False
        return [self._neutral(now), self._heartbeat()]

    def _absent(self, now: float) -> list[Output]:
        self._at_rest = False
        return [*self._disarm(now), self._heartbeat()]

    def _disarm(self, now: float) -> list[Output]:
        self._armed = False
        return self._end_motion(now)

    def _end_motion(self, now: float) -> list[Output]:
        """End a motion on its edge: a stream of zeroes would look like a live jog (D7)."""
        if not self._moving:
            return []
        self._moving = False
        return [self._neutral(now)]

    def _neutral(self, now: float) -> Output:
        self._neutral_at = now
        return Publish(STILL)

    def _heartbeat(self) -> Output:
        return Heartbeat(self._pad.present)

    def _refuse(self, problem: Problem, now: float) -> list[Output]:
        return [Refused(self.refusals.refuse(problem, PAD, now))]

    def _reset(self, now: float) -> list[Output]:
        if self._pad.estop_down:
            return self._refuse(
                Problem("estop_held", "reset while the e-stop button is down; release it first"),
                now,
            )
        if not self._at_rest:
            return self._refuse(
                Problem("not_at_rest", "reset with a control deflected; let go of all of them"),
                now,
            )
        return [ResetPressed()]
