"""Chaos finds what is wrong: its judge is shown bytes and truths that no good stack would give."""

import random
import struct

import pytest
from chaos import Outcome, summary
from chaos_judge import MILLISECOND, Blow, Sample, Verdict, judge
from chaos_trial import KINDS, SHARES, plan

from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES, Packet
from reach_alpha5_driver.sim.log import TO_ARM, Entry, WireLog

BYTE_TIME_NS = 86806.0
BLOW, END = 1000.0, 4000.0
"""[ms]"""

JOG = {5: 0.2, 4: 0.0, 3: 0.1, 2: 0.0, 1: 0.0}
STOP = {ALL_DEVICES: 0.0, **dict.fromkeys(AXES, 0.0)}


def ns(ms):
    return round(ms * MILLISECOND)


def wire(*sets):
    """Make a log of sets of velocities, each at a time [ms]."""
    return WireLog(
        tuple(
            Entry(
                ns(at),
                TO_ARM,
                b"".join(
                    encode(Frame(device, Packet.VELOCITY, struct.pack("<f", value)))
                    for device, value in velocities.items()
                ),
            )
            for at, velocities in sets
        ),
        BYTE_TIME_NS,
    )


def jogging(until=BLOW):
    return [(float(at), JOG) for at in range(0, int(until), 20)]


def truth(still_from):
    """Make samples of an arm that moves until a time [ms]."""
    return [
        Sample(ns(at), {"e": 0.2 if at < still_from else 0.0, "a": 0.0})
        for at in range(0, int(END), 20)
    ]


def judged(*sets, still_from=BLOW + 100.0, within=50.0, line_back=None):
    blow = Blow(ns(BLOW), within, None if line_back is None else ns(line_back))
    return judge(wire(*sets), truth(still_from), blow, ns(END))


def test_a_stop_in_time_and_an_arm_that_stays_still_are_well():
    verdict = judged(*jogging(), (BLOW + 20.0, STOP))
    assert verdict.ok and verdict.moving
    assert verdict.delay == pytest.approx(20.0)


def test_a_missing_stop_is_found():
    verdict = judged(*jogging())
    assert verdict.moving and not verdict.ok
    assert verdict.delay is None and "NO STOP" in str(verdict)


def test_a_late_stop_is_found():
    verdict = judged(*jogging(), (BLOW + 50.1, STOP))
    assert not verdict.in_time and not verdict.ok
    assert "TOO LATE" in str(verdict)


def test_a_stop_before_the_blow_is_none_after_it():
    assert judged((0.0, JOG), (BLOW - 1.0, STOP), (BLOW + 900.0, STOP)).in_time is False


def test_a_joint_that_a_jog_tells_zero_is_no_stop():
    verdict = judged(*jogging(), (BLOW + 5.0, {4: 0.0}), (BLOW + 5.0, {2: 0.0}))
    assert verdict.delay is None


def test_motion_on_its_way_before_the_stop_is_allowed():
    assert judged(*jogging(BLOW + 30.0), (BLOW + 40.0, STOP)).ok


def test_a_single_motion_frame_after_the_stop_is_found_even_if_it_is_taken_back():
    sets = [*jogging(), (BLOW + 20.0, STOP), (BLOW + 600.0, {2: 0.1}), (BLOW + 605.0, STOP)]
    verdict = judged(*sets)
    assert verdict.in_time and not verdict.ok
    assert "1 motion frames" in verdict.motion


def test_a_jog_that_goes_on_after_the_stop_is_found():
    verdict = judged(*jogging(), (BLOW + 20.0, STOP), (BLOW + 600.0, JOG))
    assert "axes c, e were told to move last" in verdict.motion


def test_joints_that_move_although_they_were_told_to_stop_are_found():
    verdict = judged(*jogging(), (BLOW + 20.0, STOP), still_from=BLOW + 400.0)
    assert "axis e went" in verdict.motion and not verdict.ok


def test_joints_that_nobody_looked_at_are_not_taken_for_still():
    log = wire(*jogging(), (BLOW + 20.0, STOP))
    assert not judge(log, [], Blow(ns(BLOW), 50.0), ns(END)).ok


def looked(*times):
    """Make samples of an arm that was found at these times [ms], and often later on."""
    return [Sample(ns(at), {}) for at in (*times, *range(int(times[-1]) + 20, int(END), 20))]


@pytest.mark.parametrize(
    ("times", "telling"),
    [
        ((BLOW + 5.0, BLOW + 81.0), False),
        ((BLOW + 90.0,), False),
        ((BLOW + 20.0, BLOW + 48.0, BLOW + 79.0), True),
        ((BLOW + 30.0, BLOW + 55.0, BLOW + 120.0), True),
        ((BLOW + 5.0, BLOW + 30.0, BLOW + 55.0, BLOW + 81.0), True),
    ],
)
def test_a_late_stop_that_a_sleeping_arm_may_have_found_late_tells_nothing(times, telling):
    log = wire(*jogging(), (BLOW + 80.0, STOP))
    verdict = judge(log, looked(*times), Blow(ns(BLOW), 50.0), ns(END))
    assert not verdict.in_time
    assert verdict.telling is telling


def test_a_sleeping_arm_excuses_no_missing_stop():
    verdict = judge(wire(*jogging()), looked(END - 100.0), Blow(ns(BLOW), 50.0), ns(END))
    assert verdict.telling and not verdict.ok


def test_an_arm_that_stood_when_the_blow_came_tells_nothing():
    assert not judged((0.0, JOG), (500.0, STOP), (BLOW + 20.0, STOP)).moving


def test_after_a_dead_line_the_stop_must_come_first():
    back = BLOW + 500.0
    well = judged(*jogging(), (back + 200.0, STOP), still_from=back + 300.0, within=5000.0,
                  line_back=back)  # fmt: skip
    assert well.ok and well.delay == pytest.approx(200.0)
    lurch = judged(*jogging(), (back + 150.0, JOG), (back + 200.0, STOP),
                   still_from=back + 300.0, within=5000.0, line_back=back)  # fmt: skip
    assert lurch.in_time and "motion frames" in lurch.motion


def test_a_trial_is_the_same_whether_it_is_run_alone_or_among_others():
    seed = random.randrange(1000)
    trials = plan(seed, 0, 100, list(KINDS), ["sigkill", "sigstop", "unplug"])
    again = plan(seed, 57, 1, list(KINDS), ["sigkill", "sigstop", "unplug"])
    assert again == [trials[57]]


def test_one_deck_holds_all_that_can_be_done():
    size = sum(SHARES[node] * len(kinds) for node, kinds in KINDS.items())
    trials = plan(1, 0, size, list(KINDS), [kind for kinds in KINDS.values() for kind in kinds])
    dealt = [(trial.node, trial.kind) for trial in trials]
    for node, kinds in KINDS.items():
        for kind in kinds:
            assert dealt.count((node, kind)) == SHARES[node]


def test_the_counts_come_last_and_name_what_failed():
    one, two, three = plan(7, 0, 3, ["driver"], ["sigkill"])
    text = summary(
        [
            Outcome(one, Verdict(True, False, 12.0, True, "")),
            Outcome(two, Verdict(True, False, 80.0, False, ""), kept="/kept/two"),
            Outcome(three, None, "not all came back", "/kept/three"),
        ],
        voids=0,
    )
    assert "seed 7, number 1; kept: /kept/two" in text
    *_, row, _, last = text.splitlines()
    assert row.split()[:5] == ["driver", "sigkill", "3", "1", "2"]
    assert last == "3 blows: 1 ended well, 2 FAILED"
