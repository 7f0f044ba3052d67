"""From what is asked to joint rates that the arm can have at this moment: columns, then scales.

An input is up to three columns of joint rates, one an axis; several inputs, one fading into the
next, are more columns of the same program. Wrist and jaws are joints of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from operator import mul
from typing import NamedTuple

from reach_alpha5_motion.axis_scaling import Coupling, scales
from reach_alpha5_motion.coordinates import READERS, AxisDemand
from reach_alpha5_motion.demand import ArmPart, Kind
from reach_alpha5_motion.keep_out import ApproachLimit, KeepOut
from reach_alpha5_motion.limits import RateBounds, Room, position_bounds, with_elbow
from reach_alpha5_motion.model import A, ArmModel, ArmPosture, B, C, D, E, Vector
from reach_alpha5_motion.poses import path_rates
from reach_alpha5_motion.singularity import AXIS_ZONE, elbow_side, regular_elbow, turn_per_across
from reach_alpha5_motion.speed import MotionConfig

_ROUNDING = 1e-9
_FULL = 1.0 + _ROUNDING


_Column = tuple[float, float, float, float]
"""Rates of axis_e, axis_d, axis_c [rad/s], and one row more that is no joint: it slows the whole
motion inside the zone about the base axis as the turn at the edge of the zone would, so that
nothing rushes past the axis."""


class Moment:
    """The arm at one moment: where it is and what each joint may do."""

    def __init__(
        self,
        model: ArmModel,
        config: MotionConfig,
        positions: list[float],
        rooms: Sequence[Room],
        keep_out: KeepOut | None = None,
    ) -> None:
        """Take joint positions (5,), NaN = not known, their rooms, and a keep-out."""
        self.model = model
        self.config = config
        self.positions = positions
        self.known = [math.isfinite(position) for position in positions]
        self.rooms = rooms
        self.speed = [room.speed for room in rooms]
        """Highest rate of each joint [rad/s, m/s]."""
        self.bounds = position_bounds(positions, rooms)
        self._keep_out = keep_out

    @cached_property
    def approach(self) -> Sequence[ApproachLimit]:
        """What is near; measured when something wants to move, as that is what takes the time."""
        if self._keep_out is None or not all(self.known):
            return ()
        return self._keep_out.constraints(self.positions)

    def near(self, rates: Sequence[float]) -> list[ApproachLimit]:
        """Return the pairs that may come nearer too fast at joint rates up to these, either way.

        Most pairs that are near may not: the quick check comes first.
        """
        most_e, most_d, most_c, most_b, most_a = map(abs, rates)
        near = []
        for limit in self.approach:
            e, d, c, b, a = limit.row
            arm = abs(e) * most_e + abs(d) * most_d + abs(c) * most_c
            if arm + abs(b) * most_b + abs(a) * most_a > limit.rate:
                near.append(limit)
        return near

    @cached_property
    def following_speed(self) -> list[float]:
        """Highest rate of each joint that follows set-points [rad/s, m/s]."""
        *tip, wrist, jaws = self.speed
        config = self.config
        return [*tip, min(wrist, config.wrist_speed), min(jaws, config.jaw_speed)]

    @cached_property
    def path_bounds(self) -> tuple[RateBounds, tuple[float, ...]]:
        """Bounds and speed limits of the rows of a `_Column`, from position limits."""
        return self._rows(self.bounds)

    @cached_property
    def jog_bounds(self) -> tuple[RateBounds, tuple[float, ...]]:
        """The same for what moves the tip: the straight arm is a limit, too."""
        bounds = self.bounds
        elbow = self.positions[C]
        for singularity in self.model.elbow_singularities:
            side = elbow_side(elbow, singularity)
            bounds = with_elbow(bounds, elbow, side, singularity, self.config.brake_gain)
        return self._rows(bounds)

    def _rows(self, bounds: RateBounds) -> tuple[RateBounds, tuple[float, ...]]:
        turn = self.speed[E]
        lower, upper = (*bounds.lower[:B], -turn), (*bounds.upper[:B], turn)
        return RateBounds(lower, upper), (*self.speed[:B], turn)

    @cached_property
    def posture(self) -> ArmPosture:
        """How the joints move the tip; beside a straight arm, where that is not defined there."""
        regular = list(self.positions)
        for singularity in self.model.elbow_singularities:
            regular[C] = regular_elbow(regular[C], singularity)
        return self.model.posture(regular)


class Solution(NamedTuple):
    """Joint rates, and what became of what was asked."""

    rates: list[float]
    """Of the five joints, within all bounds [rad/s, m/s]."""
    wanted: list[float]
    """The same if there were no position limits and nothing to keep away from."""
    scales: list[tuple[float, ...]]
    """For each part what each of its axes gets of what it asks; 0 where nothing was asked."""
    moves: list[bool]
    """For each part whether it moves any joint."""
    coupled: bool = True
    """Whether something near counted, so that tip, wrist and jaws depend on each other."""
    near: Sequence[ApproachLimit] = ()
    """The pairs that may come nearer too fast at what was asked."""


Demands = list[Sequence[AxisDemand]]
"""What each part asks of the tip, an entry an axis; none for the way to a pose."""


def demands_of(moment: Moment, parts: Sequence[ArmPart]) -> Demands:
    """Return what each part asks of the tip where the arm is now."""
    return [
        ()
        if part.kind is Kind.POSE
        else READERS[part.kind](
            part, moment.posture, moment.positions, moment.model, moment.config.brake_gain
        )
        for part in parts
    ]


def tilted(demands: Demands, tilt: Vector) -> Demands:
    """Return the demands with a velocity front, across, up [m/s] beside theirs.

    It is shared among the axes in proportion to the squares of their speeds: an axis that does not
    move the tip gets none, and one that is cut takes its part with it.
    """
    total = sum([value * value for part in demands for axis in part for value in axis.velocity])

    def with_share(axis: AxisDemand) -> AxisDemand:
        front, across, up = axis.velocity
        share = (front * front + across * across + up * up) / total
        velocity = (front + share * tilt[0], across + share * tilt[1], up + share * tilt[2])
        return AxisDemand(velocity, axis.turn, axis.share)

    return [
        [with_share(axis) if any(axis.velocity) else axis for axis in part] for part in demands
    ]


def solve(
    moment: Moment, parts: Sequence[ArmPart], demands: Demands, wrist: float, jaws: float
) -> Solution:
    """Resolve what is asked.

    Args:
        moment: the arm; E, D, C are known if there are parts, wrist and jaws if they are asked.
        parts: what is asked of the tip, each not zero.
        demands: what they ask of the tip, `demands_of` them, perhaps tilted.
        wrist: asked rate of axis_b [rad/s].
        jaws: asked rate of axis_a [m/s].
    """
    if not parts and wrist == 0.0 and jaws == 0.0:
        return Solution([0.0] * 5, [0.0] * 5, [], [])
    turn = _turn(moment, demands)
    columns: list[_Column] = []
    places: list[tuple[int, int, float]] = []
    for number, part in enumerate(parts):
        if part.kind is Kind.POSE:
            columns.append(_pose_column(moment, part))
            places.append((number, 0, 1.0))
            continue
        for axis, demand in enumerate(demands[number]):
            if demand.turn != 0.0 or any(demand.velocity):
                columns.append(_column(moment.posture, demand, turn))
                places.append((number, axis, demand.share))
    limits, fastest = moment.jog_bounds if any(demands) else moment.path_bounds
    everything, most = [0.0] * 4, [0.0] * 4
    if columns:
        rows = list(zip(*columns, strict=True))
        everything = [sum(row) for row in rows]
        most = [sum(map(abs, row)) for row in rows]
    wanted = [*everything[:B], wrist, jaws]
    near = moment.near((*most[:B], wrist, jaws))
    if (
        limits.share(everything) == 1.0
        and _alone_free(moment, wanted)
        and all(limit.nearing(wanted) <= limit.rate for limit in near)
    ):
        granted, rates, coupled = [1.0] * len(columns), wanted, bool(near)
    else:
        granted, rates, coupled = _limited(moment, columns, (wrist, jaws), limits, fastest, near)
        share = RateBounds(tuple([-value for value in fastest]), fastest).share(everything)
        wanted[:B] = [rate * share for rate in everything[:B]]
    outcome = [[0.0] * len(part.speeds) for part in parts]
    moves = [False] * len(parts)
    for (number, axis, share), scale, column in zip(places, granted, columns, strict=True):
        outcome[number][axis] = scale * share
        moves[number] = moves[number] or (scale > 0.0 and any(column[:B]))
    return Solution(rates, wanted, [tuple(each) for each in outcome], moves, coupled, near)


def _limited(
    moment: Moment,
    columns: Sequence[_Column],
    alone: tuple[float, float],
    limits: RateBounds,
    fastest: Sequence[float],
    near: Sequence[ApproachLimit],
) -> tuple[list[float], list[float], bool]:
    """Return the scale of each column, the rates of all joints within all bounds, and `coupled`.

    Args:
        moment: the arm.
        columns: what is asked of axis_e, axis_d, axis_c.
        alone: asked rates of wrist and jaws.
        limits: bounds of the rows of a column.
        fastest: speed limits of the rows of a column.
        near: the pairs that may come nearer too fast.
    """
    wrist, jaws = alone
    couplings = []
    for (e, d, c, b, a), rate, _, _ in near:
        nearer = [e * rate_e + d * rate_d + c * rate_c for rate_e, rate_d, rate_c, _ in columns]
        row = (*nearer, b * wrist, a * jaws)
        # At scales up to one the pair comes no nearer than this, whatever the others do.
        if sum([each for each in row if each > 0.0]) > rate:
            couplings.append(Coupling(row, rate))
    granted, lone = scales(columns, limits, fastest, moment.bounds.lone_shares(alone), couplings)
    rows = [sum(map(mul, row, granted)) for row in zip(*columns, strict=True)]
    rates = [*(rows[:B] or [0.0] * B), *map(mul, alone, lone)]
    arm = RateBounds(limits.lower[:B], limits.upper[:B])
    return granted, [*arm.clip(rates[:B]), *rates[B:]], bool(couplings)


def _alone_free(moment: Moment, wanted: Sequence[float]) -> bool:
    """Whether the bounds of wrist and jaws allow what is asked of them."""
    lower, upper = moment.bounds.lower, moment.bounds.upper
    return lower[B] <= wanted[B] <= upper[B] and lower[A] <= wanted[A] <= upper[A]


def less_of(
    solution: Solution, part: ArmPart | None, parts: Sequence[ArmPart], wrist: float, jaws: float
) -> Solution | None:
    """Return the solution of a share of what another one was asked, without solving it again.

    What was granted is within all bounds, and so is any share of it: they all contain zero. More
    than that, if all axes were cut alike, is cut to the same again: the nearest that may be had
    is the same from everywhere on the way there. Of the way to a pose, what is not cut is the same
    and no more: a slower one is another way. None: it is no such share.

    Args:
        solution: of `part` alone.
        part: what it was asked for.
        parts: what is asked now.
        wrist: asked now of axis_b.
        jaws: asked now of axis_a.
    """
    if part is None or len(parts) != 1 or parts[0].key != part.key:
        return None
    speeds, granted = parts[0].speeds, solution.scales[0]
    shares = []
    for speed, asked, scale in zip(speeds, part.speeds, granted, strict=True):
        if asked * scale != 0.0:
            shares.append(speed / (asked * scale))
        elif speed != 0.0:
            return None
    if not shares or max(shares) - min(shares) > _ROUNDING or shares[0] < 0.0:
        return None
    share, more = min(shares[0], 1.0), max(shares[0], 1.0)
    if part.kind is Kind.POSE and (granted != (1.0,) or abs(shares[0] - 1.0) > _ROUNDING):
        return None
    if more > _FULL and not _cut_alike(part, granted, more):
        return None
    lone = _less_alone(solution, share, wrist, jaws)
    if lone is None or (more > _FULL and solution.coupled and any(lone)):
        return None
    rates = [*[share * rate for rate in solution.rates[:B]], *lone]
    scales = tuple([1.0 / more if speed != 0.0 else 0.0 for speed in speeds])
    return solution._replace(rates=rates, scales=[scales])


def _cut_alike(part: ArmPart, granted: Sequence[float], more: float) -> bool:
    """Whether all axes that were asked got the same scale, and `more` of it is not above one."""
    scales = [scale for scale, asked in zip(granted, part.speeds, strict=True) if asked != 0.0]
    return max(scales) - min(scales) <= _ROUNDING and more * max(scales) <= _FULL


def _less_alone(solution: Solution, share: float, wrist: float, jaws: float) -> list[float] | None:
    """Return the rates of wrist and jaws beside a share of the rest; None: to be solved anew."""
    lone = []
    wants, has = solution.wanted[B:], solution.rates[B:]
    for asked, wanted, had in zip((wrist, jaws), wants, has, strict=True):
        if solution.coupled and abs(asked - share * had) > _ROUNDING * abs(had):
            return None
        if not min(wanted, 0.0) <= asked <= max(wanted, 0.0):
            return None
        lone.append(asked if abs(asked) <= abs(had) else had)
    return lone


def blocked_by(moment: Moment, solution: Solution) -> tuple[tuple[bool, ...], list[str]]:
    """Tell which position limits hold back what is wanted, and name all that does."""
    wanted = solution.wanted
    at_limit = moment.bounds.holds_back(wanted)
    names = [
        f"limit {name}"
        for name, held in zip(moment.model.joint_names, at_limit, strict=True)
        if held
    ]
    names += [
        f"collision {limit.pair}"
        for limit in solution.near
        if limit.nearing(wanted) > limit.rate + _ROUNDING
    ]
    return at_limit, names


def _turn(moment: Moment, demands: Demands) -> float:
    """Return the turn of the base per speed of the tip across the arm's plane [rad/m]."""
    if not any(demands):
        return 0.0
    reach = moment.posture.reach
    if abs(reach) >= AXIS_ZONE:  # the direction does not matter
        return 1.0 / reach
    front, across, _ = map(
        sum, zip(*[axis.velocity for part in demands for axis in part], strict=True)
    )
    return turn_per_across(reach, front, across)


def _column(posture: ArmPosture, demand: AxisDemand, turn: float) -> _Column:
    front, across, up = demand.velocity
    rate_d, rate_c = posture.planar_rates(front, up)
    rush = across / max(abs(posture.reach), AXIS_ZONE)
    return turn * across + demand.turn, rate_d, rate_c, rush


def _pose_column(moment: Moment, part: ArmPart) -> _Column:
    """Return the rates on the way to a pose: a joint that is blocked stops its whole leg."""
    config, speed = moment.config, moment.speed
    share = part.speeds[0]
    velocity = (speed[E] * share, speed[D] * share, speed[C] * share)
    if 0.0 in velocity:
        return 0.0, 0.0, 0.0, 0.0
    rate_e, rate_d, rate_c = path_rates(
        (moment.positions[E], moment.positions[D], moment.positions[C]),
        config.poses[part.name],
        config.lift,
        velocity,
        config.brake_gain,
        (config.leg_tolerance, config.pose_tolerance),
    )
    return rate_e, rate_d, rate_c, 0.0
