"""Asking an arm what it is: rounds, losses, damage, silence. No clock, no I/O."""

import itertools
import math
import os
import random
import struct

import pytest

from reach_alpha5_driver.devices import BY_ID, DEVICES
from reach_alpha5_driver.identification import (
    QUESTIONS,
    Identification,
    IdentificationConfig,
    Question,
)
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import PacketId
from reach_alpha5_driver.sim.arm import ArmConfig
from reach_alpha5_driver.sim.simulation import SimConfig, Simulation

CONFIG = IdentificationConfig()
REQUIRED = {PacketId.MODE, PacketId.POSITION_LIMITS}
EVERYTHING = {question.packet_id for question in QUESTIONS}
ELBOW = 3
SEEDS = int(os.environ.get("IDENTIFICATION_SEEDS", "100"))
"""Lines with damage; the environment raises it."""

KINDS_OF_DAMAGE = ("drop", "flip", "lose", "duplicate", "delay", "split", "merge", "garbage")


def truth(device: int, packet_id: int) -> packets.Packet:
    """What a device of this file says of itself."""
    match PacketId(packet_id):
        case PacketId.MODE:
            return packets.SetMode(device, packets.Mode.STANDBY)
        case PacketId.POSITION_LIMITS:
            return packets.PositionLimits(device, 0.001 * device, 0.01 * device)
        case PacketId.VELOCITY_LIMITS:
            return packets.VelocityLimits(device, -0.1, 0.1)
        case PacketId.CURRENT_LIMITS:
            return packets.CurrentLimits(device, -0.4, 0.4)
        case PacketId.SOFTWARE_VERSION:
            return packets.SoftwareVersion(device, 1, 2, 3)
        case PacketId.FACTORY_CLIMATE:
            return packets.FactoryClimate(device, 20.0, 9e4, 10.0)
        case PacketId.HARDWARE_STATUS:
            return packets.HardwareStatus(device, ())
    return packets.PACKETS[PacketId(packet_id)](device, 24.0)


class Talk:
    """An identification on a clock of its own, and an arm that answers at once."""

    def __init__(self, questions=QUESTIONS):
        self.now = 100.0
        self.identification = Identification(CONFIG, questions)
        self.deaf: set[int] = set()
        self.unknown: set[int] = set()
        """Packet ids that no device knows."""
        self.drops_lists = False
        """Devices drop a whole request in which they do not know one id."""
        self.asked: list[tuple[float, int, tuple[int, ...]]] = []
        self.identification.start(self.now)

    def answers(self, device, packet_ids):
        """Return the packets that come back for a request."""
        if device in self.deaf or (self.drops_lists and self.unknown & set(packet_ids)):
            return []
        return [truth(device, each) for each in packet_ids if each not in self.unknown]

    def step(self):
        """Go to the time of the next question, ask all that is due, and take the answers."""
        due = self.identification.next_time()
        assert due < math.inf
        self.now = max(self.now, due)
        asks = self.identification.asks(self.now)
        assert asks
        for device, packet_ids in asks:
            self.asked.append((self.now, device, packet_ids))
            packets.encode(packets.Request(device, packet_ids))  # 1 to 10 ids, none forbidden
        for device, packet_ids in asks:
            for packet in self.answers(device, packet_ids):
                self.identification.on_packet(BY_ID[device].index, packet, self.now)

    def run(self, duration=math.inf):
        """Go on for `duration`, or until nothing more is asked."""
        end = self.now + duration
        while self.identification.next_time() < end:
            self.step()
        if end < math.inf:
            self.now = end

    def of(self, device):
        return self.identification.identity.devices[BY_ID[device].index]

    def hear(self, device, packet):
        return self.identification.on_packet(BY_ID[device].index, packet, self.now)

    def refuse(self, device, packet_id, reason):
        return self.identification.on_refused(BY_ID[device].index, packet_id, reason, self.now)


