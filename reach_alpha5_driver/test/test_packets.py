"""Typed packets: golden frames, units, refusals, and that nothing else can be sent."""

import dataclasses
import json
import math
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reach_alpha5_driver.devices import BROADCAST
from reach_alpha5_driver.protocol import codec
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import (
    NEVER_SEND,
    PACKETS,
    STOP_FRAMES,
    BoxObstacle,
    Collision,
    CollisionKind,
    Coordinates,
    Current,
    CurrentLimits,
    CylinderObstacle,
    EndPosition,
    EndVelocity,
    FactoryClimate,
    FirmwareClimate,
    HardwareStatus,
    HeartbeatFrequency,
    HeartbeatPackets,
    Humidity,
    IndexedRelativePosition,
    Mode,
    ModelNumber,
    Packet,
    PacketError,
    PacketId,
    Position,
    PositionLimits,
    PositionVelocity,
    PresetCapture,
    PresetGo,
    PresetName,
    PresetValues,
    RelativePosition,
    Request,
    Save,
    SerialNumber,
    SetMode,
    SoftwareVersion,
    Temperature,
    Velocity,
    VelocityLimits,
    Voltage,
    encode,
    parse,
    stop_frames,
)
from reach_alpha5_driver.protocol.status import KNOWN_BITS, STATUS_BITS

GOLDEN = {
    frame["name"]: bytes.fromhex(frame["wire"])
    for frame in json.loads(Path(__file__).with_name("golden_frames.json").read_text())["frames"]
}

TYPED = {
    "position jaws 4.123 mm": Position(1, 0.004123),
    "velocity dev1 0.5": Velocity(1, 0.0005),
    "velocity dev1 0.0": Velocity(1, 0.0),
    "velocity dev1 3.0": Velocity(1, 0.003),
    "velocity dev1 -3.0": Velocity(1, -0.003),
    "velocity dev5 -0.25": Velocity(5, -0.25),
    "velocity all 0": Velocity(BROADCAST, 0.0),
    "velocity dev1 0.007 (CRC byte is zero)": Velocity(1, 0.000007),
    "position dev1 10": Position(1, 0.010),
    "position dev2 3.14159": Position(2, 3.14159),
    "position dev4 1.5707": Position(4, 1.5707),
    "current dev3 150 mA": Current(3, 0.150),
    "mode dev1 0": SetMode(1, Mode.STANDBY),
    "mode dev1 1": SetMode(1, Mode.DISABLE),
    "mode dev1 2": SetMode(1, Mode.POSITION),
    "mode dev1 3": SetMode(1, Mode.VELOCITY),
    "mode all standby": SetMode(BROADCAST, Mode.STANDBY),
    "mode all disable": SetMode(BROADCAST, Mode.DISABLE),
    "mode dev5 zero velocity": SetMode(5, Mode.ZERO_VELOCITY),
    "request dev1 position": Request(1, (PacketId.POSITION,)),
    "request dev1 mode": Request(1, (PacketId.MODE,)),
    "request dev1 pos vel cur": Request(
        1, (PacketId.POSITION, PacketId.VELOCITY, PacketId.CURRENT)
    ),
    "request dev5 volt temp status": Request(
        5, (PacketId.VOLTAGE, PacketId.TEMPERATURE, PacketId.HARDWARE_STATUS)
    ),
    "request dev1 ten ids": Request(
        1, (0x01, 0x02, 0x03, 0x05, 0x66, 0x65, 0x90, 0x68, 0x6C, 0x61)
    ),
    "heartbeat packets dev1": HeartbeatPackets(1, (3, 2, 5)),
    "heartbeat packets dev1 short": HeartbeatPackets(1, (3, 2, 5)),
    "heartbeat frequency dev1 10": HeartbeatFrequency(1, 10),
    "heartbeat frequency dev1 off": HeartbeatFrequency(1, 0),
    "position limits dev3 max 3.22 min 0": PositionLimits(3, 0.0, 3.22),
    "velocity limits dev3": VelocityLimits(3, -0.5, 0.5),
    "save dev1": Save(1),
    "preset go 0": PresetGo(5, 0),
    "km end pos dev5": EndPosition(5, (0.2, 0.0, 0.1, 0.0, 0.0, 0.0)),
    "km end vel dev5": EndVelocity(5, (0.01, 0.0, -0.005, 0.0, 0.0, 0.0)),
    "reply software version 5.3.5": SoftwareVersion(1, 5, 3, 5),
    "reply hardware status dev3": HardwareStatus(3, ("temperature", "low_supply")),
    "reply voltage 24 V": Voltage(5, 24.0),
    "reply temperature 31.5 C": Temperature(2, 31.5),
    "reply serial 1234": SerialNumber(1, 1234.0),
}

