"""The driver's core over a line with faults, judged by the simulated arm and the bytes.

`tools/soak.py` does the same for thousands of seeds. A failure names the scenario: running it
again gives the same run.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from virtual_arm import VirtualArm
from virtual_scenario import CASES, KINDS, Scenario

from reach_alpha5_driver.outbox import NOTHING
from reach_alpha5_driver.schedule import RS232, RS485

SEEDS = range(4)
"""Runs of each case; the last one is on RS-485."""

SECONDS = 1.6
"""Virtual time with faults of each."""

RATE = 15.0
"""Telemetry of each [Hz]: a fifth of what the line can carry, for quickness."""

RATES_BYTES = 50
"""A velocity for each joint."""

QUIET = Scenario(seed=11, kind="none", rate=0.0, seconds=8.0, telemetry_rate=RATE)
"""A run without faults in which the pilot moves the arm."""


@pytest.mark.parametrize(("kind", "rate"), CASES)
def test_U8_U9_no_fault_of_the_line_breaks_a_rule(kind, rate):
    first = 1000 * CASES.index((kind, rate))
    scenarios = [
        Scenario(first + seed, kind, rate, SECONDS, RATE, RS485 if seed == SEEDS[-1] else RS232)
        for seed in SEEDS
    ]
    outcomes = [VirtualArm(scenario).run() for scenario in scenarios]
    broken = [outcome for outcome in outcomes if outcome.violations]
    assert not broken, "\n".join(
        f"{outcome.scenario}: {'; '.join(outcome.violations[:3])}" for outcome in broken
    )


def test_stops_that_get_lost_are_written_again_until_the_arm_is_still():
    outcomes = []
    for seed in SEEDS:
        world = VirtualArm(replace(QUIET, seed=seed, telemetry_rate=40.0))
        world.pilot.practise()
        world.simulation.faults["to-arm"].set_rate("lose", 0.3)
        world.judge.stops_get_lost = True
        outcomes.append(world.run())
    assert [outcome.violations for outcome in outcomes if outcome.violations] == []
    # At least one stop was lost on its way to a moving joint: all the rest is braking.
    assert max(outcome.longest_motion for outcome in outcomes) > 0.3


# -- that the runs are what they seem


def test_the_same_scenario_runs_the_same_way():
    scenario = Scenario(5, "all", 1e-2, SECONDS, RATE)
    assert VirtualArm(scenario).run() == VirtualArm(scenario).run()


def test_without_faults_the_pilot_moves_the_arm_and_stops_it():
    outcome = VirtualArm(QUIET).run()
    assert outcome.violations == ()
    assert outcome.motion_frames > 200
    assert outcome.stops > 5
    assert outcome.faults == outcome.losses == 0
    assert outcome.longest_motion < 0.2


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "none"])
def test_each_kind_of_fault_strikes(kind):
    assert VirtualArm(Scenario(1, kind, 1e-2, SECONDS, RATE)).run().faults > 0


# -- that the judge would see it


def broken(change) -> str:
    """Return the violations of a run without faults of a core that `change` has broken."""
    world = VirtualArm(QUIET)
    change(world.core)
    return "\n".join(world.run().violations)


def test_the_judge_sees_stops_that_are_not_written():
    def change(core):
        data_to_send = core.data_to_send

        def swallow(now):
            outgoing = data_to_send(now)
            if not outgoing.purge:
                return outgoing
            core.data_sent(len(outgoing.data), now)
            return NOTHING

        core.data_to_send = swallow

    assert "moves at" in broken(change)


def test_the_judge_sees_motion_that_is_repeated_for_ever():
    def change(core):
        data_to_send, motion = core.data_to_send, [b""]

        def repeat(now):
            outgoing = data_to_send(now)
            if outgoing.purge:
                return replace(outgoing, data=outgoing.data + motion[0])
            if core.gate.demand is not None and len(outgoing.data) >= RATES_BYTES:
                motion[0] = outgoing.data
            return outgoing

        core.data_to_send = repeat

    assert "motion written" in broken(change)


def test_the_judge_sees_a_position_that_cannot_be():
    def change(core):
        receive_data = core.receive_data

        def shift(data, now):
            receive_data(data, now)
            core.telemetry.belief.joints[2].position += 1.0

        core.receive_data = shift

    assert "believed" in broken(change)


def test_the_judge_sees_a_driver_that_does_not_recover():
    def change(core):
        receive_data = core.receive_data

        def give_up(data, now):
            if now < QUIET.seconds:
                receive_data(data, now)

        core.receive_data = give_up

    assert "not believed after 3 good reports" in broken(change)


def test_the_judge_sees_an_exception():
    def change(core):
        core.tick = None

    assert "TypeError" in broken(change)


def test_the_judge_sees_memory_that_grows():
    def change(core):
        receive_data, core.everything = core.receive_data, []

        def keep(data, now):
            core.everything.append(data)
            receive_data(data, now)

        core.receive_data = keep

    assert "the core keeps" in broken(change)


def test_the_judge_sees_a_busy_loop():
    def change(core):
        core.next_wakeup = lambda now: now

    assert "busy loop" in broken(change)


def test_the_judge_sees_an_arm_that_cannot_be_moved_any_more():
    def change(core):
        on_command = core.on_command

        def ignore(command, received, now):
            if now < QUIET.seconds:
                on_command(command, received, now)

        core.on_command = ignore

    assert "cannot be moved" in broken(change)
