"""What the driver makes of a command: a stop, a reset, a demand, or a refusal with its reason."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

from reach_alpha5_common.command import (
    ArmInput,
    CommandKind,
    DriverCommand,
    JointCommand,
    MotionCommand,
    StopLevel,
    TwistCommand,
)
from reach_alpha5_common.refusal import Problem, RefusalLog
from reach_alpha5_driver.belief import Belief
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.demand import CommandOrder, Demand, JointRates, PresetRun, input_problem
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.gate import Gate
from reach_alpha5_driver.snapshot import Note
from reach_alpha5_driver.states import State

SOURCE = "driver_command"
"""Whose the refused commands are: there is one way to the driver, named by its topic."""

SERVICE = "service"
"""Whose the refused requests in service mode are."""

HARD_STOPS = (
    "a stop may fade for longer than max_command_lifetime, so it is at once: lower the arbiter's "
    "ease_time, or raise max_command_lifetime"
)

NOT_ENGAGED = Problem("not_engaged", "release all inputs first: motion begins from neutral")


def read_as(motion: MotionCommand) -> int:
    """Return the arm input as which a command is read: a twist is a cartesian one.

    The drone's protocol has none for a set-point of joints.
    """
    if isinstance(motion, JointCommand):
        return ArmInput.NONE
    if isinstance(motion, TwistCommand):
        return ArmInput.CARTESIAN if any(motion.linear) else ArmInput.NONE
    return motion.arm_input


class CommandDesk:
    """Reads commands and e-stops, and works the gate. Times are monotonic seconds.

    Engagement. The driver does not trust that the arbiter asked for a neutral: after an e-stop, a
    lost line or a stale posture it takes no motion until it has seen for itself that nobody asks
    for any. A STOP or a neutral INPUT says so, and so does a RESET or silence for `max_lifetime`
    if the last word before it did not ask for motion. Silence after one that did is a lapse, since
    whoever wants motion repeats his demand within its lifetime: what comes after it may have been
    said long ago, and wants a STOP first.
    """

    def __init__(
        self,
        gate: Gate,
        belief: Belief,
        config: CoreConfig,
        unrest: Callable[[float], Problem | None],
        notes: deque[Note],
    ) -> None:
        """Work `gate`.

        Args:
            gate: what lets motion pass.
            belief: motion from a posture that it does not know is refused.
            config: settings.
            unrest: says why no motion may begin at a time, if the arm moves by itself.
            notes: for the log.
        """
        self.refusals = RefusalLog()
        self.control_mode = 0
        """Arm input of the last INPUT that was taken: `ArmInput`; 0 = none."""
        self._gate = gate
        self._belief = belief
        self._max_lifetime = config.max_command_lifetime
        self._service_mode = config.service_mode
        self._unrest = unrest
        self._notes = notes
        self._order = CommandOrder(config.max_command_lifetime)
        self._asks = False
        """Whether the last word asked for motion."""
        self._asked_at = -math.inf
        self._rested_at = -math.inf
        """When somebody last said that nobody asks for motion."""
        self._told_hard_stops = False

    def on_estop(self, level: int, source: str, reason: str, now: float) -> None:
        """Latch an e-stop of anybody; `level` as on the wire, an undefined one is CUT."""
        stop = StopLevel.of(level)
        if stop is not StopLevel.NONE:
            self._gate.estop(stop, now)
            text = f"e-stop {stop.name} from {source or 'somebody'}: {reason or 'no reason given'}"
            self._notes.append(Note("warn", text))

    def on_command(self, command: DriverCommand, received: float, now: float) -> bool:
        """Take a driver command that arrived at `received`; its lifetime counts from there.

        Returns:
            Whether it was a reset that cleared the latches.
        """
        in_order = self._order.takes(command, now)
        if command.kind is CommandKind.STOP:
            self._stop(command, in_order, received, now)
            return False
        asks = not command.motion.is_neutral
        rested = self._note_asking(now) if asks else False
        if not in_order:
            problem: Problem | None = self._order.problem(command)
        elif command.kind is CommandKind.RESET:
            problem = self._reset(command, now)
        else:
            problem = input_problem(command, self._max_lifetime)
            if problem is None:
                problem = self._take_input(command, received, now, rested)
            if problem is not None:
                # Whoever asks for what cannot be no longer asks for what stood before.
                self._gate.rest("refused")
        if problem is not None:
            self.refuse(problem, SOURCE, now)
        return problem is None and command.kind is CommandKind.RESET

    def on_replayed(
        self, problem: Problem, source: str, now: float, command: DriverCommand | None = None
    ) -> None:
        """Refuse what was said long ago: it ends what stands, and is no neutral.

        Args:
            problem: why it is not obeyed.
            source: whose it is.
            now: the time.
            command: what was said, if it is one of the arbiter's; a STOP stops all the same.
        """
        self._gate.rest("refused")
        if command is not None and command.kind is CommandKind.STOP:
            self._stop(command, False, now, now)
        self.refuse(problem, source, now)

    def on_service(
        self, wish: JointRates | PresetRun, asks: bool, expires: float, now: float
    ) -> None:
        """Take what a service tool wants until `expires`; `asks`: whether that is motion."""
        rested = self._note_asking(now) if asks else False
        if not self._service_mode:
            problem: Problem | None = Problem(
                "service_mode_off", "joints are moved one by one only with service_mode set"
            )
        elif not asks:
            self._rest(now)
            return
        else:
            problem = self._take(Demand(wish, expires), rested, now)
        if problem is not None:
            self._gate.rest("refused")
            self.refuse(problem, SERVICE, now)

    def refuse(self, problem: Problem, source: str, now: float) -> None:
        """Count and keep a refusal."""
        self.refusals.refuse(problem, source, now)

    def _note_asking(self, now: float) -> bool:
        """Note that motion is asked for; return whether the silence before was a neutral."""
        if self._asks and now - self._asked_at >= self._max_lifetime:
            self._gate.disengage("lapsed", now)
        since = self._gate.disengaged_at
        # Said while something held the arm, it counts when the hold is gone: after a reset the
        # motors take a moment to be on.
        rested = not self._asks and (self._rested_at >= since or now - since >= self._max_lifetime)
        self._asks, self._asked_at = True, now
        return rested

    def _stop(self, command: DriverCommand, in_order: bool, received: float, now: float) -> None:
        """Stop, whatever the command's number; only one in order is a neutral as well.

        Only such a one can let the motion fade. A lifetime that is none is an ordinary stop.
        """
        if in_order:
            self._asks = False
        if command.stop_level is not StopLevel.NONE:
            self.on_estop(command.stop_level, "the arbiter", "a stop with a level", now)
            return
        may_ease = in_order and 0.0 < command.lifetime <= self._max_lifetime
        if command.lifetime > self._max_lifetime and not self._told_hard_stops:
            self._told_hard_stops = True
            self._notes.append(Note("warn", HARD_STOPS))
        if not may_ease or not self._gate.ease("fade_over", received + command.lifetime):
            self._gate.stop("commanded", now)
        if in_order:
            self.on_neutral(now)

    def _reset(self, command: DriverCommand, now: float) -> Problem | None:
        epoch = self._gate.estop_epoch
        if command.estop_epoch != epoch:
            return Problem(
                "stale_reset",
                f"reset for e-stop {command.estop_epoch}, the last one is {epoch}; look at the "
                "arm's state, then reset again",
            )
        self._gate.reset()
        self._gate.arm_answers(self._belief.answers(now), now)
        self._notes.append(Note("info", "reset: latches cleared"))
        return None

    def _take_input(
        self, command: DriverCommand, received: float, now: float, rested: bool
    ) -> Problem | None:
        motion = command.motion
        if motion.is_neutral:
            self.control_mode = read_as(motion)
            self._rest(now)
            return None
        if self._service_mode:
            return Problem(
                "service_mode", "the driver is in service mode: restart it without service_mode"
            )
        demand = Demand(motion, received + command.lifetime, received=received)
        problem = self._take(demand, rested, now)
        if problem is None:
            self.control_mode = read_as(motion)
        return problem

    def on_neutral(self, now: float) -> None:
        """Take that nobody asks for motion, unless the last word did."""
        if not self._asks:
            self._rested_at = now
            self._gate.engage()

    def _rest(self, now: float) -> None:
        """Take a neutral word."""
        self._asks = False
        self._gate.rest("neutral")
        self.on_neutral(now)

    def _take(self, demand: Demand, rested: bool, now: float) -> Problem | None:
        """Let a demand in, if nothing is in its way; `rested`: as after a neutral."""
        if demand.expires <= now:
            return Problem("late", "the command's lifetime was over before it could be obeyed")
        if rested:
            self._gate.engage()
        problem = self._blocked(now)
        if problem is None and not self._gate.take(demand):
            problem = NOT_ENGAGED
        return problem

    def _blocked(self, now: float) -> Problem | None:
        """Say what keeps the gate shut for motion, or None."""
        gate, belief = self._gate, self._belief
        if gate.estop_level is not StopLevel.NONE:
            return Problem("estop_latched", "an e-stop is latched; reset first")
        if gate.fault_causes:
            causes = ", ".join(gate.fault_causes)
            return Problem("fault_latched", f"a fault is latched ({causes}); reset first")
        if not belief.answers(now):
            return Problem("no_arm", "the arm does not answer; check its power and the cable")
        if not belief.fresh(now):
            silent = [device.joint for device in DEVICES if belief.stale(device.index, now)]
            return Problem("stale_posture", f"no fresh position of {', '.join(silent)}")
        if gate.holds:
            return next(iter(gate.holds)).problem
        if gate.state not in (State.ENABLED, State.EXECUTING):
            return NOT_ENGAGED
        return self._unrest(now) if gate.demand is None else None
