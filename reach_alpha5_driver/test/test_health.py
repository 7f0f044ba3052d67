"""From what the joints report to warnings and faults, and back."""

from __future__ import annotations

import math
import random

import pytest
from driver_rig import BOUNDS

from reach_alpha5_driver.belief import Belief
from reach_alpha5_driver.fault_table import FLAGS, Severity
from reach_alpha5_driver.health import HealthConfig, HealthWatch
from reach_alpha5_driver.leak import LeakEstimate, vapour_pressure
from reach_alpha5_driver.protocol.packets import PacketId
from reach_alpha5_driver.questions import ASK_AGAIN, Question

C, ELBOW = 2, 3
"""axis_c: place in chain order, and id of the device."""
HEALTHY = {"temperature": 20.0, "humidity": 18.0, "voltage": 24.0, "current": 0.1}
PERIOD = 2.0


class Patient:
    """An arm of which axis_c says what a test wants, each value once in a slow period."""

    def __init__(self, **settings) -> None:
        self.now = 1000.0
        self.belief = Belief(BOUNDS, 0.25)
        self.watch = HealthWatch(HealthConfig(**settings))
        self.values = dict(HEALTHY)
        self.flags: tuple[str, ...] = ()

    def report(self, **values) -> Patient:
        """Let axis_c report everything once; `values` and `flags` stay as they are then."""
        self.flags = values.pop("flags", self.flags)
        self.values |= values
        for name, value in self.values.items():
            self.belief.on_quantity(C, name, value, self.now)
        self.belief.on_status(C, self.flags, self.now)
        return self.look()

    def look(self) -> Patient:
        self.watch.check(self.belief, self.now)
        return self

    def wait(self, seconds: float = PERIOD) -> Patient:
        self.now += seconds
        return self

    def live(self, seconds: float, step: float = PERIOD, **values) -> Patient:
        """Report again and again for a while."""
        for _ in range(round(seconds / step)):
            self.wait(step).report(**values)
        return self

    def well(self) -> Patient:
        """Let the arm be believed to be healthy."""
        return self.report().live(2 * PERIOD, step=0.1)

    @property
    def codes(self) -> list[str]:
        report = self.watch.report
        return [f.code for f in (*report.warnings, *report.minor, *report.major)]

    def asked(self) -> set[int]:
        """Return what axis_c is asked for now."""
        questions = self.watch.questions(self.now)
        assert all(question.device == ELBOW for question in questions)
        return {question.packet for question in questions}


def test_a_healthy_arm_has_nothing_and_is_asked_nothing():
    patient = Patient().well().live(60.0)
    assert patient.codes == []
    assert patient.asked() == set()


@pytest.mark.parametrize(
    ("quantity", "value", "codes"),
    [
        ("temperature", 62.0, ["temperature_high"]),
        ("temperature", 80.0, ["temperature_high", "temperature_too_high"]),
        ("current", 0.7, ["current_high"]),
        ("current", -0.7, ["current_high"]),
        ("current", 0.9, ["current_high", "current_too_high"]),
        ("voltage", 19.0, ["voltage_low"]),
        ("voltage", 15.0, ["voltage_low", "voltage_too_low"]),
        ("voltage", 29.0, ["voltage_high"]),
        ("voltage", 35.0, ["voltage_high", "voltage_too_high"]),
        ("humidity", 70.0, ["humidity_high", "leak_suspected", "leak"]),
        ("humidity", 90.0, ["humidity_high", "leak_suspected", "humidity_too_high", "leak"]),
    ],
)
def test_a_value_beyond_its_thresholds_is_found_and_ends_with_it(quantity, value, codes):
    patient = Patient().well()
    patient.live(6 * PERIOD, step=0.1, **{quantity: value})
    assert patient.codes == [f"{code} axis_c" for code in codes]
    patient.live(3 * PERIOD, step=0.1, **HEALTHY)
    assert patient.codes == []