def test_a_healthy_arm_is_known_after_three_rounds_without_any_pause():
    talk = Talk()
    talk.run()
    assert talk.identification.complete
    assert talk.identification.missing() == ()
    assert talk.now == 100.0
    assert len(talk.asked) == len(DEVICES) * (1 + 2 + 1)
    for device in DEVICES:
        said = talk.of(device.id)
        assert said.identified
        assert (said.unanswered, said.unreadable) == ((), ())
        assert said.position_lower == pytest.approx(0.001 * device.id)
        assert said.position_upper == pytest.approx(0.01 * device.id)
        assert said.firmware == "1.2.3"
        assert said.serial_number == 24.0
        assert said.mode is packets.Mode.STANDBY
        assert said.flags == ()


def test_nothing_is_asked_before_the_line_is_open_nor_after_it_is_lost():
    identification = Identification(CONFIG)
    assert identification.next_time() == math.inf
    assert identification.asks(1e9) == []
    identification.start(0.0)
    assert identification.asks(0.0)
    identification.forget()
    assert identification.next_time() == math.inf
    identification.on_packet(0, truth(5, PacketId.MODE), 1.0)  # came too late
    assert identification.asks(1e9) == []
    assert not identification.complete


def test_one_answer_does_not_count_and_a_frame_that_comes_twice_is_one_answer():
    talk = Talk()
    talk.identification.asks(talk.now)
    wrong = packets.PositionLimits(ELBOW, 0.0, 3.0)
    assert talk.hear(ELBOW, wrong)
    assert not talk.hear(ELBOW, wrong)
    assert math.isnan(talk.of(ELBOW).position_lower)


def test_an_answer_that_contradicts_the_last_one_begins_anew():
    talk = Talk()
    right, wrong = packets.PositionLimits(ELBOW, 0.5, 1.0), packets.PositionLimits(ELBOW, 0.0, 3.0)
    for answer in (right, wrong, right):
        talk.now += 10.0
        talk.identification.asks(talk.now)
        talk.hear(ELBOW, answer)
        assert not talk.of(ELBOW).identified
        assert math.isnan(talk.of(ELBOW).position_upper)
    talk.now += 10.0
    talk.identification.asks(talk.now)
    talk.hear(ELBOW, right)
    assert talk.of(ELBOW).position_upper == 1.0


def test_what_is_measured_may_differ_a_little_between_two_answers():
    talk = Talk()
    noise = iter(itertools.cycle((-0.4, 0.5, 0.1)))
    whole = talk.answers

    def noisy(device, packet_ids):
        return [
            packets.Voltage(device, 24.0 + next(noise))
            if isinstance(packet, packets.Voltage)
            else packet
            for packet in whole(device, packet_ids)
        ]

    talk.answers = noisy
    talk.run()
    assert talk.identification.complete
    assert talk.of(ELBOW).voltage == pytest.approx(24.0, abs=0.6)


def test_no_damage_that_passes_the_checksum_becomes_a_limit():
    """One answer in five carries other limits than the device has; no seed believes one."""
    for seed in range(300):
        rng = random.Random(seed)
        talk = Talk()
        whole = talk.answers

        def damaged(device, packet_ids, rng=rng, whole=whole):
            return [
                packets.PositionLimits(device, 0.0, rng.uniform(0.1, 9.0))
                if isinstance(packet, packets.PositionLimits) and rng.random() < 0.2
                else packet
                for packet in whole(device, packet_ids)
            ]

        talk.answers = damaged
        talk.run()
        assert talk.identification.complete, f"seed {seed}"
        for device in DEVICES:
            assert talk.of(device.id).position_upper == 0.01 * device.id, f"seed {seed}"


def test_a_silent_device_is_asked_for_ever_but_little_and_slowly():
    talk = Talk()
    talk.deaf = {ELBOW}
    talk.run(duration=1000.0)
    times = [now for now, device, _ in talk.asked if device == ELBOW]
    assert {each for _, device, ids in talk.asked if device == ELBOW for each in ids} == REQUIRED
    pauses = [later - sooner for sooner, later in itertools.pairwise(times)]
    assert all(later > sooner - 1e-9 for sooner, later in itertools.pairwise(pauses))
    assert pauses[0] == pytest.approx(CONFIG.retry_period)
    assert pauses[-1] == pytest.approx(CONFIG.slow_period)
    assert len(times) == pytest.approx(1000.0 / CONFIG.slow_period, rel=0.05)
    assert not talk.identification.complete
    assert talk.identification.missing() == ("axis_c",)
    talk.deaf = set()
    talk.run()
    assert talk.identification.complete


