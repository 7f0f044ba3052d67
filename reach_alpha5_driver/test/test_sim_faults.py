"""Injected damage: each kind does what it says, and a seed repeats it."""

import pytest

from reach_alpha5_driver.protocol.codec import Frame, encode
from reach_alpha5_driver.sim.faults import KINDS, Faults, Piece

FRAME = encode(Frame(3, 0x03, bytes((1, 2, 3, 4))))


def struck(kind: str, rate: float = 1.0) -> list[Piece]:
    faults = Faults("seed")
    faults.set_rate(kind, rate)
    return faults.damage(FRAME)


def test_without_rates_nothing_happens() -> None:
    assert Faults("seed").damage(FRAME) == [Piece(0.0, FRAME)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_damage(kind: str) -> None:
    def run(seed: str) -> list[list[Piece]]:
        faults = Faults(seed)
        faults.set_rate(kind, 0.3)
        return [faults.damage(FRAME) for _ in range(200)]

    assert run("1") == run("1")
    assert run("1") != run("2")


@pytest.mark.parametrize("kind", KINDS)
def test_the_rate_is_kept_and_counted(kind: str) -> None:
    faults = Faults("seed")
    faults.set_rate(kind, 0.1)
    for _ in range(2000):
        faults.damage(FRAME)
    chances = 2000 * (len(FRAME) if "per byte" in KINDS[kind] else 1)
    assert faults.counts[kind] / chances == pytest.approx(0.1, abs=0.03)


def test_what_each_kind_does() -> None:
    assert struck("lose") == []
    assert struck("drop") == []
    assert [piece.data for piece in struck("duplicate")] == [FRAME, FRAME]
    assert struck("merge") == [Piece(0.0, FRAME[:-1])]
    flipped = struck("flip")[0].data
    assert all((a ^ b).bit_count() == 1 for a, b in zip(flipped, FRAME, strict=True))
    garbage = struck("garbage")[0].data
    assert garbage.endswith(FRAME)
    assert len(garbage) > len(FRAME)
    delayed = struck("delay")[0]
    assert delayed.data == FRAME
    assert 0.005 <= delayed.pause <= 0.05
    first, second = struck("split")
    assert first.data + second.data == FRAME
    assert second.pause >= 0.002


def test_clear_ends_it() -> None:
    faults = Faults("seed")
    faults.set_rate("lose", 1.0)
    faults.clear()
    assert faults.damage(FRAME) == [Piece(0.0, FRAME)]


@pytest.mark.parametrize("kind, rate", [("explode", 0.1), ("drop", 1.5), ("drop", -0.1)])
def test_nonsense_is_refused(kind: str, rate: float) -> None:
    with pytest.raises(ValueError):
        Faults("seed").set_rate(kind, rate)
