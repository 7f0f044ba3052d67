"""What a bag says again to a driver: it may stop the arm, never move it, and is no neutral."""

from __future__ import annotations

import pytest
from driver_rig import FORWARD, LIFETIME, Rig

from reach_alpha5_common.command import STILL, CommandKind, DriverCommand, StopLevel
from reach_alpha5_common.freshness import CODE
from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.commands import SERVICE, SOURCE

PROBLEM = Problem(CODE, "sent with a stamp 86400 s old")
INPUT = DriverCommand(CommandKind.INPUT, 1, input=FORWARD, lifetime=LIFETIME)
NEUTRAL = DriverCommand(CommandKind.INPUT, 1, input=STILL, lifetime=LIFETIME)
STOP = DriverCommand(CommandKind.STOP, 1)


def again(rig: Rig, command: DriverCommand | None) -> None:
    """Let a bag say a word of the arbiter; None: a jog in service mode."""
    source = SERVICE if command is None else SOURCE
    rig.core.desk.on_replayed(PROBLEM, source, rig.now, command)


@pytest.mark.parametrize("kind", CommandKind)
def test_rule3_whatever_a_bag_says_moves_nothing_and_is_refused(kind: CommandKind) -> None:
    rig = Rig()
    rig.connect()
    since = rig.now
    for sequence in range(1, 20):
        word = DriverCommand(kind, sequence, input=FORWARD, lifetime=LIFETIME)
        again(rig, word)
        rig.run(0.05)
    assert not rig.moving
    assert not any(packet.value for packet in rig.velocities(since))
    assert rig.core.desk.refusals.counts() == {(CODE, SOURCE): 19}


@pytest.mark.parametrize("word", [INPUT, NEUTRAL, STOP, None])
def test_it_ends_what_stands(word: DriverCommand | None) -> None:
    rig = Rig().start_moving()
    again(rig, word)
    rig.run(0.1)
    assert not rig.moving
    assert rig.refusal == CODE


@pytest.mark.parametrize("word", [NEUTRAL, STOP, INPUT])
def test_rule3_it_is_no_neutral_after_an_estop(word: DriverCommand) -> None:
    rig = Rig().start_moving()
    rig.stop(StopLevel.SETTLE_THEN_CUT)
    rig.send()  # whoever pushes goes on pushing
    rig.reset()
    for _ in range(20):
        rig.send()
        again(rig, word)
        rig.run(0.05)
    assert not rig.moving
    assert ("not_engaged", SOURCE) in rig.core.desk.refusals.counts()


def test_D4_an_estop_of_a_bag_latches() -> None:
    rig = Rig().start_moving()
    again(rig, DriverCommand(CommandKind.STOP, 1, StopLevel.CUT))
    rig.run(0.1)
    assert not rig.moving
    assert rig.core.gate.estop_level is StopLevel.CUT


def test_D4_a_reset_of_a_bag_clears_nothing() -> None:
    rig = Rig().start_moving()
    rig.stop(StopLevel.CUT)
    epoch = rig.core.gate.estop_epoch
    again(rig, DriverCommand(CommandKind.RESET, 10**6, estop_epoch=epoch))
    assert rig.core.gate.estop_level is StopLevel.CUT


@pytest.mark.parametrize("sequence", [1, 10**6])
def test_the_numbers_of_a_bag_do_not_take_the_order_from_the_living(sequence: int) -> None:
    rig = Rig().start_moving()
    again(rig, DriverCommand(CommandKind.INPUT, sequence, input=FORWARD, lifetime=LIFETIME))
    rig.hold(0.2)
    assert rig.moving
    assert rig.core.desk.refusals.counts() == {(CODE, SOURCE): 1}
