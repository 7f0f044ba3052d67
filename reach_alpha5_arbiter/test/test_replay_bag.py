"""The command `alpha5-replay` on bags: whole, cut off, split, of two arbiters, with nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="rosbags reads and writes bags")

from replay_bag import TYPES, write
from replay_live import Live, changed, moving
from rosbags.rosbag2 import StoragePlugin

from reach_alpha5_arbiter.replay.cli import DIFFERENT, NOTHING, SAME, main
from reach_alpha5_common.command import CommandKind, DriverCommand

STEPS = 1000


@pytest.fixture(scope="module")
def live() -> Live:
    return Live(seed=3).run(STEPS)


@pytest.fixture(scope="module")
def bag(live: Live, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(live.bag, tmp_path_factory.mktemp("bags") / "dive")


def numbers(text: str, line: str) -> list[int]:
    """Return the numbers of a line of the report."""
    (found,) = re.findall(rf"^  {line}: (.*)$", text, re.MULTILINE)
    return [int(number) for number in re.findall(r"\d+", found)]


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_bag_is_replayed_and_the_decisions_are_the_same(
    bag: Path, live: Live, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(bag if what == "folder" else bag / "dive.mcap")]) == SAME
    out, err = capsys.readouterr()
    assert "the same decisions" in out
    assert "note" not in out
    assert err == ""
    commands = sum(isinstance(said, DriverCommand) for _, said in live.bag)
    assert numbers(out, "driver_command") == [commands, 0, 0]
    assert numbers(out, "arbiter_journal")[1] > STEPS


def test_one_flipped_number_is_a_difference_and_is_named(live: Live, tmp_path: Path) -> None:
    index, command = next(moving(live.bag, CommandKind.INPUT))
    longer = replace(command, lifetime=command.lifetime + 1e-9)
    wrong = write(changed(live.bag, DriverCommand, index, lambda _: longer), tmp_path / "wrong")
    done = subprocess.run(
        [sys.executable, "-m", "reach_alpha5_arbiter.replay.cli", str(wrong)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == DIFFERENT
    assert f"DIFFERENT: driver_command {command.sequence}" in done.stdout
    lifetime = round(command.lifetime * 1e9)
    assert f"  lifetime: live {lifetime + 1}, replayed {lifetime}" in done.stdout
    assert "1 differences" in done.stdout


def test_a_bag_of_sqlite_is_read(
    live: Live, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(live.bag, tmp_path / "old", storage=StoragePlugin.SQLITE3)
    assert main([str(folder)]) == SAME
    assert main([str(folder / "old.db3")]) == SAME
    assert "the same decisions" in capsys.readouterr().out


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of several chunks: what is written at once is lost at once."""
    folder = write(Live(seed=3).run(3 * STEPS).bag, tmp_path_factory.mktemp("bags") / "long")
    return folder / "long.mcap"


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_bag_that_was_cut_off_is_read_as_far_as_it_goes(
    long_file: Path, tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cut"
    folder.mkdir()
    file = folder / "cut_0.mcap"
    data = long_file.read_bytes()
    replayed = []
    for share in (0.45, 0.85, 0.9999):
        file.write_bytes(data[: int(len(data) * share)])
        assert main([str(folder if what == "folder" else file)]) == SAME
        out = capsys.readouterr().out
        assert "note: cut_0.mcap was cut off: " in out
        replayed.append(numbers(out, "arbiter_journal")[1])
    assert 0 < replayed[0] < replayed[1] < replayed[2]
    file.write_bytes(data[:100])
    assert main([str(folder if what == "folder" else file)]) == NOTHING


def test_a_folder_whose_recorder_was_killed_is_read_file_by_file_in_order(
    live: Live, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, half = tmp_path / "split", len(live.bag) // 2
    folder.mkdir()
    # Ten comes after nine, whatever the letters say.
    for number, part in ((9, live.bag[:half]), (10, live.bag[half:])):
        file = write(part, tmp_path / f"part_{number}") / f"part_{number}.mcap"
        shutil.move(file, folder / file.name)
    assert main([str(folder)]) == SAME
    out = capsys.readouterr().out
    assert "gaps" not in out
    assert numbers(out, "arbiter_journal")[1] > STEPS


def test_a_damaged_bag_is_read_until_the_damage(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(bag, folder)
    file = folder / "dive.mcap"
    data = bytearray(file.read_bytes())
    # The length of a string of the journal, three quarters down the file.
    place = data.index(b'{"event":', len(data) * 3 // 4) - 4
    data[place : place + 4] = b"\xff\xff\xff\x7f"
    file.write_bytes(data)
    assert main([str(folder)]) == SAME
    assert re.search(r"note: damaged \d+\.\d s after its begin", capsys.readouterr().out)


def test_of_two_arbiters_one_must_be_chosen(
    live: Live, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "two"
    folder.mkdir()
    for number, namespace in enumerate(("/left", "/right")):
        file = write(live.bag, tmp_path / f"{number}", namespace=namespace) / f"{number}.mcap"
        shutil.move(file, folder / file.name)
    assert main([str(folder)]) == NOTHING
    assert "--namespace of /left, /right" in capsys.readouterr().err
    assert main([str(folder), "--namespace", "right"]) == SAME
    assert "/right: 1 runs" in capsys.readouterr().out
    assert main([str(folder), "--namespace", "up"]) == NOTHING
    assert "no arbiter in /up" in capsys.readouterr().err


def test_an_arbiter_without_a_namespace_is_found(live: Live, tmp_path: Path) -> None:
    assert main([str(write(live.bag, tmp_path / "bare", namespace=""))]) == SAME


def test_a_replay_may_begin_later(bag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(bag)]) == SAME
    whole = numbers(capsys.readouterr().out, "arbiter_journal")[1]
    assert main([str(bag), "--from", "10"]) == SAME
    part = numbers(capsys.readouterr().out, "arbiter_journal")[1]
    assert whole / 3 < part < whole
    assert main([str(bag), "--from", "1000"]) == NOTHING


def test_what_is_missing_is_said_and_how_to_record_it(
    live: Live, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without = {topic: set(TYPES) - {topic} for topic in TYPES}
    assert main([str(write(live.bag, tmp_path / "a", topics=without["arbiter_journal"]))]) == 2
    assert "ros2 bag record" in capsys.readouterr().err
    assert main([str(write(live.bag, tmp_path / "b", topics=without["driver_command"]))]) == 2
    assert "the bag has no driver_command" in capsys.readouterr().out
    assert main([str(write(live.bag, tmp_path / "c", topics=without["arbiter_state"]))]) == 0
    assert numbers(capsys.readouterr().out, "arbiter_state") == [0, 0]
    assert main([str(tmp_path / "nowhere")]) == NOTHING
    assert "no such file" in capsys.readouterr().err
    (tmp_path / "empty.mcap").write_bytes(b"")
    assert main([str(tmp_path / "empty.mcap")]) == NOTHING
    assert "empty" in capsys.readouterr().err
    (tmp_path / "notes.txt").write_text("not a bag")
    assert main([str(tmp_path / "notes.txt")]) == NOTHING


def test_a_trace_tells_what_was_said_and_refused_and_why(
    bag: Path, live: Live, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(bag), "--trace"]) == SAME
    trace = capsys.readouterr().out
    assert re.search(r"^\d\d:\d\d:\d\d\.\d{3}  \[\d+\.\d{6}\]  EStopPress\(", trace, re.MULTILINE)
    assert re.search(r"-> #\d+ STOP level \w+, because of estop", trace)
    assert re.search(r"refused \w+: not_finite \(x\d+\): cartesian.x is nan", trace)
    assert re.search(r"-> #\d+ INPUT GripperCommand\(.*\) for 0\.\d+ s", trace)
    commands = [said for _, said in live.bag if isinstance(said, DriverCommand)]
    stops = sum(command.kind is CommandKind.STOP for command in commands)
    assert len(re.findall(r"-> #\d+ STOP", trace)) == stops
    # Motion that goes on is told once.
    moves = [command for command in commands if not command.motion.is_neutral]
    assert 0 < len(re.findall(r"-> #\d+ (?:INPUT|TWIST|JOINT)", trace)) < len(moves)
    main([str(bag), "--trace", "--verbose"])
    assert len(re.findall(r"-> #", capsys.readouterr().out)) == len(commands)


def test_without_rosbags_the_command_says_what_to_install(
    bag: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    assert main([str(bag)]) == NOTHING
    assert "pip install rosbags" in capsys.readouterr().err
