"""The stream decoder: chunking, glued frames, bounded memory, and noise."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reach_alpha5_driver.protocol.codec import MAX_PAYLOAD, Damage, Frame, decode, encode
from reach_alpha5_driver.protocol.decoder import MAX_RUN, Damaged, StreamDecoder

GOLDEN = json.loads(Path(__file__).with_name("golden_frames.json").read_text())
WIRES = [bytes.fromhex(f["wire"]) for f in GOLDEN["frames"]]
POSITION, VELOCITY = WIRES[0], WIRES[7]

pieces = st.one_of(
    st.sampled_from(WIRES),
    st.sampled_from(WIRES).map(lambda wire: wire[:-1]),
    st.binary(max_size=20),
    st.integers(60, 300).map(lambda size: b"\x01" * size),
    st.just(b"\0"),
)
streams = st.lists(pieces, max_size=12).map(b"".join)


def decoded(stream):
    decoder = StreamDecoder()
    return decoder.receive(stream), decoder.counters


def frames(events):
    return [event for event in events if isinstance(event, Frame)]


def damage(events):
    return [event.damage for event in events if isinstance(event, Damaged)]


def as_received(events):
    return b"".join(e.raw if isinstance(e, Damaged) else encode(e) for e in events)


@pytest.mark.parametrize("stream", GOLDEN["streams"], ids=lambda s: s["name"])
def test_golden_stream(stream):
    wire = bytes.fromhex(stream["wire"])
    events, counters = decoded(wire)
    assert [event.device_id for event in frames(events)] == [1, 2, 3, 4, 5]
    assert as_received(events) == wire
    assert (counters.bytes, counters.frames, counters.damaged) == (len(wire), 5, 0)


def test_all_golden_frames_in_one_write():
    events, counters = decoded(b"".join(WIRES))
    assert events == [decode(wire) for wire in WIRES]
    assert counters.frames == len(WIRES)
    assert counters.recovered == 0


@pytest.mark.parametrize("reject", GOLDEN["reject"], ids=lambda r: r["name"])
def test_golden_reject_is_counted_and_the_next_frame_is_whole(reject):
    wire = bytes.fromhex(reject["wire"])
    events, counters = decoded(wire + POSITION)
    expected = Damage.LENGTH if "LENGTH, CRC" in reject["name"] else Damage.VERSION
    assert damage(events) == [expected]
    assert events[0].raw == wire
    assert events[0].reason
    assert frames(events) == [decode(POSITION)]
    assert getattr(counters, expected.value) == counters.damaged == 1


@settings(deadline=None)
@given(streams, st.data())
def test_any_chunking_gives_the_same_events(stream, data):
    whole, counters = decoded(stream)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    decoder = StreamDecoder()
    events = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        events += decoder.receive(stream[start:end])
    assert events == whole
    assert decoder.counters == counters


@settings(deadline=None)
@given(streams)
def test_byte_by_byte_gives_the_same_events(stream):
    decoder = StreamDecoder()
    events = [event for byte in stream for event in decoder.receive(bytes((byte,)))]
    assert (events, decoder.counters) == decoded(stream)


@settings(deadline=None)
@given(streams)
def test_every_byte_ends_in_exactly_one_event(stream):
    stream += b"\0"
    events, counters = decoded(stream)
    runs = [run + b"\0" for run in stream.split(b"\0") if run]
    assert as_received(events) == b"".join(runs)
    assert counters.bytes == len(stream)
    assert counters.frames == len(frames(events))
    assert counters.damaged == len(damage(events))


def test_empty_runs_are_ignored():
    events, counters = decoded(b"\0\0" + POSITION + b"\0\0\0" + VELOCITY + b"\0")
    assert events == [decode(POSITION), decode(VELOCITY)]
    assert counters.damaged == 0


@pytest.mark.parametrize("second", WIRES, ids=[f["name"] for f in GOLDEN["frames"]])
def test_a_frame_glued_by_a_lost_terminator_is_recovered(second):
    for first in WIRES:
        events, counters = decoded(first[:-1] + second)
        assert events[1:] == [decode(second)]
        assert damage(events) == [Damage.LENGTH]
        assert events[0].raw == first[:-1]
        assert (counters.frames, counters.recovered, counters.bad_length) == (1, 1, 1)


@pytest.mark.parametrize("terminator", range(1, 256))
def test_a_frame_glued_by_a_flipped_terminator_is_recovered(terminator):
    for second in WIRES:
        glued = POSITION[:-1] + bytes((terminator,)) + second
        events, counters = decoded(glued)
        assert events[1:] == [decode(second)]
        assert events[0].raw == POSITION[:-1] + bytes((terminator,))
        assert counters.recovered == 1


def test_a_damaged_head_does_not_take_the_glued_frame_along():
    events, _ = decoded(POSITION[2:-1] + VELOCITY)
    assert frames(events) == [decode(VELOCITY)]


def test_of_three_glued_frames_the_last_is_recovered():
    events, counters = decoded(POSITION[:-1] + WIRES[3][:-1] + VELOCITY)
    assert frames(events) == [decode(VELOCITY)]
    assert counters.recovered == 1


@pytest.mark.parametrize("second", WIRES[:12], ids=[f["name"] for f in GOLDEN["frames"][:12]])
def test_a_glued_frame_with_a_flipped_bit_is_not_recovered(second):
    glued = POSITION[:-1] + second
    for bit in range(8 * (len(POSITION) - 1), 8 * (len(glued) - 1)):
        flipped = bytearray(glued)
        flipped[bit // 8] ^= 1 << bit % 8
        events, _ = decoded(bytes(flipped))
        # A bit that makes a zero at the joint gives the first frame its terminator back.
        assert frames(events) in ([], [decode(POSITION)])


def test_no_shorter_frame_is_read_out_of_a_damaged_float_frame():
    inner = encode(Frame(1, 0x60, b""))[:-1]
    assert len(inner) == 5
    # Four bytes of noise and a valid frame: as long as a velocity frame, and no such thing.
    events, counters = decoded(b"\x02\x09\x02\x09" + inner + b"\0")
    assert frames(events) == []
    assert counters.damaged == 1


def test_a_glued_frame_needs_a_length_that_agrees():
    wrong_length = bytes.fromhex(GOLDEN["reject"][0]["wire"])
    events, _ = decoded(POSITION[:-1] + wrong_length)
    assert frames(events) == []


@pytest.mark.parametrize("size", [1, 4, 5, 60, 66, MAX_RUN - 9, MAX_RUN, MAX_RUN + 1, 5000])
def test_a_frame_after_noise_without_a_terminator_is_recovered(size):
    events, counters = decoded(b"\xaa" * size + VELOCITY)
    recovered = [decode(VELOCITY)] if size >= 5 else []
    assert frames(events) == recovered
    assert counters.recovered == len(recovered)
    assert damage(events)


def test_the_longest_frame_is_recovered_after_noise_of_any_size():
    longest = encode(Frame(5, 3, bytes(range(1, MAX_PAYLOAD + 1))))
    for size in range(5, 4 * MAX_RUN):
        events, counters = decoded(b"\xaa" * size + longest)
        assert frames(events) == [decode(longest)]
        assert as_received(events) == b"\xaa" * size + longest
        assert counters.recovered == 1


def test_endless_noise_is_told_at_once_and_not_kept():
    decoder = StreamDecoder()
    given_away = fed = 0
    for _ in range(2000):
        events = decoder.receive(b"\xff" * 500)
        fed += 500
        given_away += sum(len(event.raw) for event in events)
        assert set(damage(events)) == {Damage.TOO_LONG}
        assert max(len(event.raw) for event in events) <= MAX_RUN
        assert 0 <= fed - given_away <= MAX_RUN, "what is not given away is kept"
    assert decoder.counters.bytes == fed


def test_one_huge_chunk_is_given_away_in_pieces():
    events, counters = decoded(b"\x02" * 1_000_000 + b"\0" + POSITION)
    assert frames(events) == [decode(POSITION)]
    assert max(len(event.raw) for event in events[:-1]) <= MAX_RUN + 1
    assert counters.too_long == len(events) - 1


@pytest.mark.parametrize("wire", WIRES, ids=[f["name"] for f in GOLDEN["frames"]])
def test_one_flip_deletion_or_truncation_costs_at_most_that_frame(wire):
    damaged = [wire[:at] for at in range(1, len(wire))]
    damaged += [wire[:at] + wire[at + 1 :] for at in range(len(wire))]
    for bit in range(8 * len(wire)):
        flipped = bytearray(wire)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(flipped))
    for bad in damaged:
        # The terminator before the damage and the one after the frame behind it are whole.
        events, counters = decoded(VELOCITY + bad + b"\0" + POSITION)
        good = frames(events)
        assert good[0] == decode(VELOCITY)
        assert good[-1] == decode(POSITION)
        assert good[1:-1] in ([], [decode(wire)])
        assert counters.damaged or good[1:-1], bad.hex()


@pytest.mark.parametrize("seed", range(3))
def test_a_million_random_bytes_change_nothing_but_counters(seed):
    source = random.Random(seed)
    noise = source.randbytes(1_000_000)
    decoder = StreamDecoder()
    events = []
    at = 0
    while at < len(noise):
        size = source.randint(0, 700)
        events += decoder.receive(noise[at : at + size])
        at += size
    events += decoder.receive(b"\0")
    assert frames(events) == []
    assert decoder.counters.damaged == len(events)
    assert decoder.counters.bytes == len(noise) + 1
    assert decoder.receive(POSITION) == [decode(POSITION)], "as good as new"


@pytest.mark.parametrize("seed", range(3))
def test_frames_among_noise_are_found(seed):
    source = random.Random(seed)
    decoder = StreamDecoder()
    sent = []
    stream = bytearray()
    for _ in range(3000):
        wire = source.choice(WIRES)
        sent.append(decode(wire))
        stream += source.randbytes(source.randint(0, 40)) + b"\0" + wire
    found = frames(decoder.receive(bytes(stream)))
    assert found == sent
