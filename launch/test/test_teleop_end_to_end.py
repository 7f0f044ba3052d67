"""The rules of teleop by the bytes at the simulated arm, with pads in both layouts of `joy`.

D8 and the ends of processes (D6) are in `test_end_to_end`: they do not depend on the layout.
"""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from domain import Domain
from joy_pads import LAYOUTS, TAPES, LayoutPad, read_tape
from launch_runner.substitution import find_share
from line_rig import (
    MODES,
    after_reports,
    press_mode,
    stays_silent,
    stays_stopped,
    to_deployed,
    told_still,
)
from stack import NAMESPACE, Client

PRESSES = 5
"""How often a button is pressed, should the machine stall."""

PLAYS = 3
"""How often a tape is played, should the machine stall while it is."""


@pytest.fixture(scope="module", params=sorted(LAYOUTS))
def deployed(request, tmp_path_factory, module_rig_with):
    """A stack for the layout, the arm deployed, and a pad of the layout in the rig's hands."""
    layout = LAYOUTS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    with module_rig_with.func(folder, profile=layout.profile) as rig:
        rig.pad.unplug()
        rig.client.node.destroy_publisher(rig.client.joy)
        rig.pad = LayoutPad(rig.client, layout)
        rig.settle()
        to_deployed(rig)
        yield rig


@pytest.fixture
def rig(deployed):
    """The stack, deployed, at rest and ready."""
    deployed.settle()
    yield deployed
    deployed.pad.release()


def silent(rig):
    """Let the pad fall silent until the arbiter knows of no pad."""
    rig.pad.unplug()
    rig.wait(
        lambda: any(s.name == "teleop" and not s.present for s in rig.arbiter().sources),
        "the pad is missed",
    )


def press_reset(rig):
    """Press reset until the latches are gone: a press may come before its e-stop is confirmed."""
    for _ in range(PRESSES):
        for down in (1, 0):
            rig.pad.set(start=down)
            after_reports(rig, 60)
        if not rig.arbiter().estop_latched and not rig.arm().emo:
            return
    raise AssertionError(f"reset from the pad did not come to anything\n{rig.client.summary()}")


@pytest.fixture
def cylindrical(rig):
    """The stack with the sticks in cylindrical mode: the base's speed is the stick's alone."""
    press_mode(rig)
    rig.settle()
    yield rig
    rig.pad.release()
    press_mode(rig, MODES - 1)
    rig.settle()


def base_speed(rig, **sticks):
    """Jog and return the speed that the base is told once it is steady [rad/s]."""

    def told(mark):
        return [t.value for t in rig.stack.wire(mark).velocities() if t.device_id == 5][-10:]

    def steady(mark):
        last = told(mark)
        return len(last) == 10 and abs(last[-1]) > 0.01 and max(last) - min(last) < 1e-3

    mark = rig.jog_until(steady, "a steady speed", **sticks)
    speed = told(mark)[-1]
    rig.pad.release()
    told_still(rig, mark, "release")
    rig.settle()
    return speed


def test_D1_U1_silence_is_absence_and_the_last_command_does_not_repeat(rig):
    mark = rig.jog(left_y=-0.7)
    silent(rig)
    try:
        told_still(rig, mark, "pad silent")
        stays_stopped(rig, "pad silence")
    finally:
        rig.pad.plug()
    stays_stopped(rig, "the pad came back with the stick held")


def test_D6_a_pad_whose_node_is_gone_stops_the_arm_and_its_return_moves_nothing(rig):
    mark = rig.jog(left_y=-0.7)
    rig.pad.vanish()
    try:
        told_still(rig, mark, "the joy node is gone")
        stays_stopped(rig, "no joy node")
    finally:
        rig.pad.appear()
    stays_stopped(rig, "a joy node is back with the stick held")