OTHERS = [
    PositionVelocity(1, 0.005, 0.001),
    PositionVelocity(4, 1.5, -0.25),
    IndexedRelativePosition(1, -0.002),
    RelativePosition(2, 0.5),
    PositionLimits(1, 0.0005, 0.0135),
    PositionLimits(2, None, None),
    VelocityLimits(1, -0.003, 0.003),
    CurrentLimits(1, -0.25, 0.5),
    Current(BROADCAST, 0.0),
    FactoryClimate(5, 21.5, 101300.0, 40.0),
    Humidity(1, 12.5),
    ModelNumber(1, 5014.0),
    FirmwareClimate(1, PacketId.CLIMATE_67, struct.pack("<f", 21.25)),
    FirmwareClimate(1, PacketId.CLIMATE_6E, b"\x17"),
    HardwareStatus(1, ()),
    HeartbeatPackets(2, ()),
    HeartbeatFrequency(BROADCAST, 0),
    PresetCapture(5, 3),
    PresetValues(5, 2, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)),
    PresetName(5, 1, "STOW 1"),
    BoxObstacle(5, 0, (0.1, 0.2, 0.3, -0.1, -0.2, -0.3)),
    CylinderObstacle(5, 3, (0.1, 0.2, 0.3, -0.1, -0.2, -0.3, 0.05)),
    Coordinates(5, (0.1, -0.2, 0.3)),
    Collision(5, CollisionKind.OBSTACLE, 1, 2),
]


def f32(*values):
    return struct.pack(f"<{len(values)}f", *values)


def refusal_of(call):
    with pytest.raises(PacketError) as refused:
        call()
    assert refused.value.reason
    return refused.value.code


def assert_close(packet, expected):
    """Equal, but for the precision of a float32."""
    assert type(packet) is type(expected)
    for field in dataclasses.fields(expected):
        value, other = getattr(packet, field.name), getattr(expected, field.name)
        first = other[0] if isinstance(other, tuple) and other else other
        if isinstance(first, float):
            other = pytest.approx(other, rel=1e-6)
        assert value == other, field.name


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_frame_as_a_typed_packet_both_ways(name):
    packet = parse(codec.decode(GOLDEN[name]))
    assert_close(packet, TYPED[name])
    # The arm takes a short heartbeat list; ours always fills all ten places.
    wire = GOLDEN[name.removesuffix(" short")]
    assert encode(packet) == wire
    assert encode(TYPED[name]) == wire


@pytest.mark.parametrize("packet", OTHERS, ids=repr)
def test_other_packets_come_back(packet):
    assert_close(parse(codec.decode(encode(packet))), packet)


def test_every_packet_of_the_protocol_is_tested_here_and_has_a_class():
    assert set(PACKETS) == set(PacketId)
    assert {type(packet) for packet in [*TYPED.values(), *OTHERS]} == set(PACKETS.values())