def test_a_silent_device_that_is_heard_is_asked_at_once():
    talk = Talk()
    talk.deaf = {ELBOW}
    talk.run(duration=20.0)
    assert talk.identification.next_time() > talk.now - CONFIG.slow_period
    assert not talk.hear(ELBOW, packets.Position(ELBOW, 1.0))
    assert talk.identification.next_time() == talk.now
    ((device, first), (_, second)) = talk.identification.asks(talk.now)
    assert device == ELBOW
    assert set(first + second) == EVERYTHING


def test_next_time_is_never_now_after_asking():
    talk = Talk()
    for _ in range(50):
        talk.now = talk.identification.next_time()
        assert talk.identification.asks(talk.now)
        assert talk.identification.next_time() > talk.now
        assert talk.identification.asks(talk.now) == []


def test_answers_that_never_agree_are_asked_for_in_peace():
    talk = Talk()
    counter = itertools.count()
    talk.answers = lambda device, packet_ids: [
        packets.PositionLimits(device, 0.0, 1.0 + next(counter)) for _ in (0,)
    ]
    talk.run(duration=100.0)
    assert not talk.identification.complete
    rounds = 100.0 / CONFIG.slow_period + 10
    assert len(talk.asked) < rounds * len(DEVICES) * len(REQUIRED)
    assert "axis_c position limits" in talk.identification.missing()


def test_nonsense_that_changes_is_asked_for_in_peace_too():
    talk = Talk()
    counter = itertools.count()
    whole = talk.answers

    def nonsense(device, packet_ids):
        if device == ELBOW and PacketId.POSITION_LIMITS in packet_ids:
            talk.refuse(ELBOW, PacketId.POSITION_LIMITS, f"reason {next(counter) // 2 % 2}")
            packet_ids = [each for each in packet_ids if each != PacketId.POSITION_LIMITS]
        return whole(device, packet_ids)

    talk.answers = nonsense
    talk.run(duration=100.0)
    assert not talk.identification.complete
    assert next(counter) < 100.0 / CONFIG.slow_period + 20


def test_a_first_answer_after_a_silence_is_confirmed_at_once():
    talk = Talk()
    talk.unknown = {PacketId.POSITION_LIMITS}
    talk.run(duration=100.0)
    talk.unknown = set()
    talk.step()  # brings the first answer of a device
    at = talk.now
    talk.step()
    assert talk.now == at


def test_the_arm_may_do_without_what_it_does_not_know():
    talk = Talk()
    talk.unknown = {PacketId.FACTORY_CLIMATE}
    talk.run(duration=10.0)
    assert talk.identification.complete
    assert talk.now - 100.0 <= 10.0
    assert talk.of(ELBOW).unanswered == ("factory climate",)
    assert talk.of(ELBOW).identified
    before = len(talk.asked)
    talk.run(duration=1000.0)
    assert len(talk.asked) - before < len(DEVICES) * (1000.0 / CONFIG.rare_period + 6)


def test_an_answer_that_comes_late_is_taken_and_does_not_undo_the_identification():
    talk = Talk()
    talk.unknown = {PacketId.FACTORY_CLIMATE}
    talk.run(duration=10.0)
    talk.unknown = set()
    while talk.identification.next_time() < math.inf:
        talk.step()
        assert talk.identification.complete
    assert talk.of(ELBOW).unanswered == ()
    assert talk.of(ELBOW).sealed_pressure == 9e4


@pytest.mark.parametrize("required", sorted(REQUIRED))
def test_without_what_is_required_it_is_never_complete(required):
    talk = Talk()
    talk.unknown = {required}
    talk.run(duration=500.0)
    assert not talk.identification.complete
    name = PacketId(required).name.lower().replace("_", " ")
    assert talk.identification.missing() == tuple(f"{d.joint} {name}" for d in DEVICES)
    assert not talk.of(ELBOW).identified


