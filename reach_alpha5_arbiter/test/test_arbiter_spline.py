"""C11: a path meets its points to the bit, and runs between them as they say."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reach_alpha5_arbiter.spline import NO_WAY, Path, trapezoid
from reach_alpha5_arbiter.trajectory import Point

numbers = st.floats(-10.0, 10.0)
steps = st.floats(0.001, 10.0)


def paths(detail: int, joints: int = 2, least: int = 2) -> st.SearchStrategy[Path]:
    """Paths whose points say positions (0), velocities too (1), accelerations too (2)."""
    motion = st.tuples(*[numbers] * joints)

    def joined(entries: list[tuple[float, list[tuple[float, ...]]]]) -> Path:
        at, points = 0.0, []
        for step, said in entries:
            points.append(Point(at, *said[: detail + 1]))
            at += step
        return Path(tuple(points))

    entry = st.tuples(steps, st.tuples(motion, motion, motion))
    return st.lists(entry, min_size=least, max_size=6).map(joined)


@pytest.mark.parametrize("detail", [0, 1, 2])
@given(data=st.data())
def test_C11_a_path_is_at_each_of_its_points_to_the_bit(detail: int, data: st.DataObject) -> None:
    path = data.draw(paths(detail))
    for point in path.points:
        positions, velocities = path.motion(point.at)
        assert positions == point.positions
        if point.velocities and point is not path.points[-1]:
            assert velocities == pytest.approx(point.velocities, rel=1e-12)


@pytest.mark.parametrize("detail", [0, 1, 2])
@given(data=st.data(), share=st.floats(0.0, 1.0, exclude_max=True))
def test_C11_a_segment_is_the_polynomial_that_meets_what_both_its_ends_say(
    detail: int, data: st.DataObject, share: float
) -> None:
    path = data.draw(paths(detail, joints=1))
    place = data.draw(st.integers(0, len(path.points) - 2))
    before, after = path.points[place : place + 2]
    h = after.at - before.at
    # The coefficients in u = (t - t0)/h of the one polynomial of least degree, by linear algebra.
    ends = [(before, 0.0), (after, 1.0)]
    rows, sides = [], []
    for point, u in ends:
        said = [point.positions, point.velocities, point.accelerations][: detail + 1]
        for order, values in enumerate(said):
            rows.append(
                [
                    math.perm(power, order) * u ** (power - order) if power >= order else 0.0
                    for power in range(2 * detail + 2)
                ]
            )
            sides.append(values[0] * h**order)
    polynomial = np.polynomial.Polynomial(np.linalg.solve(np.array(rows), np.array(sides)))
    at = before.at + share * h
    assume(before.at <= at < after.at)
    u = (at - before.at) / h
    (position,), (velocity,) = path.motion(at)
    scale = max(1.0, *np.abs(sides))
    assert position == pytest.approx(polynomial(u), abs=1e-9 * scale)
    assert velocity == pytest.approx(polynomial.deriv()(u) / h, abs=1e-9 * scale / h)


@given(path=paths(0), share=st.floats(0.0, 1.0))
def test_C11_positions_alone_are_joined_by_straight_lines_that_overshoot_nothing(
    path: Path, share: float
) -> None:
    at = share * path.duration
    for joint, position in enumerate(path.motion(at)[0]):
        place = max(k for k, point in enumerate(path.points) if point.at <= at)
        near = [point.positions[joint] for point in path.points[place : place + 2]]
        assert min(near) - 1e-12 <= position <= max(near) + 1e-12


def test_C11_a_segment_uses_only_what_both_of_its_ends_say() -> None:
    line, curve = Point(0.0, (0.0,)), Point(1.0, (1.0,), (0.0,))
    end = Point(2.0, (2.0,), (0.0,), (0.0,))
    path = Path((line, curve, end))
    assert path.motion(0.5) == ((0.5,), (1.0,))
    assert path.motion(1.5) == ((1.5,), (1.5,)), "the middle of a cubic from rest to rest"


@given(path=paths(2))
def test_C11_a_path_rests_at_its_end_from_then_on(path: Path) -> None:
    for late in (0.0, 1e-9, 1.0, math.inf):
        assert path.motion(path.duration + late) == (path.points[-1].positions, (0.0, 0.0))


@given(path=paths(1, joints=1), offset=numbers, share=st.floats(0.01, 1.0))
def test_U17_a_path_starts_from_where_the_joint_is_and_that_fades_without_a_jump(
    path: Path, offset: float, share: float
) -> None:
    blend = share * path.duration
    faded = Path(path.points, (offset,), blend)
    assert faded.motion(0.0)[0][0] == path.points[0].positions[0] + offset
    assert faded.motion(0.0)[1] == path.motion(0.0)[1]
    assert faded.motion(blend) == path.motion(blend)
    left = [
        (faded.motion(at)[0][0] - path.motion(at)[0][0]) * math.copysign(1.0, offset)
        for at in np.linspace(0.0, blend, 23)
    ]
    assert all(later <= sooner + 1e-6 for sooner, later in pairwise(left))


@given(path=paths(1, joints=1), offset=numbers, share=st.floats(0.05, 0.95))
def test_C11_the_velocity_is_that_of_the_position(path: Path, offset: float, share: float) -> None:
    faded = Path(path.points, (offset,), path.duration)
    at, step = share * path.duration, 1e-4 * path.duration
    assume(all(abs(point.at - at) > step for point in path.points))
    (low,), (high,) = faded.motion(at - step)[0], faded.motion(at + step)[0]
    # Over such a step a cubic is within its third derivative times step^2 / 6 of its tangent.
    hs = [after.at - before.at for before, after in pairwise(path.points)]
    bend = 300.0 * max(1.0, *hs) / min(hs) ** 3 + 12.0 * abs(offset) / path.duration**3
    assert (high - low) / (2.0 * step) == pytest.approx(
        faded.motion(at)[1][0], abs=bend * step * step + 1e-9 * max(1.0, 1.0 / step)
    )


@given(
    start=st.floats(0.0, 0.02),
    end=st.floats(0.0, 0.02),
    speed=st.floats(1e-4, 0.1),
    acceleration=st.floats(1e-3, 1.0),
)
def test_C11_jaws_go_evenly_from_rest_to_rest_and_never_faster_than_they_may(
    start: float, end: float, speed: float, acceleration: float
) -> None:
    path, way = trapezoid(start, end, speed, acceleration), abs(end - start)
    if way < NO_WAY:
        assert path == Path((Point(0.0, (end,), (0.0,)),))
        return
    times = np.linspace(0.0, path.duration, 101)
    positions, velocities = (
        [motion[0] for motion in part]
        for part in zip(*(path.motion(float(at)) for at in times), strict=True)
    )
    assert positions[-1] == end
    assert positions[0] == start
    assert max(map(abs, velocities)) <= speed * (1.0 + 1e-6)
    low, high = min(start, end), max(start, end)
    assert all(low - 1e-12 <= position <= high + 1e-12 for position in positions)
    period = path.duration / 100.0
    changes = np.abs(np.diff(velocities))
    assert np.all(changes <= acceleration * period * (1.0 + 1e-6) + 1e-12)
    # No slower than it must be: what the two ramps take more than full speed all the way.
    full = way / speed + speed / acceleration
    if way >= speed * speed / acceleration:
        assert path.duration == pytest.approx(full, rel=1e-6)
    else:
        assert path.duration == pytest.approx(2.0 * math.sqrt(way / acceleration), rel=1e-6)