def test_U2_a_pad_that_is_plugged_in_again_is_found(rig):
    for away, back in ((rig.pad.vanish, rig.pad.appear), (rig.pad.unplug, rig.pad.plug)):
        away()
        rig.wait(
            lambda: any(s.name == "teleop" and not s.present for s in rig.arbiter().sources),
            "the pad is missed",
        )
        back()
        rig.settle()
        mark = rig.jog(left_y=-0.4)
        rig.pad.release()
        told_still(rig, mark, "release")


def test_D2_half_a_stick_is_slower_and_more_than_full_scale_is_refused(cylindrical):
    rig = cylindrical
    half, full = (base_speed(rig, left_x=part) for part in (0.5, 1.0))
    assert 0.0 < half < 0.8 * full
    rig.pad.set(lb=1)
    after_reports(rig, 30)
    rig.pad.set(left_x=1.5)
    stays_silent(rig, "a frame that no pad sends")


def test_D3_B6_triggers_that_nobody_touched_yet_pull_nothing(cylindrical):
    rig = cylindrical
    silent(rig)
    untouched = {"left_trigger": 0.0, "right_trigger": 0.0}
    rig.pad.set(**untouched)
    rig.pad.plug()
    # Let go of by hand: `release` would touch them.
    rig.wait(rig.armed, "the pad is known")
    plain = rig.pad.release
    rig.pad.release = lambda: (
        rig.pad.set(**rig.pad.layout.released | untouched),
        rig.pad.rest(),
    )
    try:
        unknown = base_speed(rig, left_x=1.0)
    finally:
        rig.pad.release = plain
    rig.settle()
    known = base_speed(rig, left_x=1.0)
    fast = base_speed(rig, left_x=1.0, right_trigger=-1.0)
    slow = base_speed(rig, left_x=1.0, left_trigger=-1.0)
    assert unknown == pytest.approx(known, rel=0.01)
    assert slow < 0.8 * known < known < 0.8 * fast


def test_D3_a_pad_that_nobody_touches_gives_the_lease_back_and_stays_without(rig):
    mark = rig.jog(left_y=-0.4)
    rig.pad.release()
    told_still(rig, mark, "release")
    rig.wait(lambda: rig.arbiter().owner == "", "the idle pad gives the arm back")
    stays_silent(rig, "an idle pad", frames=600)
    assert rig.arbiter().owner == ""


def test_D3_a_stick_that_is_held_over_while_the_pad_comes_in_moves_nothing(rig):
    silent(rig)
    rig.pad.set(left_y=1.0)
    rig.pad.plug()
    rig.pad.set(lb=1)
    stays_silent(rig, "a stick that was held from the first frame on")


def test_D4_estop_latches_and_only_a_reset_with_all_let_go_clears_it(rig):
    mark = rig.jog(left_y=-0.7)
    rig.pad.set(b=1)
    told_still(rig, mark, "e-stop pressed")
    rig.wait(lambda: rig.arbiter().estop_latched and rig.arm().emo, "both latches")
    rig.pad.set(b=0)
    stays_stopped(rig, "e-stop, stick still held")
    rig.pad.set(start=1)
    after_reports(rig, 60)
    assert rig.arbiter().estop_latched and rig.arm().emo, "reset with the stick held"
    rig.pad.release()
    press_reset(rig)
    stays_stopped(rig, "reset")
    rig.settle()
    mark = rig.jog(left_y=-0.4)
    rig.pad.release()
    told_still(rig, mark, "release after the reset")


def test_D5_the_first_press_after_idle_counts(rig):
    rig.wait(lambda: rig.arbiter().owner == "", "the idle pad gives the arm back")
    mark = rig.jog(x=1)
    rig.pad.release()
    told_still(rig, mark, "pose button released")


