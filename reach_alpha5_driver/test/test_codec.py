"""The codec against golden frames, independent formulations, and every small damage."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reach_alpha5_driver.protocol.codec import (
    MAX_PAYLOAD,
    MAX_RECEIVED_PAYLOAD,
    Damage,
    EncodeError,
    Frame,
    FrameError,
    crc8,
    decode,
    encode,
)

GOLDEN = json.loads(Path(__file__).with_name("golden_frames.json").read_text())
FRAMES = [
    pytest.param(
        Frame(f["device_id"], f["packet_id"], bytes.fromhex(f["payload"])),
        bytes.fromhex(f["wire"]),
        id=f["name"],
    )
    for f in GOLDEN["frames"]
]
any_frame = st.builds(
    Frame, st.integers(0, 255), st.integers(0, 255), st.binary(max_size=MAX_PAYLOAD)
)


def crc8_by_definition(data: bytes) -> int:
    """Polynomial division, bit by bit, most significant first, input and output reflected."""
    remainder = 0
    for byte in data:
        for bit in range(8):
            high = remainder >> 7 ^ byte >> bit & 1
            remainder = remainder << 1 & 0xFF ^ (0x4D if high else 0)
    return int(f"{remainder:08b}"[::-1], 2) ^ 0xFF


def stuffed(raw: bytes) -> bytes:
    """COBS of less than 254 bytes, as its definition says it."""
    return b"".join(bytes((len(block) + 1,)) + block for block in raw.split(b"\0"))


def decoded_or_damage(wire: bytes) -> Frame | Damage:
    try:
        return decode(wire)
    except FrameError as error:
        return error.damage


@pytest.mark.parametrize(("frame", "wire"), FRAMES)
def test_golden_frame_both_ways(frame, wire):
    assert encode(frame) == wire
    assert decode(wire) == frame
    assert decode(wire[:-1]) == frame, "the terminator may be left out"


@pytest.mark.parametrize(
    ("data", "crc"), [(b"123456789", 0x7B), (b"", 0xFF), (bytes.fromhex("ff12ad2356"), 0xF3)]
)
def test_crc_check_values(data, crc):
    assert crc8(data) == crc == crc8_by_definition(data)


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_crc_is_the_division_by_the_polynomial(data):
    assert crc8(data) == crc8_by_definition(data)


@pytest.mark.parametrize(
    ("wire", "damage"),
    [
        (bytes.fromhex(reject["wire"]), damage)
        for reject, damage in zip(GOLDEN["reject"], [Damage.LENGTH, Damage.VERSION], strict=True)
    ],
    ids=[reject["name"] for reject in GOLDEN["reject"]],
)
def test_golden_reject(wire, damage):
    with pytest.raises(FrameError) as refused:
        decode(wire)
    assert refused.value.damage is damage
    assert refused.value.reason


@settings(deadline=None)
@given(any_frame)
def test_any_frame_comes_back(frame):
    wire = encode(frame)
    length = len(frame.payload) + 4
    raw = frame.payload + bytes((frame.packet_id, frame.device_id, length))
    assert wire == stuffed(raw + bytes((crc8_by_definition(raw),))) + b"\0"
    assert len(wire) == length + 2
    assert wire.index(0) == len(wire) - 1
    assert decode(wire) == frame


def test_stuffing_equals_the_cobs_library():
    cobs = pytest.importorskip("cobs.cobs")
    for size in range(MAX_PAYLOAD + 1):
        for fill in (b"\0", b"\x01", b"\xff", bytes(range(60)), b"\x07\0" * 30):
            wire = encode(Frame(1, 2, fill.ljust(size, fill[:1])[:size]))
            raw = cobs.decode(wire[:-1])
            assert cobs.encode(raw) == wire[:-1]
            assert raw[-2:] == bytes((size + 4, crc8(raw[:-1])))


@pytest.mark.parametrize(
    "frame",
    [
        Frame(1, 2, bytes(MAX_PAYLOAD + 1)),
        Frame(256, 2, b""),
        Frame(-1, 2, b""),
        Frame(1, 256, b""),
        Frame(1, -1, b""),
    ],
)
def test_what_does_not_fit_a_frame_is_not_encoded(frame):
    with pytest.raises(EncodeError):
        encode(frame)


@pytest.mark.parametrize("size", range(MAX_RECEIVED_PAYLOAD + 1))
def test_each_size_of_the_document_is_taken(size):
    raw = bytes(size) + bytes((3, 1, size + 4))
    assert decode(stuffed(raw + bytes((crc8(raw),)))) == Frame(1, 3, bytes(size))


@pytest.mark.parametrize(
    ("wire", "damage"),
    [
        (b"", Damage.TOO_SHORT),
        (b"\0", Damage.TOO_SHORT),
        (b"\x04\x01\x02\x03\0", Damage.TOO_SHORT),
        (b"\x05\x01\x02\x03\x04\0", Damage.CRC),
        (b"\x06\x01\x02\x03\x04\0", Damage.COBS),
        (b"\xff\x01\x02\x03\x04\0", Damage.COBS),
        (b"\x01" * 66 + b"\0", Damage.TOO_LONG),
        (bytes.fromhex("0603010105910006030101059100"), Damage.COBS),
        (bytes.fromhex("06030101059200"), Damage.CRC),
    ],
)
def test_damage_is_named(wire, damage):
    with pytest.raises(FrameError) as refused:
        decode(wire)
    assert refused.value.damage is damage
    assert refused.value.reason


@pytest.mark.parametrize("length", [0x00, 0x04, 0x07, 0x09, 0x3E, 0x7F])
def test_a_length_that_disagrees_is_refused_with_a_valid_crc(length):
    raw = bytes((0, 0, 0, 0, 2, 1, length))
    assert decoded_or_damage(stuffed(raw + bytes((crc8(raw),)))) is Damage.LENGTH


@pytest.mark.parametrize("length", [0x80, 0x86, 0x88, 0xFF])
def test_a_newer_version_is_refused_with_a_valid_crc(length):
    raw = bytes((0, 0, 0, 0, 2, 1, length))
    assert decoded_or_damage(stuffed(raw + bytes((crc8(raw),)))) is Damage.VERSION


@pytest.mark.parametrize(("frame", "wire"), FRAMES)
def test_no_single_flipped_bit_gets_through(frame, wire):
    for bit in range(8 * len(wire) - 8):
        flipped = bytearray(wire)
        flipped[bit // 8] ^= 1 << bit % 8
        assert isinstance(decoded_or_damage(bytes(flipped)), Damage), flipped.hex()


@pytest.mark.parametrize(("frame", "wire"), FRAMES)
def test_no_deleted_byte_or_truncation_gets_through(frame, wire):
    for at in range(len(wire) - 1):
        assert isinstance(decoded_or_damage(wire[:at]), Damage)
        assert isinstance(decoded_or_damage(wire[at + 1 :]), Damage)
        without = wire[:at] + wire[at + 1 :]
        assert isinstance(decoded_or_damage(without), Damage), without.hex()


@settings(deadline=None)
@given(st.binary(max_size=140))
def test_any_bytes_decode_or_are_refused(data):
    result = decoded_or_damage(data)
    if isinstance(result, Frame) and len(result.payload) <= MAX_PAYLOAD:
        assert encode(result) == data.removesuffix(b"\0") + b"\0", "stuffing has one form only"
