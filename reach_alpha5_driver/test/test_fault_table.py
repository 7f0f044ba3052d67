"""The tables of faults: complete, and of use to whoever reads them."""

from __future__ import annotations

import pytest

from reach_alpha5_driver.fault_table import (
    COMPARISONS,
    DISAGREEMENTS,
    FAULTS,
    FLAGS,
    Severity,
    found,
)
from reach_alpha5_driver.health import HealthConfig
from reach_alpha5_driver.protocol.status import KNOWN_BITS, STATUS_BITS

UNDOCUMENTED = {name for name, _, _ in STATUS_BITS} - {name for name, _, _ in KNOWN_BITS}


def test_U14_every_flag_of_the_hardware_status_is_in_the_table_in_wire_order():
    assert list(FLAGS) == [name for name, _, _ in STATUS_BITS]


@pytest.mark.parametrize("name", sorted(UNDOCUMENTED))
def test_a_flag_that_nobody_documented_stops_and_tells_the_way_out(name):
    assert FLAGS[name].severity is Severity.MAJOR
    assert "warn_only_flags" in FLAGS[name].advice


@pytest.mark.parametrize("name", [name for name, _, _ in KNOWN_BITS])
def test_a_documented_flag_has_a_meaning_of_its_own(name):
    assert FLAGS[name].meaning != FLAGS[min(UNDOCUMENTED)].meaning


@pytest.mark.parametrize(
    "name",
    ["encoder_missing", "encoder_position", "encoder_fault", "encoder_invalid", "inner_encoder",
     "position_report_missing", "id_conflict", "invalid_firmware", "motor_driver", "humidity",
     "over_pressure"],
)  # fmt: skip
def test_R4_what_hides_where_a_joint_is_or_what_it_obeys_or_lets_water_in_is_major(name):
    assert FLAGS[name].severity is Severity.MAJOR


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.code)
def test_each_fault_says_in_sentences_what_it_means_and_what_to_do(fault):
    for text in (fault.meaning, fault.advice):
        assert text[0].isupper() and text.endswith(".")
        assert "  " not in text


def test_codes_are_words_without_spaces_and_each_is_there_once():
    codes = [fault.code for fault in FAULTS]
    assert len(set(codes)) == len(codes)
    assert all(code == code.lower() and " " not in code for code in codes)


def test_comparisons_come_in_pairs_of_a_warning_and_a_stop_of_the_same_quantity():
    for warn, stop in zip(COMPARISONS[::2], COMPARISONS[1::2], strict=True):
        assert warn.fault.severity is Severity.WARN
        assert stop.fault.severity > Severity.WARN
        assert (warn.quantity, warn.above) == (stop.quantity, stop.above)


def test_each_comparison_names_settings_that_exist_and_no_threshold_is_left_over():
    config = HealthConfig()
    used = set()
    for entry in COMPARISONS:
        names = {entry.threshold, entry.hysteresis, entry.time} - {""}
        assert all(getattr(config, name) > 0.0 for name in names)
        used |= names
    others = {"leak_trend", "slow_stale_after", "warn_only_flags"}
    assert used | others == set(HealthConfig.__dataclass_fields__)


def test_what_the_arm_does_not_do_as_told_stops_it():
    assert all(fault.severity > Severity.WARN for fault in DISAGREEMENTS)


def test_a_finding_names_the_joint_and_tells_everything():
    fault = FLAGS["low_supply"]
    finding = found(fault, 2, "17 V")
    assert finding.code == "flag_low_supply axis_c"
    assert finding.severity is fault.severity
    for part in ("axis_c", "17 V", fault.meaning, fault.advice):
        assert part in finding.text
    assert found(fault, 2, "17 V", Severity.WARN).severity is Severity.WARN
