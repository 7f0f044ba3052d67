"""When a pad's wish may be said: the rules of teleop in one place. Pure; the node is its shell.

Theory of operation. The pad is *armed* or not. It becomes armed in a frame that holds the deadman
while every control that could move something is at rest, as it was in the frame before; and only
then. So a stick that is held over while the deadman goes down moves nothing until it has been let
go once, and a single frame that says so wrongly arms nothing. These events disarm it, and each
ends a running motion with one neutral command at once:

* the deadman is up,
* the e-stop button is down, or the stick mode changes,
* the controls contradict each other,
* a frame is refused, the pad is silent for `joy_ttl`, or its publisher is gone,
* the arbiter says that a latch is set,
* it says that somebody else owns the arm, or that it waits for a neutral input, and the pad is not
  at rest. One that is at rest has already done what would be asked of it: it stays armed, so that
  the next press counts (D5).

While it is armed, every frame that asks for motion becomes a command that ends by itself after
`command_lifetime`. While it is not, nothing is said but the neutral input that the arbiter waits
for. A pad that nobody touches is silent, so it never holds the arm (D3).
"""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_common.command import STILL
from reach_alpha5_common.refusal import Problem, RefusalLog
from reach_alpha5_teleop.estop import EStopTelling
from reach_alpha5_teleop.feedback import Cause
from reach_alpha5_teleop.jaws import JawsToggle
from reach_alpha5_teleop.mapping import interpret
from reach_alpha5_teleop.modes import Mode
from reach_alpha5_teleop.outputs import (
    EStopPressed,
    Feel,
    Heartbeat,
    ModeChanged,
    Output,
    Publish,
    Refused,
    ResetPressed,
)
from reach_alpha5_teleop.pad import JoyFrame, Pad, PadState, no_rest
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

    owner: str = ""
    estop: bool = False
    """An e-stop is latched."""
    fault: bool = False
    """A fault is latched."""
    neutral_required: bool = False
    """The arbiter waits for a neutral input of ours."""

    @property
    def latched(self) -> bool:
        """Whether anything is latched."""
        return self.estop or self.fault