@pytest.mark.parametrize(
    ("quantity", "value", "asked"),
    [
        ("temperature", 99.0, {PacketId.TEMPERATURE}),
        ("temperature", -30.0, {PacketId.TEMPERATURE}),
        ("temperature", 500.0, set()),  # no sensor says that: as good as not received
        ("humidity", 99.0, {PacketId.HUMIDITY}),
        ("humidity", 0.0, {PacketId.HUMIDITY}),
        ("voltage", 5.0, {PacketId.VOLTAGE}),
        ("voltage", 55.0, {PacketId.VOLTAGE}),
        ("current", 9.0, set()),  # comes again with the next posture
    ],
)
def test_U9_one_bad_report_is_never_a_fault_and_is_asked_for_again(quantity, value, asked):
    patient = Patient().well()
    patient.wait(0.2).report(**{quantity: value})
    assert patient.codes == []
    assert patient.asked() == asked
    patient.wait(0.02).report(**HEALTHY)
    assert getattr(patient.belief.joints[C], quantity) == HEALTHY[quantity]
    assert patient.codes == []
    assert patient.asked() == set()


def test_U9_one_bad_report_near_the_threshold_is_no_fault_either():
    patient = Patient().well().live(20 * PERIOD, temperature=59.0)
    patient.wait().report(temperature=61.0)  # no jump: it is believed
    assert patient.belief.joints[C].temperature == 61.0
    assert patient.codes == []
    assert patient.asked() == {PacketId.TEMPERATURE}
    patient.wait(0.02).report(temperature=59.0)
    assert patient.codes == []
    assert patient.asked() == set()


def test_a_second_report_that_was_asked_for_makes_the_fault_at_once():
    patient = Patient().well().live(10 * PERIOD, temperature=59.0)
    patient.wait().report(temperature=61.0)
    patient.wait(0.02).report()
    assert patient.codes == ["temperature_high axis_c"]
    assert patient.watch.report.warnings[0].severity is Severity.WARN
    assert "61 degC" in patient.watch.report.warnings[0].text


def test_U9_a_mode_that_was_heard_once_is_asked_for_again_at_once():
    patient = Patient().well()
    for mode in (4, 4):
        patient.belief.on_mode(C, mode, patient.wait(0.1).now)
    assert patient.look().asked() == set()
    patient.belief.on_mode(C, 1, patient.wait(0.1).now)
    assert patient.look().asked() == {PacketId.MODE}
    patient.belief.on_mode(C, 4, patient.wait(0.01).now)
    assert patient.wait(1.0).look().asked() == set()


def test_U9_one_bad_frame_of_flags_is_no_fault_and_two_are():
    patient = Patient().well()
    patient.wait().report(flags=("encoder_fault",))
    assert patient.codes == []
    assert patient.asked() == {PacketId.HARDWARE_STATUS}
    patient.wait(0.02).report(flags=())
    assert patient.codes == [] and patient.asked() == set()
    patient.wait().report(flags=("encoder_fault",)).wait(0.02).report()
    assert patient.codes == ["flag_encoder_fault axis_c"]


def test_a_flag_ends_when_two_reports_lack_it():
    patient = Patient().well().live(2 * PERIOD, flags=("low_supply", "crc_error"))
    assert patient.codes == ["flag_crc_error axis_c", "flag_low_supply axis_c"]
    patient.wait().report(flags=("low_supply",))
    assert patient.codes == ["flag_crc_error axis_c", "flag_low_supply axis_c"]
    patient.wait(0.02).report()
    assert patient.codes == ["flag_low_supply axis_c"]


@pytest.mark.parametrize("flag", FLAGS)
def test_each_flag_is_found_with_the_severity_of_the_table_and_can_be_made_a_warning(flag):
    by_table = Patient().well().live(2 * PERIOD, flags=(flag,)).watch.report
    assert [
        [finding.code for finding in findings]
        for findings in (by_table.warnings, by_table.minor, by_table.major)
    ] == [
        [f"flag_{flag} axis_c"] if FLAGS[flag].severity is severity else []
        for severity in Severity
    ]
    warned = Patient(warn_only_flags=(flag,)).well().live(2 * PERIOD, flags=(flag,)).watch.report
    assert [finding.code for finding in warned.warnings] == [f"flag_{flag} axis_c"]
    assert (warned.minor, warned.major) == ((), ())


def test_what_stands_ends_a_hysteresis_before_its_threshold_only():
    patient = Patient().well().live(20 * PERIOD, temperature=62.0)
    patient.live(5 * PERIOD, temperature=56.0)
    assert patient.codes == ["temperature_high axis_c"]
    patient.live(5 * PERIOD, temperature=54.0)
    assert patient.codes == []