def test_a_firmware_that_drops_lists_with_an_unknown_id_is_asked_one_by_one():
    talk = Talk()
    talk.unknown, talk.drops_lists = {PacketId.VOLTAGE}, True
    talk.run(duration=10.0)
    assert talk.identification.complete
    assert talk.of(ELBOW).unanswered == ("voltage",)


def test_limits_sent_min_first_are_missing_with_the_reason_until_they_are_right():
    talk = Talk()
    frame = Frame(ELBOW, PacketId.POSITION_LIMITS, struct.pack("<2f", 0.1, 3.0))
    with pytest.raises(packets.PacketError) as refusal:
        packets.parse(frame)
    whole = talk.answers

    def reversed_limits(device, packet_ids):
        if device == ELBOW and PacketId.POSITION_LIMITS in packet_ids:
            talk.refuse(ELBOW, frame.packet_id, refusal.value.reason)
            packet_ids = [each for each in packet_ids if each != frame.packet_id]
        return whole(device, packet_ids)

    talk.answers = reversed_limits
    talk.run(duration=30.0)
    assert not talk.identification.complete
    assert talk.identification.missing() == (f"axis_c position limits ({refusal.value.reason})",)
    assert talk.of(ELBOW).unreadable == (("position limits", refusal.value.reason),)
    assert len(talk.asked) < 200
    talk.answers = whole
    talk.run()
    assert talk.identification.complete
    assert talk.of(ELBOW).unreadable == ()


def test_one_answer_that_makes_no_sense_is_not_held_against_the_device():
    talk = Talk()
    talk.identification.asks(talk.now)
    assert talk.refuse(ELBOW, PacketId.POSITION_LIMITS, "damaged")
    talk.run()
    assert talk.identification.complete
    assert talk.of(ELBOW).unreadable == ()


def test_a_device_that_was_away_is_identified_anew_and_the_others_stay_known():
    talk = Talk()
    talk.run()
    others = [talk.of(device.id) for device in DEVICES if device.id != ELBOW]
    asked = len(talk.asked)
    talk.now += 10.0
    talk.identification.restart(BY_ID[ELBOW].index, talk.now)
    assert not talk.identification.complete
    assert talk.identification.missing() == ("axis_c",)
    assert math.isnan(talk.of(ELBOW).position_lower)
    talk.run()
    assert talk.identification.complete
    assert {device for _, device, _ in talk.asked[asked:]} == {ELBOW}
    assert [talk.of(device.id) for device in DEVICES if device.id != ELBOW] == others


def test_the_identity_is_one_object_until_something_is_learned():
    talk = Talk()
    before = talk.identification.identity
    assert talk.identification.identity is before
    talk.run()
    known = talk.identification.identity
    assert known is not before
    talk.hear(ELBOW, packets.Position(ELBOW, 1.0))
    talk.hear(ELBOW, packets.PositionLimits(ELBOW, 1.0, 1.1))  # nobody has asked
    assert talk.identification.identity is known


def test_other_questions_can_be_asked_too():
    talk = Talk((*QUESTIONS, Question(PacketId.POSITION, tolerance=0.1)))
    talk.run()
    assert talk.identification.complete
    assert talk.of(ELBOW).position == 24.0


# -- against the simulated arm, in its own time