@pytest.mark.parametrize(
    ("packet", "payload"),
    [
        (Position(1, 0.0075), f32(7.5)),
        (Position(2, 0.5), f32(0.5)),
        (Velocity(1, -0.002), f32(-2.0)),
        (Current(1, 0.25), f32(250.0)),
        (Current(5, 0.25), f32(250.0)),
        (PositionVelocity(1, 0.005, 0.001), f32(5.0, 1.0)),
        (PositionLimits(1, 0.001, 0.013), f32(13.0, 1.0)),
        (PositionLimits(4, 0.25, 3.5), f32(3.5, 0.25)),
        (CurrentLimits(4, -0.25, 0.5), f32(500.0, -250.0)),
        (FactoryClimate(1, 20.0, 100000.0, 30.0), f32(20.0, 1.0, 30.0)),
        (EndVelocity(5, (0.5, 0.0, 0.0, 1.0, 0.0, 0.0)), f32(500.0, 0, 0, 1.0, 0, 0)),
    ],
    ids=repr,
)
def test_units_on_the_wire(packet, payload):
    assert packet.to_frame().payload == payload


@settings(deadline=None)
@given(
    st.sampled_from([Position, Velocity, Current]),
    st.integers(1, 5),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
)
def test_unit_conversion_loses_no_bit_of_a_float32(cls, device, value):
    frame = Frame(device, cls.ID, f32(value))
    assert parse(frame).to_frame() == frame


def test_limits_zero_zero_mean_none_and_never_may_not_move():
    for cls in (PositionLimits, VelocityLimits, CurrentLimits):
        assert parse(Frame(2, cls.ID, f32(0.0, 0.0))) == cls(2, None, None)
        assert cls(2, None, None).to_frame().payload == f32(0.0, 0.0)
        assert refusal_of(lambda cls=cls: cls(2, 0.0, 0.0)) == "bad_payload"
        assert refusal_of(lambda cls=cls: cls(2, None, 1.0)) == "bad_payload"


def test_limits_sent_minimum_first_are_refused():
    assert refusal_of(lambda: parse(Frame(3, PacketId.POSITION_LIMITS, f32(0.0, 3.22)))) == (
        "bad_payload"
    )
    assert refusal_of(lambda: PositionLimits(3, 1.0, 0.5)) == "bad_payload"


@pytest.mark.parametrize("cls", [Velocity, Current])
def test_only_zero_may_go_to_all(cls):
    assert encode(cls(BROADCAST, 0.0))
    assert refusal_of(lambda: cls(BROADCAST, 0.1)) == "bad_payload"
    assert refusal_of(lambda: parse(Frame(BROADCAST, cls.ID, f32(0.1)))) == "bad_payload"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Position(BROADCAST, 0.0),
        lambda: RelativePosition(BROADCAST, 0.0),
        lambda: PositionVelocity(BROADCAST, 0.0, 0.0),
        lambda: PositionLimits(BROADCAST, None, None),
        lambda: Request(BROADCAST, (3,)),
        lambda: HeartbeatPackets(BROADCAST, (3,)),
        lambda: HeartbeatFrequency(BROADCAST, 1),
        lambda: Save(BROADCAST),
        lambda: Temperature(BROADCAST, 20.0),
        lambda: HardwareStatus(BROADCAST, ()),
        lambda: PresetGo(1, 0),
        lambda: EndPosition(4, (0.0,) * 6),
        lambda: BoxObstacle(BROADCAST, 0, (0.0,) * 6),
        lambda: Collision(1, CollisionKind.NONE, 0, 0),
    ],
)
def test_packets_that_name_one_device_refuse_another(make):
    assert refusal_of(make) == "unknown_device"