def test_a_value_that_trembles_about_its_threshold_does_not_flap():
    patient, seeded, changes = Patient().well(), random.Random(3), 0
    patient.live(10 * PERIOD, temperature=58.0)
    for _ in range(500):
        before = patient.watch.report
        patient.wait().report(temperature=60.0 + seeded.uniform(-2.0, 2.0))
        changes += patient.watch.report is not before
    assert changes == 1


def test_silence_ends_nothing():
    patient = Patient().well().live(10 * PERIOD, temperature=80.0, flags=("encoder_fault",))
    stands = patient.codes
    assert len(stands) == 3
    for _ in range(50):
        patient.wait().look()
    patient.belief.forget()
    patient.wait().look()
    assert patient.codes == stands


def test_a_motor_that_starts_may_draw_much_and_make_the_supply_sag_for_a_moment():
    patient = Patient().well()
    patient.live(0.9, step=0.02, current=1.5, voltage=17.0)
    assert patient.codes == []
    patient.live(2.0, step=0.02, **HEALTHY)
    assert patient.codes == []
    patient.live(2.5, step=0.02, current=1.5, voltage=17.0)
    assert patient.codes == [
        f"{code} axis_c"
        for code in ("current_high", "voltage_low", "current_too_high", "voltage_too_low")
    ]


def test_an_answer_that_was_lost_is_asked_for_again_and_not_too_often():
    patient = Patient().well()
    patient.wait().report(flags=("can",))
    question = Question(ELBOW, PacketId.HARDWARE_STATUS)
    asked = 0
    for _ in range(100):
        asked += patient.wait(0.01).look().watch.questions(patient.now) == (question,)
    assert asked == pytest.approx(1.0 / ASK_AGAIN, abs=1)
    patient.report()
    assert patient.wait(1.0).watch.questions(patient.now) == ()


def test_a_lost_line_asks_nothing():
    patient = Patient().well()
    patient.wait().report(flags=("can",), temperature=90.0)
    patient.belief.forget()
    assert patient.look().asked() == set()


def test_a_report_before_the_loss_of_the_line_confirms_none_after_it():
    patient = Patient().well().live(20 * PERIOD, temperature=59.0)
    patient.wait().report(temperature=61.0)
    assert patient.asked() == {PacketId.TEMPERATURE}
    patient.belief.forget()
    assert patient.look().wait().asked() == set()
    patient.live(0.04, step=0.02)  # believed again with the second
    assert patient.codes == []
    patient.live(0.02, step=0.02)
    assert patient.codes == ["temperature_high axis_c"]


def test_U12_a_joint_that_moves_and_says_nothing_of_its_health_is_warned_about():
    patient = Patient().well()
    for _ in range(80):
        patient.wait(0.1)
        patient.belief.on_position(C, 1.0, patient.now)
        patient.belief.on_quantity(C, "voltage", 24.0, patient.now)
        patient.look()
    assert patient.codes == ["health_unheard axis_c"]
    assert "no temperature, humidity, status" in patient.watch.report.warnings[0].text
    patient.report().wait(0.02).report()
    patient.belief.on_position(C, 1.0, patient.now)
    assert patient.wait(1.0).look().codes == []


def test_a_joint_that_comes_back_is_given_time_to_tell_of_its_health():
    patient = Patient().well()
    for silence in (0.0, 60.0):
        patient.wait(silence).look()
        for _ in range(40):
            patient.wait(0.1)
            patient.belief.on_position(C, 1.0, patient.now)
            assert patient.look().codes == []


def test_the_report_is_the_same_object_while_nothing_changes():
    patient = Patient().well().live(2 * PERIOD, flags=("can",))
    before = patient.watch.report
    patient.live(10 * PERIOD)
    assert patient.watch.report is before


def test_each_joint_has_findings_of_its_own():
    patient = Patient().well()
    for _ in range(2):
        patient.wait(0.02)
        for joint in (0, 4):
            patient.belief.on_status(joint, ("low_supply",), patient.now)
        patient.look()
    assert patient.codes == ["flag_low_supply axis_e", "flag_low_supply axis_a"]


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"warn_only_flags": ("no_such",)}, "no_such"),
     ({"temperature_stop": 50.0}, "temperature_stop"),
     ({"voltage_low_stop": 21.0}, "voltage_low_stop"),
     ({"leak_stop": 1.0}, "leak_stop")],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused_by_name(settings, word):
    with pytest.raises(ValueError, match=word):
        HealthConfig(**settings)


# -- leak


