"""The motion of the arm over time: what the driver asks at each control tick.

Each step foresees where the arm will be when it obeys, resolves there what is asked, mixes it with
what was asked a moment ago (`ramp`), keeps the tip on its line (`line`), and changes no joint
faster than it can change (`acceleration`). Set-points of joints are smooth by themselves: they are
followed (`following`) within the same limits. `docs/motion.md` explains why in this order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from reach_alpha5_common.command import MotionCommand
from reach_alpha5_common.refusal import Problem
from reach_alpha5_motion.acceleration import towards
from reach_alpha5_motion.coordinates import AxisDemand
from reach_alpha5_motion.demand import ArmPart, Demand, Kind
from reach_alpha5_motion.following import Afterglow, pursue
from reach_alpha5_motion.keep_out import KeepOut
from reach_alpha5_motion.limits import RateBounds
from reach_alpha5_motion.line import Line
from reach_alpha5_motion.model import A, ArmModel, B, C, JointLimits, Vector, dot
from reach_alpha5_motion.prediction import RateHistory
from reach_alpha5_motion.ramp import Ramp, Shaper
from reach_alpha5_motion.resolver import Resolution, VelocityResolver, pose_number
from reach_alpha5_motion.set_point import SetPoint
from reach_alpha5_motion.solver import (
    Demands,
    Moment,
    Solution,
    blocked_by,
    demands_of,
    less_of,
    solve,
    tilted,
)
from reach_alpha5_motion.speed import MotionConfig
from reach_alpha5_motion.speeds import Speed, check_accelerations, effective_speeds

GAP = 0.1
"""s: after a pause longer than this the arm is thought still, and motion begins anew."""

MISSED = 3.0
"""Steps in a row that a pause is longer than, where the steps themselves are far apart."""

LEAD = 0.01
"""s: a command that comes after a pause counts as this old, so that the first step moves."""

LINE_RADIUS = 0.02
"""m from the base axis within which the tip is not drawn to a line: the base would jump about."""

LINE_BEND = 0.15
"""rad of axis_c from the straight arm within which the tip is not drawn to a line."""

_EVEN = 1e-6
"""Scales of axes that differ by no more are the same: nothing cuts one axis alone."""


class MotionGenerator:
    """Turns commands into joint velocities that follow each other smoothly.

    One object for one arm and one thread. All times are monotonic [s].
    """

    def __init__(
        self,
        model: ArmModel,
        config: MotionConfig,
        keep_out: KeepOut | None = None,
        period: float = 0.02,
    ) -> None:
        """Begin at rest.

        Args:
            model: the arm.
            config: speeds, accelerations, poses.
            keep_out: what must not be touched.
            period: about how far apart the steps will be [s].

        Raises:
            MotionConfigError: a pose is outside the limits, or a joint cannot stop in ramp_time.
        """
        self._model = model
        self._config = config
        self._accelerations = config.accelerations
        self._keep_out = keep_out
        self._resolver = VelocityResolver(model, config)
        ramp = Ramp.of(config.ramp_time, config.jerk_share)
        check_accelerations(model.limits, config, ramp, model.joint_names)
        self._arm: Shaper[tuple[Kind, str]] = Shaper(ramp)
        self._wrist: Shaper[int] = Shaper(ramp)
        self._jaws: Shaper[int] = Shaper(ramp)
        self._followed = Afterglow(ramp)
        self._line = Line(config.line_distance, config.line_slack, config.line_tilt)
        self._history = RateHistory()
        self._rates = [0.0] * 5
        self._target: ArmPart | None = None
        self._neutral_since: float | None = None
        self._foreseen: tuple[float, ...] = (math.nan,) * 5
        self._now = -math.inf
        self._period = period
        self._gap = max(GAP, MISSED * period)

    @property
    def foreseen(self) -> tuple[float, ...]:
        """Joint positions for which the last step was resolved, five [rad, m]; NaN: not known."""
        return self._foreseen

    @property
    def at_rest(self) -> bool:
        """Whether nothing moves and all ramps have ended."""
        shapers = (self._arm, self._wrist, self._jaws, self._followed)
        return all(shaper.at_rest for shaper in shapers) and not any(self._rates)

    def halt(self) -> None:
        """Note that the arm was stopped at once: the next motion begins at rest."""
        self._forget_input()
        self._followed.forget()
        self._history.forget()
        self._rates = [0.0] * 5
        self._now = -math.inf

    def keep_out_of(self, keep_out: KeepOut | None) -> None:
        """Keep clear of this from the next step on."""
        self._keep_out = keep_out

    def speeds(self, limits: JointLimits | None = None) -> tuple[Speed, ...]:
        """Return how fast the arm may go within `limits` that it reports."""
        model = self._model
        return effective_speeds(model.limits, limits, self._config, model.joint_names)

    def resolve_joints(
        self, rates: Sequence[float], q: npt.ArrayLike, limits: JointLimits | None = None
    ) -> Resolution:
        """Return asked rates of single joints within position and velocity limits, at once.

        For service tools: neither smoothed nor kept clear of anything; see `VelocityResolver`.
        """
        return self._resolver.resolve_joints(rates, q, limits)

    def step(
        self,
        command: MotionCommand,
        q: npt.ArrayLike,
        q_at: float | Sequence[float],
        now: float,
        limits: JointLimits | None = None,
        holding: bool = False,
        asked_at: float | None = None,
    ) -> Resolution:
        """Return the joint velocities from `now` until the next step.

        Args:
            command: what is asked; neutral (or refused): the motion fades within `ramp_time`.
            q: measured joint positions, shape (5,): rad, the jaws in m. NaN = not known: what
                needs that joint is refused and stops at once.
            q_at: when they were measured, one time or one for each joint.
            now: time of this step; never before that of the last.
            limits: as reported by the arm; they only narrow those of the description.
            holding: the jaws hold something: they are not stowed unless the command says so.
            asked_at: when the command came: a set-point goes on from there; None: just now.
        """
        if now - self._now > self._gap:
            self.halt()
        since = max(self._now, now - LEAD)
        elapsed = now - self._now if math.isfinite(self._now) else LEAD
        moment = self._moment(q, q_at, now, limits)
        demand = self._demand(command, moment, holding)
        if demand.joints is not None:
            age = 0.0 if asked_at is None else max(now - asked_at, 0.0)
            return self._follow(moment, demand.joints, age, now, elapsed)
        part = self._paced(demand, elapsed)
        wanted = [] if part is None else [part]
        asked = solve(moment, wanted, demands_of(moment, wanted), demand.wrist, demand.jaws)
        self._ask(part, demand, asked, since)

        parts = [
            ArmPart(kind, speeds, name)
            for (kind, name), speeds in self._arm.mean(now).items()
            if any(speeds)
        ]
        wrist, jaws = _rate(self._wrist, B, now), _rate(self._jaws, A, now)
        demands = demands_of(moment, parts)
        tilt = self._tilt(moment, parts, demands, asked)
        shaped = None
        if tilt is not None:
            demands = tilted(demands, tilt)
        else:
            shaped = less_of(asked, part, parts, wrist, jaws)
        if shaped is None:
            shaped = solve(moment, parts, demands, wrist, jaws)
        bounds = self._fading(
            moment, part is None and not (demand.wrist or demand.jaws), since, now
        )
        rates = shaped.rates
        if not self._followed.at_rest:
            rates = self._followed.beside(rates, moment, bounds, since, now)
        self._send(bounds.clip(rates), bounds, moment, now, elapsed)
        correction = 0.0, 0.0, 0.0
        if tilt is not None:
            correction = self._correction(moment, demands[0], shaped, tilt)
        return self._resolution(moment, demand, part, asked, parts, shaped, correction)

    def _follow(
        self, moment: Moment, point: SetPoint, age: float, now: float, elapsed: float
    ) -> Resolution:
        """Return the step of joints that follow a set-point taken `age` [s] ago."""
        self._forget_input()
        # What is foreseen is the posture in the middle of the time for which the rates count.
        age += self._period / 2.0
        bounds = moment.bounds.slower(moment.following_speed)
        found = pursue(point, age, moment, bounds, self._config.brake_gain, self._rates)
        self._send(found.rates, bounds, moment, now, elapsed, together=len(self._rates))
        self._followed.note(self._rates, now)
        at_limit, names = blocked_by(moment, found)
        return Resolution(np.array(self._rates), at_limit, blocked_by=tuple(names))

    def _send(
        self,
        wanted: list[float],
        bounds: RateBounds,
        moment: Moment,
        now: float,
        elapsed: float,
        together: int = B,
    ) -> None:
        """Go from the last rates to the wanted ones, as far as the joints can by now."""
        if any(wanted) or any(self._rates):  # else nothing need be known of what is near
            steps = [most * elapsed for most in self._accelerations]
            near = moment.approach
            self._rates = towards(self._rates, wanted, steps, bounds, near, together)
        self._history.sent(self._rates, now)
        self._period += 0.2 * (min(elapsed, self._gap) - self._period)
        self._now = now

    def _forget_input(self) -> None:
        """Forget what was asked of tip, wrist and jaws."""
        self._arm.forget()
        self._wrist.forget()
        self._jaws.forget()
        self._line.forget()
        self._target = None
        self._neutral_since = None

    def _moment(
        self,
        q: npt.ArrayLike,
        q_at: float | Sequence[float],
        now: float,
        limits: JointLimits | None,
    ) -> Moment:
        """Return the arm as it will be in the middle of the time for which this step counts."""
        measured: list[float] = np.asarray(q, dtype=np.float64).tolist()
        times = [q_at] * 5 if isinstance(q_at, (int, float)) else q_at
        moved = self._history.travel([at - self._config.latency for at in times], now)
        half = self._period / 2.0
        foreseen = [
            position + way + rate * half
            for position, way, rate in zip(measured, moved, self._rates, strict=True)
        ]
        self._foreseen = tuple(foreseen)
        return self._resolver.moment(foreseen, limits, self._keep_out)

    def _demand(self, command: MotionCommand, moment: Moment, holding: bool) -> Demand:
        """Return what is asked; what moves without being measured stops at once."""
        demand = self._resolver.demand(command, moment, holding)
        known = moment.known
        blind = self._keep_out is not None and not all(known)
        asks = demand.arm or demand.joints or demand.wrist or demand.jaws
        if blind and asks:
            reason = "all five joints must be measured before the arm can keep clear of things"
            demand = Demand(refused=Problem("unknown_posture", reason))
        if blind or not all(known[:B]):
            self._arm.forget()
            self._line.forget()
            self._rates[:B] = [0.0] * B
        if not all(known):
            self._followed.forget()
        for joint, shaper in ((B, self._wrist), (A, self._jaws)):
            if blind or not known[joint]:
                shaper.forget()
                self._rates[joint] = 0.0
        return demand

    def _paced(self, demand: Demand, elapsed: float) -> ArmPart | None:
        """Return the input for the tip, as far as its own acceleration lets it grow by now."""
        part, before = demand.arm, self._target
        if part is not None and math.isfinite(demand.acceleration):
            same = before is not None and before.key == part.key
            old = before.speeds if before is not None and same else (0.0,) * len(part.speeds)
            # What gets less or turns round does not wait: only what grows from there is paced.
            kept = [
                min(max(new, min(was, 0.0)), max(was, 0.0))
                for was, new in zip(old, part.speeds, strict=True)
            ]
            growth = math.dist(part.speeds, kept)
            most = demand.acceleration * elapsed
            if growth > most:
                share = most / growth
                speeds = tuple(a + share * (b - a) for a, b in zip(kept, part.speeds, strict=True))
                part = ArmPart(part.kind, speeds, part.name)
        self._target = part
        return part

    def _ask(self, part: ArmPart | None, demand: Demand, asked: Solution, since: float) -> None:
        """Let what was asked, as far as it can be had, go on into the ramps."""
        arm = None if part is None else (part.key, part.scaled(asked.scales[0]).speeds)
        self._arm.ask(arm, since)
        self._wrist.ask(None if demand.wrist == 0.0 else (B, (asked.rates[B],)), since)
        self._jaws.ask(None if demand.jaws == 0.0 else (A, (asked.rates[A],)), since)

    def _tilt(
        self, moment: Moment, parts: Sequence[ArmPart], demands: Demands, asked: Solution
    ) -> Vector | None:
        """Return the velocity that brings the tip back to its line, in the arm's basis [m/s]."""
        if len(parts) != 1 or parts[0].kind is Kind.POSE or not self._is_free(moment, asked):
            self._line.forget()
            return None
        posture = moment.posture
        front, across, up = map(sum, zip(*[axis.velocity for axis in demands[0]], strict=True))
        if parts[0].kind is Kind.CYLINDRICAL:
            height = dot(posture.tip, posture.up)
            return self._line.tilt((front, 0.0, up), (posture.reach, 0.0, height))
        back = self._line.tilt(posture.in_body(front, across, up), posture.tip)
        return None if back is None else posture.in_basis(back)

    def _is_free(self, moment: Moment, asked: Solution) -> bool:
        """Whether nothing cuts one axis alone, and the tip is far from where it is singular."""
        scales = [scale for part in asked.scales for scale in part if scale > 0.0]
        elbow = moment.positions[C]
        return (
            bool(scales)
            and max(scales) - min(scales) <= _EVEN
            and abs(moment.posture.reach) > LINE_RADIUS
            and all(
                abs(elbow - singularity.angle) > LINE_BEND
                for singularity in self._model.elbow_singularities
            )
        )

    def _fading(self, moment: Moment, neutral: bool, since: float, now: float) -> RateBounds:
        """Return the bounds in which every joint is still in time after all input has ended.

        The ramps see to that by themselves unless the input ends while joints turn round.
        """
        if not neutral:
            self._neutral_since = None
            return moment.bounds
        if self._neutral_since is None:
            self._neutral_since = since
        left = max(0.0, self._neutral_since + self._config.ramp_time - now)
        return moment.bounds.slower([most * left for most in self._accelerations])

    def _resolution(
        self,
        moment: Moment,
        demand: Demand,
        part: ArmPart | None,
        asked: Solution,
        parts: Sequence[ArmPart],
        shaped: Solution,
        correction: Vector,
    ) -> Resolution:
        at_limit, names = blocked_by(moment, asked)
        scales = (0.0, 0.0, 0.0)
        pose = ""
        for each, granted, moves in zip(parts, shaped.scales, shaped.moves, strict=True):
            if each.kind is Kind.POSE:
                if moves and (part is None or part.key == each.key):
                    pose = each.name
            elif part is not None and part.key == each.key:
                first, second, third = (
                    min(1.0, max(0.0, got * scale / wanted)) if wanted != 0.0 else 0.0
                    for got, scale, wanted in zip(each.speeds, granted, part.speeds, strict=True)
                )
                scales = first, second, third
        return Resolution(
            np.array(self._rates),
            at_limit,
            scales,
            pose_number(pose),
            demand.refused,
            tuple(names),
            pose,
            correction,
        )

    def _correction(
        self, moment: Moment, axes: Sequence[AxisDemand], shaped: Solution, tilt: Vector
    ) -> Vector:
        """Return what of the tilt is in the rates that were sent, in `base_link_frd` [m/s]."""
        size = math.hypot(*shaped.rates[:B])
        if size == 0.0:
            return 0.0, 0.0, 0.0
        # The tilt was put on what is left of an axis that brakes before the base axis.
        granted = max(
            scale / axis.share if axis.share > 0.0 else 0.0
            for scale, axis in zip(shaped.scales[0], axes, strict=True)
        )
        share = granted * math.hypot(*self._rates[:B]) / size
        front, across, up = tilt
        return moment.posture.in_body(share * front, share * across, share * up)


def _rate(shaper: Shaper[int], joint: int, now: float) -> float:
    """Return the mean rate of a joint of its own [rad/s, m/s]."""
    return shaper.mean(now).get(joint, (0.0,))[0]