class SimulatedArm:
    """A survey of the simulated arm in virtual time; on RS-485 one question at a time."""

    ANSWER_TIME = 0.1

    def __init__(self, seed: int, *, half_duplex: bool = False, rate: float = 0.0):
        rng = random.Random(f"identification/{seed}")
        self.limits = {
            device.id: (rng.uniform(0.0, 1.0) * scale, rng.uniform(2.0, 6.0) * scale)
            for device in DEVICES
            for scale in [1.0 if device.unit == "rad" else 0.002]
        }
        self.now = 10.0
        arm = ArmConfig(position_limits=self.limits)
        config = SimConfig(arm=arm, half_duplex=half_duplex, seed=seed)
        self.simulation = Simulation(config, self.now)
        for faults in self.simulation.faults.values():
            for kind in rng.sample(KINDS_OF_DAMAGE, 3):
                faults.set_rate(kind, rate)
        self.one_at_a_time = half_duplex
        self.identification = Identification(CONFIG)
        self.decoder = StreamDecoder()
        self.queue: list[tuple[int, tuple[int, ...]]] = []
        self.awaited: set[tuple[int, int]] = set()
        self.free_at = self.now
        self.identification.start(self.now)

    def run(self, duration: float) -> None:
        """Go on until the identification is complete, or `duration` is over."""
        end = self.now + duration
        while not self.identification.complete and self.now < end:
            self._ask()
            times = [self.simulation.due(), self.identification.next_time(), self.free_at]
            later = [time for time in times if time is not None and time > self.now]
            self.now = min([*later, end])
            for chunk in self.simulation.advance(self.now).to_driver:
                self._take(chunk.data)

    def _ask(self) -> None:
        self.queue += self.identification.asks(self.now) if not self.queue else []
        while self.queue:
            if self.one_at_a_time and self.awaited and self.now < self.free_at:
                return
            device, packet_ids = self.queue.pop(0)
            self.simulation.receive(packets.encode(packets.Request(device, packet_ids)), self.now)
            self.awaited = {(device, each) for each in packet_ids}
            self.free_at = self.now + self.ANSWER_TIME

    def _take(self, data: bytes) -> None:
        for event in self.decoder.receive(data):
            if not isinstance(event, Frame) or event.device_id not in BY_ID:
                continue
            self.awaited.discard((event.device_id, event.packet_id))
            index = BY_ID[event.device_id].index
            try:
                self.identification.on_packet(index, packets.parse(event), self.now)
            except packets.PacketError as error:
                self.identification.on_refused(index, event.packet_id, error.reason, self.now)

    def check(self) -> None:
        """Compare what was believed with the truth."""
        for device, said in zip(DEVICES, self.identification.identity.devices, strict=True):
            lower, upper = self.limits[device.id]
            joint = self.simulation.arm.joints[device.id]
            if not math.isnan(said.position_lower):
                assert said.position_lower == pytest.approx(lower, rel=1e-6)
                assert said.position_upper == pytest.approx(upper, rel=1e-6)
            if not math.isnan(said.velocity_upper):
                speed = joint.velocity_limits[1] / device.wire_per_si
                assert said.velocity_upper == pytest.approx(speed, rel=1e-6)
            if said.mode is not None:
                assert said.mode == joint.mode
            if said.firmware:
                assert said.firmware == "2.3.1"


@pytest.mark.parametrize("half_duplex", [False, True], ids=["rs232", "rs485"])
def test_B11_the_simulated_arm_is_known_within_half_a_second(half_duplex):
    arm = SimulatedArm(0, half_duplex=half_duplex)
    arm.run(0.5)
    assert arm.identification.complete
    arm.check()
    assert all(said.unanswered == () for said in arm.identification.identity.devices)
    assert arm.simulation.line.collisions == 0


def test_U9_on_a_line_that_damages_frames_the_arm_is_known_all_the_same_and_rightly():
    for seed in range(SEEDS):
        rate = 10.0 ** random.Random(seed).uniform(-4.0, -1.7)
        arm = SimulatedArm(seed, half_duplex=seed % 2 == 1, rate=rate)
        arm.run(60.0)
        assert arm.identification.complete, f"seed {seed}, rate {rate}"
        arm.check()


def test_an_arm_that_is_switched_on_late_is_found():
    arm = SimulatedArm(1)
    for device in arm.simulation.devices.values():
        device.power_off()
    arm.run(20.0)
    assert arm.identification.missing() == tuple(device.joint for device in DEVICES)
    for device in arm.simulation.devices.values():
        device.power_on(arm.now)
    arm.run(CONFIG.slow_period + 0.5)
    assert arm.identification.complete
    arm.check()


def test_a_limit_that_was_not_saved_is_seen_after_a_power_cycle():
    arm = SimulatedArm(2)
    arm.run(1.0)
    elbow = arm.simulation.devices[ELBOW]
    wide = (0.0, 3.5)
    arm.simulation.arm.joints[ELBOW].position_limits = wide
    arm.limits[ELBOW] = wide
    arm.identification.restart(BY_ID[ELBOW].index, arm.now)
    arm.run(1.0)
    assert elbow.answers
    assert arm.identification.complete
    arm.check()