@pytest.mark.parametrize("device", [0, 6, 0x0E, 0xFE])
def test_a_device_that_the_arm_has_not_is_refused(device):
    assert refusal_of(lambda: Velocity(device, 0.0)) == "unknown_device"
    assert refusal_of(lambda: SetMode(device, Mode.STANDBY)) == "unknown_device"
    for packet_id in range(256):
        frame = Frame(device, packet_id, b"")
        assert refusal_of(lambda frame=frame: parse(frame)) == "unknown_device"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused_both_ways(bad):
    for cls in (Velocity, Position, Current, Temperature, Voltage, Humidity):
        assert refusal_of(lambda cls=cls: cls(1, bad)) == "bad_payload"
        frame = Frame(1, cls.ID, f32(bad))
        assert refusal_of(lambda frame=frame: parse(frame)) == "bad_payload"
    for frame in (
        Frame(1, PacketId.POSITION_LIMITS, f32(bad, 0.0)),
        Frame(1, PacketId.POSITION_VELOCITY, f32(0.0, bad)),
        Frame(1, PacketId.FACTORY_CLIMATE, f32(0.0, 1.0, bad)),
        Frame(1, PacketId.CLIMATE_67, f32(bad)),
        Frame(5, PacketId.END_POSITION, f32(0, 0, 0, 0, bad, 0)),
        Frame(5, PacketId.BOX_0, f32(0, 0, 0, 0, bad, 0)),
    ):
        assert refusal_of(lambda frame=frame: parse(frame)) == "bad_payload"


def test_a_number_too_large_for_a_float32_is_refused():
    assert refusal_of(lambda: encode(Velocity(1, 1e37))) == "bad_payload"
    assert refusal_of(lambda: encode(Velocity(5, -1e39))) == "bad_payload"


def test_each_packet_takes_its_sizes_and_no_other():
    sizes = {
        packet_id: {
            size
            for size in range(61)
            for filler in (b"\0", b"\x01")
            if not isinstance(parsed(Frame(5, packet_id, filler * size)), PacketError)
        }
        for packet_id in PacketId
    }
    floats = {
        4: "VELOCITY POSITION CURRENT INDEXED_RELATIVE_POSITION RELATIVE_POSITION SERIAL_NUMBER "
        "MODEL_NUMBER HUMIDITY TEMPERATURE VOLTAGE HARDWARE_STATUS",
        8: "POSITION_VELOCITY POSITION_LIMITS VELOCITY_LIMITS CURRENT_LIMITS PRESET_NAME_0 "
        "PRESET_NAME_1 PRESET_NAME_2 PRESET_NAME_3",
        12: "FACTORY_CLIMATE COORDINATES",
        24: "END_POSITION END_VELOCITY BOX_0 BOX_1 BOX_2 BOX_3",
        28: "CYLINDER_0 CYLINDER_1 CYLINDER_2 CYLINDER_3",
        32: "PRESET_VALUES_0 PRESET_VALUES_1 PRESET_VALUES_2 PRESET_VALUES_3",
        1: "MODE SAVE PRESET_GO PRESET_CAPTURE HEARTBEAT_FREQUENCY",
        3: "SOFTWARE_VERSION COLLISION",
    }
    expected = {PacketId[name]: {size} for size, names in floats.items() for name in names.split()}
    expected |= {packet_id: {1, 2, 3, 4} for packet_id in (0x67, 0x6E)}
    expected |= {packet_id: set(range(1, 11)) for packet_id in (0x60, 0x91)}
    assert sizes == expected


def parsed(frame):
    try:
        return parse(frame)
    except PacketError as error:
        return error


@settings(deadline=None)
@given(
    st.integers(0, 255) | st.integers(1, 5),
    st.integers(0, 255) | st.sampled_from(PacketId),
    st.binary(max_size=60),
)
def test_parse_raises_packet_errors_and_nothing_else(device, packet_id, payload):
    result = parsed(Frame(device, packet_id, payload))
    if isinstance(result, PacketError):
        assert result.code in {"unknown_device", "unknown_packet", "bad_payload"}
    else:
        assert parse(result.to_frame()) == result


def test_unknown_packets_are_refused():
    for packet_id in set(range(256)) - set(PacketId):
        frame = Frame(1, packet_id, b"\0")
        assert refusal_of(lambda frame=frame: parse(frame)) == "unknown_packet"