def test_vapour_pressure_is_that_of_the_tables():
    for temperature, pascals in ((0.0, 611.2), (20.0, 2339.0), (40.0, 7384.0)):
        assert vapour_pressure(temperature) == pytest.approx(pascals, rel=0.005)


@pytest.mark.parametrize("temperature", [-2.0, 5.0, 15.0, 21.0, 40.0, 70.0])
def test_the_sealed_air_explains_its_own_humidity_at_each_temperature(temperature):
    leak = LeakEstimate(0.02)
    leak.set_climate(21.0, 11.0)
    humidity = 11.0 * vapour_pressure(21.0) / vapour_pressure(temperature)
    assert leak.amount(humidity, temperature, 0.0) == pytest.approx(0.0, abs=1e-9)
    assert leak.amount(humidity + 20.0, temperature, 2.0) == pytest.approx(20.0, abs=0.1)


def test_an_arm_that_cools_down_in_the_water_does_not_leak():
    patient = Patient().well()
    patient.watch.set_climate(C, 21.0, 11.0)
    for step in range(150):
        temperature = 40.0 - 0.25 * step
        humidity = 11.0 * vapour_pressure(21.0) / vapour_pressure(temperature)
        patient.wait().report(temperature=temperature, humidity=humidity)
        assert patient.codes == []


def test_humidity_above_the_factory_climate_is_a_leak_from_the_start():
    patient = Patient()
    patient.watch.set_climate(C, 21.0, 11.0)
    patient.report(humidity=40.0).live(2 * PERIOD)
    assert patient.codes == ["leak_suspected axis_c"]
    patient.live(3 * PERIOD, humidity=50.0)
    assert patient.codes == ["leak_suspected axis_c", "leak axis_c"]


def test_humidity_that_rises_quickly_is_a_leak_without_any_climate():
    patient = Patient().well()
    codes = []
    for step in range(60):
        patient.wait().report(humidity=18.0 + 0.6 * step)
        codes = patient.codes
    assert codes == ["leak_suspected axis_c", "leak axis_c"]


def test_humidity_that_rises_slowly_is_weather():
    patient = Patient().well()
    for step in range(1000):
        patient.wait().report(humidity=18.0 + 0.019 * PERIOD * step)
    assert patient.belief.joints[C].humidity > 50.0
    assert patient.codes == []


def test_air_that_desiccant_has_dried_leaks_before_it_is_as_humid_as_the_sealed_air():
    patient = Patient().report(temperature=5.0, humidity=8.0).live(2 * PERIOD)
    patient.watch.set_climate(C, 21.0, 11.0)  # at 5 degC that explains 31 %
    patient.live(2 * PERIOD)
    patient.live(3 * PERIOD, humidity=28.0)
    assert patient.codes == ["leak_suspected axis_c"]


@pytest.mark.parametrize(
    "climate", [(math.nan, 11.0), (21.0, 0.0), (21.0, math.nan), (-243.12, 11.0), (21.0, 200.0)]
)
def test_a_factory_climate_that_cannot_be_is_as_good_as_none(climate):
    leak = LeakEstimate(0.02)
    leak.set_climate(*climate)
    assert leak.amount(18.0, 20.0, 0.0) == 0.0
    assert leak.amount(38.0, 20.0, 0.0) == 20.0


def test_another_factory_climate_is_no_leak():
    leak = LeakEstimate(0.02)
    leak.set_climate(20.0, 40.0)
    leak.amount(18.0, 20.0, 0.0)
    leak.set_climate(20.0, 5.0)
    assert leak.amount(18.0, 20.0, 2.0) == pytest.approx(13.0)


def test_a_leak_in_doubt_is_not_asked_for_without_end_when_the_temperature_is_silent():
    patient = Patient().well()
    patient.watch.set_climate(C, 21.0, 11.0)
    patient.live(2 * PERIOD)
    del patient.values["temperature"]
    patient.live(2 * PERIOD).wait(1.5).report(humidity=29.5).wait(0.02).report()
    assert patient.asked() == {PacketId.HUMIDITY}
    patient.wait().report()
    assert patient.wait().asked() == set()
    assert patient.codes == []


def test_without_a_temperature_the_factory_climate_tells_nothing():
    leak = LeakEstimate(0.02)
    leak.set_climate(21.0, 11.0)
    assert leak.amount(60.0, math.nan, 0.0) is None
