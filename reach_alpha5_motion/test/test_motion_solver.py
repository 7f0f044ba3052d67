"""What may be taken over from one solution to the next."""

import pytest

from reach_alpha5_motion.demand import ArmPart, Kind
from reach_alpha5_motion.solver import Solution, less_of

ASKED = ArmPart(Kind.CARTESIAN, (0.1, -0.1, 0.05))
GRANTED = Solution([0.2, -0.1, 0.3, 0.0, 0.0], [0.3] * 5, [(0.5, 0.5, 0.0)], [True])
WITH_WRIST = Solution([0.2, -0.1, 0.3, 0.4, 0.0], [0.3] * 5, [(0.5, 0.5, 0.0)], [True])


def part(*speeds, kind=Kind.CARTESIAN, name=""):
    return ArmPart(kind, speeds, name)


def test_a_share_of_what_was_granted_needs_no_solving():
    less = less_of(GRANTED, ASKED, [part(0.02, -0.02, 0.0)], 0.0, 0.0)
    assert less.rates == pytest.approx([0.08, -0.04, 0.12, 0.0, 0.0])
    assert less.scales == [(1.0, 1.0, 0.0)]
    assert less.wanted == GRANTED.wanted
    assert less_of(GRANTED, ASKED, [part(0.05, -0.05, 0.0)], 0.0, 0.0).rates == GRANTED.rates


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [part(0.02, -0.01, 0.0)],  # another direction
        [part(-0.02, 0.02, 0.0)],  # the other way
        [part(0.06, -0.06, 0.0)],  # more of it
        [part(0.02, -0.02, 0.01)],  # an axis that was not granted
        [part(0.02, -0.02, 0.0, kind=Kind.CYLINDRICAL)],
        [part(0.02, -0.02, 0.0), part(0.1, kind=Kind.POSE, name="stowed")],
    ],
)
def test_anything_else_is_solved_anew(parts):
    assert less_of(GRANTED, ASKED, parts, 0.0, 0.0) is None


def test_with_wrist_or_jaws_beside_it_it_is_solved_anew():
    same = [part(0.02, -0.02, 0.0)]
    assert less_of(GRANTED, ASKED, same, 0.1, 0.0) is None
    assert less_of(GRANTED, ASKED, same, 0.0, 0.001) is None
    assert less_of(WITH_WRIST, ASKED, same, 0.0, 0.0) is None
    assert less_of(GRANTED, None, same, 0.0, 0.0) is None


def test_the_way_to_a_pose_is_no_straight_share():
    asked = part(0.5, kind=Kind.POSE, name="stowed")
    granted = Solution([0.2] * 3 + [0.0] * 2, [0.2] * 5, [(1.0,)], [True])
    assert less_of(granted, asked, [part(0.25, kind=Kind.POSE, name="stowed")], 0.0, 0.0) is None