@pytest.mark.parametrize("payload", ["07", "16", "ff"])
def test_a_mode_that_nobody_defined_is_refused(payload):
    frame = Frame(1, PacketId.MODE, bytes.fromhex(payload))
    assert refusal_of(lambda: parse(frame)) == "bad_payload"


def test_dangerous_packets_have_no_class_and_no_way_out():
    assert {0x51, 0x52, 0x53, 0x64, 0xFD, 0xFE, 0xFF} == NEVER_SEND
    assert NEVER_SEND.isdisjoint(PACKETS)
    for packet_id in NEVER_SEND:
        assert refusal_of(lambda p=packet_id: parse(Frame(1, p, b"\0"))) == "unknown_packet"
        assert refusal_of(lambda p=packet_id: encode(Rogue(1, p))) == "unknown_packet"
        assert refusal_of(lambda p=packet_id: Request(1, (3, p))) == "bad_payload"
        assert refusal_of(lambda p=packet_id: HeartbeatPackets(1, (p,))) == "bad_payload"


@dataclasses.dataclass(frozen=True)
class Rogue(Packet):
    """A packet that somebody made up."""

    packet_id: int

    def to_frame(self):
        return Frame(self.device, self.packet_id, b"\0")

    @classmethod
    def from_frame(cls, frame):
        return cls(frame.device_id, frame.packet_id)


@pytest.mark.parametrize("ids", [(), (0,), (3, 0), (3,) * 11, (256,), (-1,)], ids=repr)
def test_a_request_has_one_to_ten_ids_and_no_zeros(ids):
    assert refusal_of(lambda: Request(1, ids)) == "bad_payload"


def test_a_request_padded_with_zeros_is_refused():
    padded = Frame(1, PacketId.REQUEST, bytes((3, 2, 0, 0)))
    assert refusal_of(lambda: parse(padded)) == "bad_payload"


@pytest.mark.parametrize("frequency", [-1, 256])
def test_a_heartbeat_frequency_fits_a_byte(frequency):
    assert refusal_of(lambda: HeartbeatFrequency(1, frequency)) == "bad_payload"


def test_a_gap_in_a_heartbeat_list_is_refused():
    gap = Frame(1, PacketId.HEARTBEAT_PACKETS, bytes((3, 0, 5)))
    assert refusal_of(lambda: parse(gap)) == "bad_payload"


@pytest.mark.parametrize(("name", "byte", "bit"), STATUS_BITS)
def test_each_status_bit_has_a_name_of_its_own(name, byte, bit):
    payload = bytearray(4)
    payload[byte] = bit
    packet = parse(Frame(3, PacketId.HARDWARE_STATUS, bytes(payload)))
    assert packet.flags == (name,)
    assert packet.to_frame().payload == payload


def test_status_table_is_complete_and_unambiguous():
    assert len({name for name, _, _ in STATUS_BITS}) == 32
    assert len({(byte, bit) for _, byte, bit in KNOWN_BITS}) == len(KNOWN_BITS) == 25
    assert set(KNOWN_BITS) <= set(STATUS_BITS)
    known = HardwareStatus(1, ("low_supply", "temperature", "axis_conflict", "service_due"))
    assert known.to_frame().payload == bytes.fromhex("20800810")
    assert refusal_of(lambda: HardwareStatus(1, ("nonsense",)).to_frame()) == "bad_payload"


def test_a_stop_is_the_broadcast_first_and_then_each_joint():
    events = StreamDecoder().receive(stop_frames())
    assert [event.device_id for event in events] == [BROADCAST, 1, 2, 3, 4, 5]
    assert {parse(event).value for event in events} == {0.0}
    assert {event.packet_id for event in events} == {PacketId.VELOCITY}
    assert stop_frames() == STOP_FRAMES
    assert STOP_FRAMES.startswith(GOLDEN["velocity all 0"] + GOLDEN["velocity dev1 0.0"])