def test_D5_a_press_that_lasts_is_seen_once(rig):
    rig.pad.set(back=1)
    stays_silent(rig, "the mode button", frames=300)
    rig.pad.set(back=0)
    rig.settle()
    mark = rig.jog_until(
        lambda mark: len(rig.stack.wire(mark).motion_frames()) > 20, "some motion", left_x=1.0
    )
    told = rig.demanded(mark)
    assert told[5] > 0.0  # left: counter-clockwise from above, with axis_e
    assert [told[device] for device in (1, 2, 3, 4)] == pytest.approx([0.0] * 4, abs=1e-9)
    rig.pad.release()
    told_still(rig, mark, "release")
    press_mode(rig, MODES - 1)
    rig.settle()


def test_D7_U11_release_stops_all_five_joints_once(rig):
    mark = rig.jog(left_y=-0.7, right_x=0.5)
    rig.pad.set(left_y=0.0, right_x=0.0)
    told_still(rig, mark, "sticks released")
    stays_silent(rig, "release")


def test_U3_a_pad_that_glitches_to_full_scale_moves_nothing(rig):
    rig.pad.set(lb=1)
    after_reports(rig, 60)
    mark = rig.stack.mark()
    for stick in ("left_y", "left_x", "right_y", "right_x", "left_trigger", "right_trigger"):
        for value in (1.0, -1.0):
            rig.pad.send_once(**{stick: value})
            after_reports(rig, 20)
    assert rig.stack.wire(mark).velocities() == []
    mark = rig.jog(left_y=-0.4)
    rig.pad.release()
    told_still(rig, mark, "release: it was armed all the time")


def test_U4_deadman_release_stops(rig):
    mark = rig.jog(left_y=-0.7)
    rig.pad.set(lb=0)
    told_still(rig, mark, "deadman released")
    stays_silent(rig, "deadman release, the stick still held")


def shorter_axes(axes, buttons):
    return axes[:3], buttons


def shorter_buttons(axes, buttons):
    return axes, buttons[:5]


def longer_axes(axes, buttons):
    return [*axes, 0.0], buttons


def longer_buttons(axes, buttons):
    return axes, [*buttons, 0, 0, 0]


def nothing(axes, buttons):
    return [], []


@pytest.mark.parametrize(
    "change", [shorter_axes, shorter_buttons, longer_axes, longer_buttons, nothing]
)
def test_U5_arrays_of_another_length_stop_the_arm(rig, change):
    mark = rig.jog(left_y=-0.7)
    axes, buttons = list(rig.pad.axes), list(rig.pad.buttons)
    rig.pad.send_raw(*change(axes, buttons))
    try:
        told_still(rig, mark, "another length")
        stays_stopped(rig, "arrays of another length, the stick still held")
    finally:
        rig.pad.send_raw(axes, buttons)
    stays_stopped(rig, "the right length again, the stick still held")


EXPECTED = {
    "forward": None,
    "turn": (5, 1),
    "faster": (5, 1),
    "wrist": (2, -1),
    "jaws": (1, 1),
    "forward again": None,
    "backward": None,
}
"""Phases of a tape that move something: None, or the joint that it moves and which way."""


class Stalled(Exception):
    """Motion that a tape asks for did not come: the machine had other things to do."""


def judge(rig, phase, mark):
    """Demand what a phase of a tape must have come to, while its last frame is held."""
    if phase == "estop":
        told_still(rig, mark, phase)
        rig.wait(lambda: rig.arbiter().estop_latched and rig.arm().emo, "both latches")
    elif phase == "estop let go":
        stays_stopped(rig, "e-stop, the stick still held")
    elif phase not in EXPECTED:
        stays_stopped(rig, phase, frames=100)
    else:
        device, sign = EXPECTED[phase] or (None, 0)
        try:
            rig.wait(
                lambda: (
                    rig.demanded(mark).get(device, 0.0) * sign > 0.0
                    if device
                    else rig.stack.wire(mark).motion_frames()
                ),
                f"motion: {phase}",
            )
        except TimeoutError as error:
            raise Stalled(phase) from error