class TeleopCore:
    """The pad's side of the arm. Every method returns what to do, in order.

    `now` is monotonic time in seconds and never decreases.
    """

    def __init__(
        self, profile: Profile, config: TeleopConfig, refusals: RefusalLog | None = None
    ) -> None:
        """Begin with no pad; `refusals` is a log to go on with."""
        self._config = config
        self.refusals = RefusalLog() if refusals is None else refusals
        self.change_pad(profile)
        self._jaws = JawsToggle()
        self._telling = EStopTelling()
        self._pressed_since_reset = False
        self._view: ArbiterView | None = None
        self._armed = False
        self._moving = False
        self._still = False
        self._at_rest = False
        self._neutral_at = float("-inf")

    def change_pad(self, profile: Profile) -> None:
        """Expect a pad of another profile; there is none now."""
        self._profile = profile
        self._pad = Pad(profile, self._config.joy_ttl)
        self._mode = profile.modes[0]

    @property
    def present(self) -> bool:
        """Whether a pad is there."""
        return self._pad.present

    @property
    def mode(self) -> Mode:
        """What the sticks do."""
        return self._mode

    def on_joy(
        self, frame: JoyFrame, now: float, objection: Problem | None = None
    ) -> list[Output]:
        """Take a frame of the pad; `objection` is why the shell would not believe it."""
        # A gap that no tick has seen is the same silence.
        out = self.expire(now)
        # Before all else, and from any frame that shows the button: D4, rule 1.
        out = self.on_stranger(frame, now) + out
        known = self._pad.present
        state = objection or self._pad.receive(frame, now)
        if isinstance(state, Problem):
            self._still = self._at_rest = False
            return out + self.refuse(state, now) + self._disarm(now)
        if not known:
            out.append(self._heartbeat())
        return out + self._tell(state, now) + self._obey(state, now)

    def expire(self, now: float) -> list[Output]:
        """Take a pad that was silent for longer than `joy_ttl` for gone (D1)."""
        return self._absent(now) if self._pad.expire(now) else []

    def on_stranger(self, frame: JoyFrame, now: float) -> list[Output]:
        """Take the e-stop alone from a frame, whoever sends it."""
        if not self._pad.estop_pressed(frame, now):
            return []
        self._telling.begin(now)
        self._pressed_since_reset = True
        return [EStopPressed()]

    def _obey(self, state: PadState, now: float) -> list[Output]:
        """Do what a valid frame asks for, as far as that is allowed."""
        out: list[Output] = []
        if "mode" in state.pressed:
            self._mode = self._profile.mode_after(self._mode)
            out += [ModeChanged(self._mode), *self._disarm(now)]
        may_move = "deadman" in state.down and not self._pad.estop_down
        self._jaws.step(
            "jaws_toggle" in state.held, "jaws_toggle" in state.pressed, may_move and self._armed
        )
        lifetime = self._config.command_lifetime
        intent = interpret(self._profile, state, self._mode, lifetime, self._jaws.velocity)
        self._still, self._at_rest = intent.at_rest, intent.at_rest and self._still
        if "reset" in state.pressed:
            out += self._reset(now)

        if intent.ambiguous or not may_move:
            out += self._disarm(now)
        elif self._at_rest and not (self._view and self._view.latched):
            self._armed = True
        if self._armed and not intent.command.is_neutral:
            self._moving = True
            out.append(Publish(intent.command))
        else:
            out += self._end_motion(now)
        return out

    def _tell(self, state: PadState, now: float) -> list[Output]:
        """Tell the pilot what is not obeyed of a valid frame."""
        out: list[Output] = []
        for name in sorted(state.too_short):
            if not (name == "jaws_toggle" and self._jaws.spent):
                out += self.refuse(
                    Problem("short_press", f"{name} was pressed for one frame; hold it longer"),
                    now,
                )
        if state.unknown:
            out += self.refuse(no_rest(self._profile, state.unknown), now)
        return out

    def on_pad_gone(self, now: float) -> list[Output]:
        """Nobody publishes the pad any more: gone outright, no timer is waited for (D6)."""
        known = self._pad.present
        self._pad.forget()
        return self._absent(now) if known else []

    def on_arbiter(self, view: ArbiterView, now: float) -> list[Output]:
        """Take what the arbiter says of itself and of us."""
        before, self._view = self._view, view
        self._telling.heard(view.estop)
        out = self._felt(before, view) if before is not None and self._pad.present else []
        theirs = view.owner not in ("", self._config.source)
        if view.latched or ((theirs or view.neutral_required) and not self._at_rest):
            out += self._disarm(now)
        if (
            view.neutral_required
            and not view.latched
            and self._pad.present
            and self._at_rest
            and now - self._neutral_at >= NEUTRAL_RETRY
        ):
            out.append(self._neutral(now))
        return out

    def on_reset_done(self, now: float) -> list[Output]:
        """Take that a reset was carried out, however late that is heard.

        Nothing orders the e-stop's topic and the reset's service. So the reset may have cleared an
        e-stop that was pressed after it was asked for: that press is told anew.
        """
        if not self._pressed_since_reset:
            return []
        self._telling.begin(now)
        return [EStopPressed(again=True)]

    def on_arm(self, blocked: bool) -> list[Output]:
        """Take whether the arm is held back from what is asked of it."""
        return [Feel(Cause.BLOCKED)] if blocked and self._moving else []

    def tick(self, now: float) -> list[Output]:
        """Let time pass, called once in every heartbeat period: notice silence, beat."""
        out = self.expire(now)
        if self._telling.due(now):
            self._telling.told_again(now)
            out.append(EStopPressed(again=True))
        return [*out, self._heartbeat()]

    def close(self, now: float) -> list[Output]:
        """Leave: one neutral command and a heartbeat that says so (D6, rule 11)."""
        self._pad.forget()
        self._armed = self._moving = False
        last: list[Output] = [EStopPressed(again=True)] if self._telling.pending else []
        return [*last, self._neutral(now), self._heartbeat()]

    def _felt(self, before: ArbiterView, view: ArbiterView) -> list[Output]:
        if view.latched and not before.latched:
            return [Feel(Cause.LATCHED)]
        # A lease that goes to nobody while nothing moves was idle.
        lost = before.owner == self._config.source != view.owner
        return [Feel(Cause.LEASE_LOST)] if lost and (view.owner or self._moving) else []

    def _absent(self, now: float) -> list[Output]:
        self._still = self._at_rest = False
        out = self._disarm(now)
        self._jaws = JawsToggle()
        return [*out, self._heartbeat()]

    def _disarm(self, now: float) -> list[Output]:
        self._armed = False
        self._jaws.stop()
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

    def refuse(self, problem: Problem, now: float, source: str = PAD) -> list[Output]:
        """Refuse something of `source`."""
        return [Refused(self.refusals.refuse(problem, source, now))]

    def _reset(self, now: float) -> list[Output]:
        if self._pad.estop_down:
            return self.refuse(
                Problem("estop_held", "reset while the e-stop button is down; release it first"),
                now,
            )
        if self._telling.pending:
            return self.refuse(
                Problem(
                    "estop_pending",
                    "reset before the e-stop is known to have latched; see whether the arbiter "
                    "runs, then press reset again",
                ),
                now,
            )
        if not self._at_rest:
            return self.refuse(
                Problem("not_at_rest", "reset with a control deflected; let go of all of them"),
                now,
            )
        self._pressed_since_reset = False
        return [ResetPressed()]
