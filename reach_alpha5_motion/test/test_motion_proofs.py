"""A small share of each proof of `tools/prove_motion.py`, which makes the whole ones."""

import pytest
from motion_drive import drive
from motion_escape import escape, unfold
from motion_geometry import compare
from motion_legs import hold_to_run, in_the_way
from motion_set_points import follow


@pytest.mark.parametrize("seed", range(1000, 1003))
def test_rules_15_and_16_hold_at_every_tick_among_random_things(seed):
    outcome = drive(seed, ticks=1500)
    assert outcome.broken == []
    assert outcome.counts["moving"] > outcome.counts["ticks"] / 2
    assert outcome.counts["axes compared"] > outcome.counts["ticks"] / 10


def test_rule_15_from_every_blocked_state_some_input_leads_out():
    outcome = escape(1000, states=6)
    assert outcome.broken == []
    assert outcome.counts["came to rest"] > 0


def test_inward_from_full_stretch_base_axis_and_folded_is_two_centimetres_in_two_seconds():
    outcome = unfold(1000)
    assert outcome.broken == []
    assert all(outcome.counts[f"from {name}"] for name in ("full stretch", "base axis", "folded"))


def test_B5_interruptions_of_any_kind_change_nothing_of_the_way():
    outcome = hold_to_run(1000)
    assert outcome.broken == []
    assert outcome.counts["ways"] > 0


def test_B5_blocked_by_a_thing_it_stops_before_it_names_it_and_goes_on_when_it_is_gone():
    outcome = in_the_way(1000)
    assert outcome.broken == []
    assert outcome.counts["things in the way"] >= 2


@pytest.mark.parametrize("seed", range(1000, 1002))
def test_rule_15_random_set_points_among_random_things_break_no_rule_and_lead_back(seed):
    outcome = follow(seed, ticks=1500)
    assert outcome.broken == []
    assert outcome.counts["set-points compared"] > outcome.counts["ticks"] / 2
    assert outcome.counts["ways back"] > 0


def test_closed_forms_are_what_pinocchio_finds():
    assert compare(1000, count=500).broken == []
