"""What other threads hand over: in which order it counts, and that it is bounded."""

from __future__ import annotations

import select

import pytest
from driver_rig import FORWARD, Rig

from reach_alpha5_common.command import CommandKind, DriverCommand, StopLevel
from reach_alpha5_driver.inbox import MAX_WAITING, Inbox
from reach_alpha5_driver.states import State


def jog(rig: Rig, inbox: Inbox) -> None:
    inbox.call(
        lambda core, now: core.service.on_joint_jog(
            ["axis_d"], [], [0.1], 0.0, received=rig.now, now=now
        )
    )


def stop(rig: Rig, inbox: Inbox) -> None:
    rig.sequence += 1
    inbox.command(DriverCommand(CommandKind.STOP, rig.sequence), rig.now)


@pytest.mark.parametrize(("words", "moves"), [((jog, stop), False), ((stop, jog), True)])
def test_what_waits_together_counts_in_the_order_in_which_it_came(words, moves):
    rig, inbox = Rig(service_mode=True).connect(), Inbox()
    rig.stop()
    rig.run(0.1)
    for word in words:
        word(rig, inbox)
    inbox.deliver(rig.core, rig.now)
    assert (rig.core.gate.state is State.EXECUTING) is moves


def test_an_estop_goes_before_all_that_waits():
    rig, inbox = Rig().connect(), Inbox()
    rig.stop()
    rig.run(0.1)
    rig.sequence += 1
    inbox.command(
        DriverCommand(CommandKind.INPUT, rig.sequence, input=FORWARD, lifetime=0.2), rig.now
    )
    inbox.estop(StopLevel.CUT, "pad", "pressed")
    inbox.deliver(rig.core, rig.now)
    assert rig.core.gate.demand is None
    assert rig.refusal == "estop_latched"


def test_a_flood_ends_in_a_stop_after_all_that_waited():
    rig, inbox = Rig(service_mode=True).connect(), Inbox()
    rig.stop()
    rig.run(0.1)
    for _ in range(MAX_WAITING + 10):
        jog(rig, inbox)
        stop(rig, inbox)
    assert len(inbox) <= MAX_WAITING
    inbox.deliver(rig.core, rig.now)
    assert rig.core.gate.demand is None
    assert rig.core.gate.state is not State.EXECUTING


def test_a_call_gives_its_result_or_its_error_back_and_wakes_the_thread():
    rig, inbox = Rig(), Inbox()
    good = inbox.call(lambda core, now: now)
    bad = inbox.call(lambda core, now: 1 / 0)
    assert select.select([inbox.fileno()], [], [], 0)[0]
    with pytest.raises(ZeroDivisionError):
        inbox.deliver(rig.core, 5.0)
    assert good.result(0) == 5.0
    assert isinstance(bad.exception(0), ZeroDivisionError)


def test_a_call_that_finds_too_many_waiting_says_so():
    inbox = Inbox()
    for _ in range(MAX_WAITING):
        inbox.call(lambda core, now: None)
    late = inbox.call(lambda core, now: None)
    assert isinstance(late.exception(0), TimeoutError)