def play(rig, tape):
    """Play a tape, each phase held at its end until it is judged; return the base's speeds."""
    speeds = {}
    moving = False
    for phase in tape.phases:
        mark = rig.stack.mark()
        rig.pad.play(tape.of(phase))
        if moving and phase not in EXPECTED:
            told_still(rig, mark, phase)
        judge(rig, phase, mark)
        moving = phase in EXPECTED
        speeds[phase] = max(
            (abs(t.value) for t in rig.stack.wire(mark).velocities() if t.device_id == 5),
            default=0.0,
        )
    return speeds


def test_a_recorded_dive_moves_what_the_hand_moved_and_nothing_else(rig):
    tape = read_tape(TAPES / f"{node_of(rig)}.jsonl")
    for _ in range(PLAYS):
        try:
            speeds = play(rig, tape)
            break
        except Stalled:
            rig.settle()
    else:
        raise AssertionError(f"played {PLAYS} times: the arm did not move")
    assert speeds["faster"] > 1.2 * speeds["turn"]
    rig.settle()


def node_of(rig):
    """Return the node whose layout the rig's pad has."""
    return next(node for node, layout in LAYOUTS.items() if layout is rig.pad.layout)


ANSWERS = {
    "deadman": {"lb": 1},
    "estop": {"b": 1},
    "forward": {"left_y": 1.0},
    "right": {"left_x": -1.0},
    "down": {"right_y": -1.0},
    "wrist": {"right_x": -1.0},
    "faster": {"right_trigger": -1.0},
    "slower": {"left_trigger": -1.0},
}
"""What a user does with the pad when `alpha5-pad make` asks; the rest is skipped."""


@contextmanager
def calibrator(folder, environment):
    """Run `alpha5-pad make mine` in the folder."""
    share = find_share("reach_alpha5_teleop", environment)
    command = share.parents[1] / "lib/reach_alpha5_teleop/alpha5-pad"
    with subprocess.Popen(
        [sys.executable, command, "make", "mine", "--namespace", NAMESPACE],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def play_user(pad, process):
    """Answer what the calibrator asks until it ends."""
    for line in process.stdout:
        if not line.startswith("? ["):
            continue
        key = line[3:].partition("]")[0]
        if key in ANSWERS:
            pad.set(**ANSWERS[key])
            pad.rest()
            pad.release()
        elif key != "rest":
            process.stdin.write("s\n")
            process.stdin.flush()


def test_a_profile_that_is_made_with_alpha5_pad_drives_the_arm(tmp_path, rig_with):
    layout = LAYOUTS["joy_node"]
    domain = Domain()
    client = Client(domain.number)
    pad = LayoutPad(client, layout)
    try:
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain.number)}
        with calibrator(tmp_path, environment) as process:
            play_user(pad, process)
            assert process.wait(30.0) == 0
    finally:
        pad.unplug()
        client.close()
        domain.release()
    with rig_with(profile=str(tmp_path / "mine.yaml")) as rig:
        rig.pad.unplug()
        rig.pad = LayoutPad(rig.client, layout)
        rig.settle()
        mark = rig.jog_until(
            lambda mark: rig.demanded(mark).get(2, 0.0) > 0.0, "the wrist turns", right_x=-1.0
        )
        rig.pad.release()
        told_still(rig, mark, "release")
        mark = rig.jog(left_y=0.7)
        rig.pad.set(b=1)
        told_still(rig, mark, "e-stop pressed")
        rig.wait(lambda: rig.arbiter().estop_latched and rig.arm().emo, "both latches")


@pytest.mark.parametrize("node", sorted(LAYOUTS))
def test_tapes_are_what_the_recorder_writes(node, monkeypatch):
    monkeypatch.syspath_prepend(str(TAPES))
    monkeypatch.delitem(sys.modules, "record", raising=False)
    import record

    assert Path(record.__file__).parent == TAPES
    assert (TAPES / f"{node}.jsonl").read_text() == record.record(node)
    assert read_tape(TAPES / f"{node}.jsonl").phases == [step[0] for step in record.STEPS]
