"""When a twist or a verb may be said: the rules of the second face in one place. Pure.

Theory of operation. One thing asks at a time: nothing, a stream of twists, or a verb.

Twists. A zero twist arms, as letting go of a stick does; a moving one that comes before is
refused. Each moving one becomes a command that ends by itself after `twist_ttl`. Silence beyond
that, the end of the last publisher, and a twist that is refused end the motion with one neutral
command, and want a zero twist again.

Verbs. A call waits until the arbiter listens to us (it may want a neutral command first, and gets
it), then its command is said again and again, each time with a lifetime, until the arm reports
that it is done. It runs for its caller: it ends when nobody has a client of the service any more,
and with `stop`, a newer call, a twist that moves, an e-stop, a fault, another owner, a refusal, or
an arbiter that falls silent. Each call is answered once, with the reason. Nothing goes on by
itself.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from reach_alpha5_common.command import STILL, GripperCommand, TwistCommand
from reach_alpha5_common.refusal import Problem, Refusal, RefusalLog
from reach_alpha5_teleop.core import NEUTRAL_RETRY
from reach_alpha5_teleop.verbs.progress import ArmView, Asked, Outcome, Progress
from reach_alpha5_teleop.verbs.table import VERBS

LISTEN_TIME = 3.0
"""Time [s] within which the arbiter must listen to a verb, and say something of itself."""

NOT_ARMED = Problem("not_armed", "a moving twist before a zero one; send a zero twist first")

TWIST = "twist"
"""Whose the refusals are."""


@dataclass(frozen=True, slots=True)
class VerbsConfig:
    """Settings of the core; times in seconds.

    Attributes:
        source: our name in the arbiter's configuration.
        twist_ttl: silence of the twists beyond this ends their motion.
        command_lifetime: of each command of a verb; said again three times as often.
        verb_timeout: longest time that a verb runs.
    """

    source: str = "app"
    twist_ttl: float = 0.5
    command_lifetime: float = 0.5
    verb_timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class ArbiterView:
    """What the arbiter says of itself and of us.

    Attributes:
        owner: source that holds the lease; empty = nobody.
        latched: what is latched, for people; empty = nothing.
        listens: we are alive to it, and it waits for no neutral command of ours.
        waits_for_neutral: it is alive to us and waits for one.
        refusals: commands of ours that it refused since start.
        reason: of the last of them.
    """

    owner: str = ""
    latched: str = ""
    listens: bool = False
    waits_for_neutral: bool = False
    refusals: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    """Publish this command."""

    command: GripperCommand | TwistCommand


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a call."""

    number: int
    success: bool
    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Tell what was not obeyed."""

    refusal: Refusal


Output = Say | Answer | Refused


class VerbsCore:
    """Twists and verbs of one source. Every method returns what to do, in order.

    `now` is monotonic time in seconds and never decreases.
    """

    def __init__(self, config: VerbsConfig) -> None:
        self._config = config
        self._view = ArbiterView()
        self._view_at = float("-inf")
        self._asked: Asked | None = None
        self._armed = False
        self._moving = False
        self._twist_at = float("-inf")
        self._stamp: int | None = None
        self._neutral_at = float("-inf")
        self._said_at = float("-inf")
        self._refused_before = 0
        self.refusals = RefusalLog()

    # ---- twists --------------------------------------------------------------------------------

    def on_twist(
        self, twist: TwistCommand, stamp: int, now: float, objection: Problem | None = None
    ) -> list[Output]:
        """Take a twist.

        Args:
            twist: m/s and rad/s in its frame; its lifetime is ours to set.
            stamp: of its sender [ns]; orders, and does nothing else.
            now: the time.
            objection: why the shell would not believe it.
        """
        out = self._gap(now)
        twist = replace(twist, lifetime=self._config.twist_ttl)
        problem = objection or twist.problem() or self._order(stamp)
        if problem is None and not (twist.is_neutral or self._armed):
            problem = NOT_ARMED
        if problem is not None:
            self._armed = False
            out += self._end_motion()
            if not twist.is_neutral:  # somebody moves the arm otherwise, rightly or not
                out += self._end_call(False, f"a twist: {problem.reason}")
            return [*out, Refused(self.refusals.refuse(problem, TWIST, now))]
        self._twist_at, self._stamp = now, stamp
        if twist.is_neutral:
            self._armed = True
            return out + self._end_motion()
        self._moving = True
        return [*out, *self._end_call(False, "a twist moves the arm"), Say(twist)]

    def on_twists_gone(self) -> list[Output]:
        """Nobody publishes twists any more: no timer is waited for (D6)."""
        self._armed, self._stamp = False, None
        return self._end_motion()

    # ---- verbs ---------------------------------------------------------------------------------

    def call(self, number: int, name: str, now: float) -> list[Output]:
        """Take a call of the verb `name`; it is answered by its `number`."""
        out = self._end_motion() + self._end_call(False, f"{name} was called")
        self._armed = False
        if why := self._hindrance():
            return [*out, Answer(number, False, why)]
        self._asked = Asked(number, name, now)
        self._refused_before = self._view.refusals
        return out + self._go_on(now)

    def stop(self, number: int) -> list[Output]:
        """End whatever runs, and say so."""
        out = self._end_motion() + self._end_call(False, "stopped")
        self._armed = False
        said = [] if any(isinstance(each, Say) for each in out) else [Say(STILL)]
        theirs = self._view.owner not in ("", self._config.source)
        told = f"nothing of ours runs; {self._hindrance()}" if theirs else "stopped"
        return [*out, *said, Answer(number, not theirs, told)]

    def on_arbiter(self, view: ArbiterView, now: float) -> list[Output]:
        """Take what the arbiter says."""
        self._view, self._view_at = view, now
        if why := self._hindrance():
            self._armed = False
            return self._end_motion() + self._end_call(False, why)
        asked = self._asked
        if asked is not None and view.refusals > self._refused_before:
            return self._end_call(False, view.reason)
        if asked is not None and asked.progress is not None and not view.listens:
            # It has stopped us, and motion would begin anew: that is the caller's to ask for.
            return self._end_call(False, "the arbiter stopped it; see last_stop_cause")
        return self._go_on(now)

    def on_arm(self, arm: ArmView, now: float) -> list[Output]:
        """Take what the arm says."""
        if self._asked is None or self._asked.progress is None:
            return []
        after = self._asked.progress.after(arm, now)
        if isinstance(after, Outcome):
            return self._end_call(after.success, after.message)
        self._asked = replace(self._asked, progress=after)
        return []

    def tick(self, now: float, called: Collection[str]) -> list[Output]:
        """Let time pass; `called` are the verbs whose service somebody has a client of."""
        out = self._gap(now)
        asked = self._asked
        if asked is None:
            return out
        if asked.name not in called:
            return out + self._end_call(False, "the caller is gone")
        late = now - asked.at
        waits = late if asked.progress is None else now - self._view_at
        if waits >= LISTEN_TIME:
            why = "the arbiter does not listen: see whether it runs, and knows our source"
            return out + self._end_call(False, why)
        if late >= self._config.verb_timeout:
            return out + self._end_call(False, f"not done in {late:.0f} s")
        return out + self._go_on(now)

    def close(self) -> list[Output]:
        """End whatever runs: we leave."""
        return self._end_motion() + self._end_call(False, "the verbs node leaves")

    # ---- within --------------------------------------------------------------------------------

    def _hindrance(self) -> str:
        """Return why nothing of ours may move, for people; empty = nothing is known against it."""
        view = self._view
        if view.latched:
            return f"{view.latched}; find out why, then call reset"
        theirs = view.owner not in ("", self._config.source)
        return f"{view.owner} has the arm" if theirs else ""

    def _go_on(self, now: float) -> list[Output]:
        """Say what is due: the command of a verb, or the neutral one that the arbiter wants."""
        asked, view = self._asked, self._view
        if now - self._view_at >= LISTEN_TIME:  # what it said then is no word of now
            return []
        if view.waits_for_neutral and (asked is not None or self._armed) and not self._moving:
            if now - self._neutral_at < NEUTRAL_RETRY:
                return []
            self._neutral_at = now
            return [Say(STILL)]
        if asked is None:
            return []
        verb, lifetime = VERBS[asked.name], self._config.command_lifetime
        if asked.progress is None:
            if not view.listens:
                return []
            self._asked = replace(asked, progress=Progress(verb, now))
        elif now - self._said_at < lifetime / 3.0:
            return []
        self._said_at = now
        return [Say(replace(verb.command, lifetime=lifetime))]

    def _order(self, stamp: int) -> Problem | None:
        if self._stamp is None or stamp > self._stamp:
            return None
        return Problem(
            "stale_stamp", "not newer than the twist before it; let one node publish twists here"
        )

    def _gap(self, now: float) -> list[Output]:
        """Notice that twists have fallen silent."""
        if now - self._twist_at <= self._config.twist_ttl:
            return []
        self._armed = False
        return self._end_motion()

    def _end_motion(self) -> list[Output]:
        """Say one neutral command, if twists move the arm."""
        moving, self._moving = self._moving, False
        return [Say(STILL)] if moving else []

    def _end_call(self, success: bool, message: str) -> list[Output]:
        """Answer the call that stands, after the neutral command that ends what it has begun."""
        asked, self._asked = self._asked, None
        if asked is None:
            return []
        said: list[Output] = [Say(STILL)] if asked.progress is not None else []
        return [*said, Answer(asked.number, success, message)]
