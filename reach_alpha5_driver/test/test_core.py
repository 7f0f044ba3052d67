"""The whole driver on a fake clock: what reaches the arm, whatever comes in."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest
from driver_rig import FORWARD, JAWS, LIFETIME, STEP, Rig

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    CommandKind,
    Cylindrical,
    DriverCommand,
    GripperCommand,
    GripperVelocities,
    JointCommand,
    KnownPose,
    StopLevel,
)
from reach_alpha5_driver.devices import BROADCAST, BY_ID
from reach_alpha5_driver.outbox import MAX_QUEUED
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.packets import STOP_FRAMES
from reach_alpha5_driver.reporting import arm_picture
from reach_alpha5_driver.states import State

MARGIN = 2 * STEP
"""Two steps of the rig: its clock is no finer."""


def stops(rig: Rig, since: float) -> list[float]:
    """Return when stops were written, from the time `since` on."""
    return [at for at, data in rig.wire if at >= since and STOP_FRAMES in data]


# -- a demand ends


def test_a_held_stick_moves_the_arm_and_its_release_stops_all_five():
    rig = Rig().start_moving()
    since = rig.now
    rig.stop()
    rig.flush()
    assert not rig.moving
    assert {v.device for v in rig.velocities(since)} == {0xFF, 1, 2, 3, 4, 5}


def test_rule_12_without_a_fresh_command_the_arm_stops_at_the_end_of_the_lifetime():
    rig = Rig().start_moving()
    rig.send()
    ends = rig.now + LIFETIME
    while rig.now < ends - MARGIN:
        rig.step()
        assert rig.moving
    rig.run(2 * MARGIN)
    assert not rig.moving
    assert rig.core.gate.last_stop_cause == "expired"


def test_rule_12_the_core_asks_to_be_woken_at_the_very_end_of_the_lifetime():
    rig = Rig().start_moving()
    rig.send()
    assert rig.core.next_wakeup(rig.now) <= rig.now + LIFETIME
    rig.now += LIFETIME
    rig.flush()  # not even a tick is needed: the write itself checks
    assert not rig.moving


def test_rule_12_age_counts_from_receipt_not_from_when_the_core_gets_to_it():
    rig = Rig().start_moving()
    rig.stop()
    rig.run(0.1)
    rig.core.on_command(
        DriverCommand(CommandKind.INPUT, 1000, input=FORWARD, lifetime=LIFETIME),
        rig.now - LIFETIME,
        rig.now,
    )
    rig.run(0.1)
    assert not rig.moving
    assert rig.refusal == "late"


def test_rule_12_a_core_that_slept_through_the_end_stops_before_it_does_anything_else():
    rig = Rig().start_moving()
    rig.send()
    rig.now += 3.0
    rig.core.receive_data(packets.encode(packets.Position(5, 3.0)), rig.now)
    rig.core.tick(rig.now)
    outgoing = rig.core.data_to_send(rig.now)
    assert outgoing.purge
    assert outgoing.data.lstrip(b"\0") == STOP_FRAMES


@pytest.mark.parametrize("refused", ["not_finite", "bad_lifetime", "two_inputs"])
def test_a_refused_command_prolongs_nothing(refused):
    rig = Rig().start_moving()
    if refused == "not_finite":
        rig.send(GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=math.nan)))
    elif refused == "bad_lifetime":
        rig.send(lifetime=99.0)
    else:
        rig.send(joint=JointCommand(("axis_e",), (3.0,), (0.1,)))
    rig.run(MARGIN)
    assert not rig.moving
    assert rig.refusal == refused


def test_rule_12_a_late_duplicate_prolongs_nothing_and_moves_nothing():
    rig = Rig().start_moving()
    started = rig.now
    for _ in range(30):
        rig.send(sequence=2)
        rig.run(0.05)
    assert not rig.moving
    assert rig.refusal == "old_sequence"
    assert rig.core.gate.last_stop_at <= started + LIFETIME + MARGIN


def test_a_restarted_arbiter_moves_the_arm_only_after_it_has_shown_a_stop():
    rig = Rig().start_moving()
    rig.run(2.0)
    for sequence in range(1, 4):
        rig.send(sequence=sequence)
        rig.run(0.05)
        assert not rig.moving
    rig.run(1.0)
    rig.core.on_command(DriverCommand(CommandKind.STOP, 4), rig.now, rig.now)
    rig.send(sequence=5)
    rig.run(0.05)
    assert rig.moving


def test_a_late_duplicate_of_a_stop_stops_but_opens_no_way_for_older_inputs():
    rig = Rig().start_moving()
    rig.core.on_command(DriverCommand(CommandKind.STOP, 1), rig.now, rig.now)
    rig.run(MARGIN)
    assert not rig.moving
    rig.send(sequence=2)
    rig.run(0.05)
    assert not rig.moving


def test_a_late_duplicate_of_a_stop_is_no_neutral():
    rig = Rig().start_moving()
    rig.arm.deaf = {3}
    rig.hold(0.4)
    rig.arm.deaf = set()
    rig.hold(0.2)
    rig.core.on_command(DriverCommand(CommandKind.STOP, 1), rig.now, rig.now)
    rig.hold(0.2)
    assert not rig.moving
    assert rig.refusal == "not_engaged"


# -- what a demand means


def test_B7_a_neutral_input_stops_the_arm_on_the_edge_and_then_there_is_silence():
    rig = Rig().start_moving()
    since = rig.now
    for _ in range(20):
        rig.send(STILL)
        rig.run(0.05)
    assert not rig.moving
    assert len(stops(rig, since)) == 1


def test_rule_8_no_arm_input_stops_the_arm_while_the_jaws_go_on():
    rig = Rig().connect()
    both = dataclasses.replace(FORWARD, gripper_velocities=GripperVelocities(grip=1.0))
    rig.hold(0.3, both)
    assert rig.arm.velocities[5] != 0.0
    assert rig.arm.velocities[1] != 0.0
    rig.hold(0.2, JAWS)
    assert rig.arm.velocities[5] == 0.0
    assert rig.arm.velocities[1] != 0.0


def test_rates_are_made_anew_each_control_period_and_a_changed_command_does_not_wait():
    rig = Rig(control_rate=10.0).start_moving()
    rig.run(0.06)  # more than half a period since the last rates
    rig.send(JAWS)
    rig.step()
    assert rig.arm.velocities[1] != 0.0
    assert rig.arm.velocities[5] == 0.0


def test_commands_at_a_thousand_hertz_neither_fill_the_line_nor_starve_telemetry():
    rig = Rig().start_moving()
    since = rig.now
    reports = [joint.reports for joint in rig.core.telemetry.belief.joints]
    for turn in range(1000):
        rig.send(dataclasses.replace(FORWARD, speed_modifier=turn % 10 / 10.0))
        if turn % 5 == 4:
            rig.step()
    carried = 11520 * (rig.now - since) + MAX_QUEUED
    assert sum(len(data) for at, data in rig.wire if at > since) <= carried
    for before, joint in zip(reports, rig.core.telemetry.belief.joints, strict=True):
        assert joint.reports - before > 20


@pytest.mark.parametrize("error", [ValueError("no way"), ZeroDivisionError("bug")])
def test_a_resolver_that_fails_never_leaves_the_arm_moving(error):
    rig = Rig().start_moving()
    rig.mover.error = error
    rig.send()
    try:
        rig.run(0.05)
    except ZeroDivisionError:  # the shell's to catch; it then reports it
        rig.core.on_internal_error("internal_error", "bug", rig.now)
        rig.run(0.01)
    assert not rig.moving
    assert rig.core.gate.state is State.MAJOR_FAULT


@pytest.mark.parametrize("rate", [math.nan, math.inf, 100.0])
def test_a_resolver_that_answers_nonsense_is_a_fault_not_a_motion(rate):
    rig = Rig().start_moving()
    rig.mover.rates = (rate, 0.0, 0.0, 0.0, 0.0)
    rig.send()
    rig.run(0.05)
    assert not rig.moving
    assert rig.core.gate.fault_causes == ["unresolved"]


NONSENSE = [
    GripperCommand(GripperVelocities(grip=math.nan)),
    GripperCommand(GripperVelocities(rotate=math.inf)),
    GripperCommand(arm_input=2, cartesian=Cartesian(y=-math.inf)),
    GripperCommand(arm_input=2, cartesian=Cartesian(z=1.01)),
    GripperCommand(arm_input=3, cylindrical=Cylindrical(azimuth=-1.5)),
    GripperCommand(arm_input=5, known_pose=KnownPose(1, -0.1)),
    GripperCommand(arm_input=5, known_pose=KnownPose(9, 1.0)),
    GripperCommand(arm_input=4, cartesian=Cartesian(x=1.0)),
    dataclasses.replace(FORWARD, cylindrical=Cylindrical(radial=0.1)),
    dataclasses.replace(FORWARD, speed_modifier=math.nan),
    dataclasses.replace(FORWARD, speed_modifier=-2.0),
]


@pytest.mark.parametrize("command", NONSENSE)
def test_rule_10_nonsense_is_refused_with_a_code_and_a_counter(command):
    rig = Rig().connect()
    for _ in range(3):
        rig.send(command)
        rig.run(0.05)
    assert not rig.moving
    refused = rig.core.desk.refusals.last
    assert refused is not None
    assert refused.count == 3
    assert refused.reason


# -- e-stop and reset


@pytest.mark.parametrize("offset", range(0, 50, 3))
def test_rule_1_an_estop_in_any_phase_is_the_next_thing_on_the_wire(offset):
    rig = Rig().start_moving()
    rig.hold(0.2)
    for _ in range(offset):
        rig.now += 0.001
        rig.core.tick(rig.now)
        if offset % 2:
            rig.flush()
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed", rig.now)
    outgoing = rig.core.data_to_send(rig.now)
    assert outgoing.purge
    assert outgoing.data.lstrip(b"\0") == STOP_FRAMES


def test_rule_13_a_stop_is_next_on_the_wire_even_when_the_line_takes_nothing():
    rig = Rig().start_moving()
    rig.room = 17  # a frame and a piece of the next
    rig.run(0.1)
    assert rig.room == 0
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed", rig.now)
    outgoing = rig.core.data_to_send(rig.now)
    assert outgoing.purge
    assert outgoing.data == b"\0" + STOP_FRAMES, "a cut frame must not swallow the stop's head"
    rig.core.data_sent(0, rig.now)
    rig.room = 1 << 30
    rig.now += STEP
    again = rig.core.data_to_send(rig.now)
    assert again.data == b"\0" + STOP_FRAMES


def test_D4_the_stick_cannot_drive_through_an_estop():
    rig = Rig().start_moving()
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed", rig.now)
    since = rig.now
    rig.hold(2.0)
    assert not rig.moving
    assert all(velocity.value == 0.0 for velocity in rig.velocities(since))
    assert rig.refusal == "estop_latched"


def test_an_undefined_estop_level_is_the_most_restrictive_one():
    rig = Rig().start_moving()
    rig.core.on_estop(77, "", "", rig.now)
    rig.step()
    assert not rig.moving
    assert rig.core.gate.estop_level is StopLevel.CUT


def test_a_stop_with_a_level_latches_like_an_estop():
    rig = Rig().start_moving()
    rig.stop(StopLevel.SETTLE_THEN_CUT)
    rig.hold(0.5)
    assert not rig.moving
    assert rig.core.gate.estop_epoch == 1


def test_an_estop_without_an_arm_latches_all_the_same():
    rig = Rig()
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "app", "drill", rig.now)
    rig.connect()
    rig.hold(1.0)
    assert not rig.moving


def test_rule_2_a_reset_moves_nothing_and_then_a_fresh_input_does():
    rig = Rig().start_moving()
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed", rig.now)
    rig.stop()
    rig.run(0.1)
    rig.reset()
    rig.run(1.0)
    assert not rig.moving
    rig.hold(0.1)
    assert rig.moving


def test_a_reset_that_raced_with_an_estop_clears_nothing():
    rig = Rig().start_moving()
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "pad", "first", rig.now)
    seen = rig.core.gate.estop_epoch
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "app", "second", rig.now)
    rig.reset(seen)
    rig.hold(0.3)
    assert not rig.moving
    assert rig.core.gate.estop_level is StopLevel.SETTLE_THEN_CUT
    rig.run(MARGIN)
    assert ("stale_reset", "driver_command") in rig.core.desk.refusals.counts()


def test_a_late_duplicate_of_a_reset_clears_nothing():
    rig = Rig().start_moving()
    rig.reset()
    duplicate = DriverCommand(CommandKind.RESET, rig.sequence, estop_epoch=0)
    rig.core.on_internal_error("internal_error", "made up", rig.now)
    rig.core.on_command(duplicate, rig.now, rig.now)
    rig.hold(0.2)
    assert rig.core.gate.state is State.MAJOR_FAULT
    assert not rig.moving


def test_a_fault_latches_until_the_reset():
    rig = Rig().start_moving()
    rig.core.on_internal_error("internal_error", "made up", rig.now)
    rig.run(5.0)
    rig.hold(0.5)
    assert not rig.moving
    assert rig.refusal == "fault_latched"
    rig.stop()
    rig.reset()
    rig.run(0.3)
    rig.hold(0.1)
    assert rig.moving


# -- engagement


def test_U8_a_stick_that_is_held_while_the_line_comes_back_moves_nothing_until_released():
    rig = Rig().start_moving()
    rig.core.on_disconnected("unplugged", rig.now)
    rig.arm.velocities = dict.fromkeys(rig.arm.velocities, 0.0)
    for _ in range(20):
        rig.send()
        rig.now += 0.05
        rig.core.tick(rig.now)
    assert rig.refusal == "no_arm"
    rig.core.on_connected(rig.now)
    rig.hold(2.0)
    assert not rig.moving
    assert rig.refusal == "not_engaged"
    rig.stop()
    rig.hold(0.1)
    assert rig.moving


def test_a_driver_that_starts_under_a_held_stick_moves_nothing_until_released():
    rig = Rig()
    rig.core.on_connected(rig.now)
    rig.hold(2.0)
    assert not rig.moving
    rig.run(0.6)
    rig.hold(0.1)
    assert not rig.moving, "who asked for motion and fell silent has not let go"
    rig.stop()
    rig.hold(0.1)
    assert rig.moving


def test_silence_is_a_neutral_while_nobody_asked_for_motion_before_it():
    rig = Rig().start_moving()
    rig.stop()
    rig.core.on_disconnected("unplugged", rig.now)
    rig.core.on_connected(rig.now)
    rig.run(1.0)
    rig.hold(0.1)
    assert rig.moving


def test_rule_3_what_an_arbiter_says_after_it_fell_silent_in_motion_moves_nothing_until_a_stop():
    rig = Rig().start_moving()
    rig.run(0.6)
    rig.hold(1.0)
    assert not rig.moving
    assert rig.refusal == "not_engaged"
    rig.stop()
    rig.hold(0.1)
    assert rig.moving


def test_an_arbiter_that_stutters_goes_on():
    rig = Rig().start_moving()
    rig.run(0.4)
    assert not rig.moving
    rig.hold(0.1)
    assert rig.moving


def test_a_reset_engages_nobody_who_still_asks_for_motion():
    rig = Rig().start_moving()
    rig.core.on_estop(StopLevel.SETTLE_THEN_CUT, "pad", "pressed", rig.now)
    rig.hold(0.2)
    rig.reset()
    rig.hold(1.0)
    assert not rig.moving
    assert rig.refusal == "not_engaged"


def test_joints_that_were_silent_are_stopped_again_when_they_are_heard_again():
    rig = Rig().start_moving()
    rig.arm.stuck = True  # the stop is lost
    rig.arm.velocities[5] = 0.005
    rig.arm.deaf = {5}
    rig.run(1.0)
    rig.arm.stuck = False
    rig.arm.deaf = set()
    rig.run(0.6)
    assert not rig.moving
    assert rig.core.gate.last_stop_cause == "heard_again"


def test_rule_9_an_arm_that_creeps_more_slowly_than_noise_is_stopped_again():
    rig = Rig().start_moving()
    rig.arm.stuck = True
    rig.arm.velocities = dict.fromkeys(rig.arm.velocities, 0.0) | {5: 0.005}
    rig.stop()
    rig.run(0.5)
    rig.arm.stuck = False
    rig.run(3.0)
    assert not rig.moving
    assert rig.core.gate.last_stop_cause == "still_moving"


def test_a_posture_that_goes_stale_stops_the_arm_and_wants_a_release():
    rig = Rig().start_moving()
    rig.arm.deaf = {3}
    rig.hold(0.5)
    assert not rig.moving
    assert rig.core.gate.last_stop_cause == "stale_posture"
    assert rig.refusal == "stale_posture"
    rig.arm.deaf = set()
    rig.hold(1.0)
    assert not rig.moving
    rig.stop()
    rig.hold(0.1)
    assert rig.moving


def test_rule_17_a_joint_that_seems_to_jump_while_the_arm_moves_stops_it():
    rig = Rig().start_moving()
    rig.arm.positions[3] += 1.0
    rig.hold(0.3)
    assert not rig.moving
    assert rig.core.gate.last_stop_cause in ("stale_posture", "heard_again")
    assert rig.refusal == "not_engaged"


def test_U12_an_arm_that_does_not_answer_is_no_arm():
    rig = Rig().start_moving()
    rig.arm.deaf = set(range(1, 6))
    rig.run(0.5)
    picture = arm_picture(rig.core, rig.now)
    assert picture.state is State.NONE
    assert not picture.powered
    assert all(joint.stale for joint in picture.joints)
    assert all(math.isnan(joint.values["velocity"]) for joint in picture.joints)
    assert not rig.moving


@pytest.mark.parametrize("mode", [packets.Mode.DISABLE, packets.Mode.PASSIVE])
def test_U12_an_arm_with_a_device_that_ignores_demands_is_not_powered(mode):
    rig = Rig(slow_telemetry_period=0.5).connect()
    assert arm_picture(rig.core, rig.now).powered
    rig.arm.modes[2] = mode
    rig.run(1.0)
    assert not arm_picture(rig.core, rig.now).powered


# -- the stop that does not stop


def test_rule_9_an_arm_that_goes_on_moving_is_stopped_again_and_again_until_it_rests():
    rig = Rig().start_moving()
    rig.arm.stuck = True
    rig.arm.velocities[5] = 0.2
    rig.stop()
    since = rig.now
    rig.run(1.4)
    repeated = stops(rig, since)
    assert repeated[1] - repeated[0] >= 0.4 - MARGIN
    assert 5 <= len(repeated) <= 12
    assert rig.core.gate.last_stop_cause == "still_moving_disable"
    rig.arm.stuck = False
    rig.run(0.5)
    assert not rig.moving
    since = rig.now
    rig.run(2.0)
    assert not stops(rig, since)


def test_rule_9_an_arm_that_obeys_is_stopped_once():
    rig = Rig().start_moving()
    since = rig.now
    rig.stop()
    rig.run(3.0)
    assert len(stops(rig, since)) == 1
    assert len(rig.velocities(since)) == 6


def test_nothing_that_moves_is_written_while_idle():
    rig = Rig().connect()
    since = rig.now
    rig.run(5.0)
    assert {type(packet) for packet in rig.arm.heard} >= {packets.Request}
    assert not rig.velocities(since)


def test_an_arm_just_connected_is_stopped_before_anything_else_is_said():
    rig = Rig()
    rig.arm.velocities[4] = 0.1
    rig.core.on_connected(rig.now)
    rig.step()
    assert rig.wire[0][1] == b"\0" + STOP_FRAMES  # what an earlier session cut off ends here
    assert not rig.moving
    rig.run(0.1)
    quiet = [packet for packet in rig.arm.heard if isinstance(packet, packets.HeartbeatFrequency)]
    assert {packet.frequency for packet in quiet} == {0}
    assert {packet.device for packet in quiet} == {BROADCAST, *BY_ID}


# -- the line


def test_the_output_never_queues_more_than_two_cycles():
    rig = Rig(at_once=True, telemetry_window=1000).start_moving()
    for _ in range(200):
        rig.send(dataclasses.replace(FORWARD, speed_modifier=rig.now % 1.0))
        rig.step()
        line = rig.core.outbox._line
        assert line.queued(rig.now) <= MAX_QUEUED + 50 + 16


def test_a_line_that_takes_nothing_grows_no_memory():
    rig = Rig().start_moving()
    rig.room = 0
    for _ in range(2000):
        rig.send()
        rig.step()
        assert len(rig.core.outbox._unsent) < 300


def test_the_last_stop_leaves_on_shutdown_even_at_rest():
    rig = Rig().connect()
    since = rig.now
    rig.core.on_shutdown(rig.now)
    rig.flush()
    assert stops(rig, since)
    rig.send()
    rig.run(0.1)
    assert not rig.moving


def test_full_sets_are_told_apart_and_never_repeated_when_stale():
    rig = Rig().connect()
    first = rig.core.telemetry.sample
    assert first is not None
    assert len(first.positions) == 5
    rig.run(0.1)
    assert rig.core.telemetry.sample is not first
    rig.arm.deaf = {2}
    rig.run(0.3)
    last = rig.core.telemetry.sample
    rig.run(1.0)
    assert rig.core.telemetry.sample is last


def test_a_set_that_took_too_long_to_fill_is_not_told_as_one():
    rig = Rig().connect()
    rig.arm.deaf = {3}
    rig.run(0.1)
    rig.arm.deaf = set(BY_ID)
    rig.run(0.3)
    last = rig.core.telemetry.sample
    rig.arm.deaf = {1, 2, 4, 5}
    rig.run(1.5)
    assert not rig.core.telemetry.belief.stale(2, rig.now)
    assert rig.core.telemetry.sample is last


def test_a_broadcast_and_unknown_packets_change_counters_only():
    rig = Rig().connect()
    before = rig.core.telemetry.belief.positions()
    for frame in (
        Frame(0xFF, packets.PacketId.POSITION, bytes(4)),
        Frame(9, packets.PacketId.POSITION, bytes(4)),
        Frame(1, 0x99, b""),
        Frame(1, packets.PacketId.POSITION, b"\1"),
        Frame(1, packets.PacketId.POSITION, b"\0\0\xc0\x7f"),
        Frame(0xFF, packets.PacketId.VELOCITY, bytes(4)),
    ):
        rig.core.receive_data(packets.codec.encode(frame), rig.now)
    assert rig.core.telemetry.belief.positions() == before
    counters = arm_picture(rig.core, rig.now).link.counters
    assert counters["unknown_device"] >= 2
    assert counters["unknown_packet"] == 1
    assert counters["bad_payload"] >= 2


# -- storms


def test_rule_17_random_bytes_change_nothing_but_counters():
    rng = random.Random(1)
    rig = Rig().connect()
    truth = rig.core.telemetry.belief.positions()
    sent = 0
    while sent < 200_000:
        chunk = rng.randbytes(rng.randrange(1, 400))
        sent += len(chunk)
        rig.core.receive_data(chunk, rig.now)
    rig.run(0.1)
    for old, new in zip(truth, rig.core.telemetry.belief.positions(), strict=True):
        assert abs(old - new) <= 0.1
    assert rig.core.gate.state is State.ENABLED or rig.core.gate.state is State.IDLE
    assert not rig.moving
    rig.hold(0.2)
    assert rig.moving


STORM_SEEDS = 6
STORM_EVENTS = 800


def test_seeded_storm_the_arm_never_moves_when_it_must_not():
    moved = sum(storm(seed) for seed in range(STORM_SEEDS))
    assert moved > 10 * STORM_SEEDS, "a storm in which nothing moves proves nothing"


def storm(seed: int) -> int:
    """Send random commands, e-stops, losses and noise; return how often the arm was seen to move.

    Judged from what the arm was told, by an account of its own: motion needs an INPUT that came
    less than its lifetime ago, and no e-stop, stop, reset or lost line since.
    """
    moved = 0
    rng = random.Random(seed)
    rig = Rig(at_once=True).connect()  # known again soon after each loss of the line
    allowed_until = -math.inf
    latched = False
    for _ in range(STORM_EVENTS):
        action = rng.randrange(100)
        if action < 30:
            command = rng.choice((FORWARD, JAWS, rng.choice(NONSENSE), STILL))
            lifetime = rng.choice((0.05, 0.25, 0.5, 0.0, math.nan, 5.0))
            sequence = rig.sequence + rng.choice((0, 1, 1, 1, 1, -3, 10))
            rig.sequence = max(rig.sequence, sequence)
            if command in (FORWARD, JAWS) and 0 < lifetime <= 0.5 and not latched:
                allowed_until = max(allowed_until, rig.now + lifetime)
            rig.core.on_command(
                DriverCommand(
                    CommandKind.INPUT, max(0, sequence), input=command, lifetime=lifetime
                ),
                rig.now,
                rig.now,
            )
        elif action < 31:
            rig.core.on_estop(rng.randrange(1, 4), "a", "b", rig.now)
            latched, allowed_until = True, -math.inf
        elif action < 34:
            rig.reset()
            latched, allowed_until = False, -math.inf
        elif action < 42:
            rig.stop()
            allowed_until = -math.inf
        elif action < 43:
            rig.core.on_disconnected("storm", rig.now)
            rig.arm.velocities = dict.fromkeys(rig.arm.velocities, 0.0)
            rig.core.on_connected(rig.now)
            allowed_until = -math.inf
        elif action < 50:
            rig.core.receive_data(rng.randbytes(rng.randrange(60)), rig.now)
        elif action < 52:
            rig.arm.deaf = set(rng.sample(range(1, 6), rng.randrange(3)))
        for _ in range(rng.randrange(4)):
            rig.step()
            if rig.moving:
                moved += 1
                assert rig.now < allowed_until, seed
    return moved
