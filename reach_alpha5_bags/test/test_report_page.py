"""`alpha5-report` on bags that are whole, damaged, empty of this or that, or hostile."""

from __future__ import annotations

import io
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from report_dives import HOSTILE, Tape, arbiter, arm, joints, refusal, write_story

from reach_alpha5_bags.report.cli import NOTHING, USAGE, WRITTEN, main
from reach_alpha5_bags.report.progress import Progress

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pad_session"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bag = tmp_path_factory.mktemp("story") / "story.mcap"
    with Tape(bag) as tape:
        write_story(tape)
    return bag


def report(bag: Path, folder: Path, *options: str) -> str:
    output = folder / "page.html"
    assert main([str(bag), "-o", str(output), *options]) == WRITTEN
    return output.read_text("utf-8")


def data(page: str) -> Any:
    found = re.search(r'id="dive">(.*?)</script>', page)
    assert found is not None
    return json.loads(found[1])


def items(page: str, title: str) -> list[list[Any]]:
    return next((lane["items"] for lane in data(page)["lanes"] if lane["title"] == title), [])


def card(page: str, title: str) -> str:
    found = re.search(rf"<span>{title}</span><b>(.*?)</b>", page)
    assert found is not None
    return found[1]


def test_the_page_tells_what_happened_in_the_dive(story: Path, tmp_path: Path) -> None:
    page = report(story, tmp_path)
    cards = {
        title: card(page, title)
        for title in (
            "duration",
            "moving",
            "stops",
            "refusals",
            "e-stops",
            "faults",
            "link losses",
        )
    }
    assert cards == {
        "duration": "1 min 00 s",
        "moving": "9.7 s",
        "stops": "2",
        "refusals": "3",
        "e-stops": "1",
        "faults": "1",
        "link losses": "1",
    }
    assert [item[:3] for item in items(page, "Owner")] == [[5.0, 15.0, "teleop"]]
    assert [item[:3] for item in items(page, "Stops")] == [
        [15.0, 15.0, "no_input"],
        [40.0, 40.0, "estop"],
    ]
    assert items(page, "Refusals") == [[8.0, 8.0, "not_owner", "app", "teleop has the arm", 3, []]]
    assert [item[:5] for item in items(page, "E-stop latch")] == [
        [40.0, 45.0, "console", "", "diver in the water (settle then cut)"]
    ]
    assert [item[:3] for item in items(page, "Fault latch")] == [[20.0, 24.0, "stop_unconfirmed"]]
    assert [item[:3] for item in items(page, "Link lost")] == [[30.0, 33.0, "lost"]]
    assert "2026-05-28 20:26:40 UTC to 2026-05-28 20:27:40 UTC" in page
    assert "<td>4711</td>" in page and "<td>3.2.1</td>" in page
    assert "What is missing" not in page


def test_the_page_asks_nothing_of_a_network(story: Path, tmp_path: Path) -> None:
    page = report(story, tmp_path)
    assert not re.search(r"https?:|//[a-z]+\.[a-z]|@import|\burl\(|\bsrc=|<link", page)


def test_a_part_of_a_dive_is_reported_with_the_times_of_the_whole(
    story: Path, tmp_path: Path
) -> None:
    page = report(story, tmp_path, "--from", "18", "--to", "35")
    assert [item[:2] for item in items(page, "Fault latch")] == [[20.0, 24.0]]
    assert not items(page, "Owner")
    assert card(page, "stops") == "0"
    assert "Read from 18.0 s to 35.0 s of 1 min 00 s: only this part was asked for." in page


def test_text_out_of_a_bag_is_text(tmp_path: Path) -> None:
    bag = tmp_path / "<b>bag.mcap"
    with Tape(bag) as tape:
        for number in range(2):
            told = refusal(HOSTILE, number, source=HOSTILE, reason=HOSTILE)
            state = arbiter(
                owner=HOSTILE, last_refusal=told, stops=number, last_stop_cause=HOSTILE
            )
            tape.write("arbiter_state", state, float(number))
            state = arm()
            state.joints[0].name = state.joints[0].device.firmware = HOSTILE
            tape.write("arm_state", state, float(number))
    page = report(bag, tmp_path)
    assert items(page, "Refusals")[0][2:5] == [HOSTILE] * 3
    assert page.count("<script") == page.count("</script") == 2
    assert "<img" not in page
    assert "<b>bag" not in page


def test_a_bag_that_was_cut_off_is_reported_as_far_as_it_goes(story: Path, tmp_path: Path) -> None:
    whole = story.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole[: len(whole) // 2])
    page = report(cut, tmp_path)
    note = re.search(
        r"cut.mcap was cut off: \d+ of its \d+ bytes are whole, up to ([\d.]+) s", page
    )
    assert note is not None
    assert 5.0 < float(note[1]) < 55.0
    assert data(page)["end"] == pytest.approx(float(note[1]), abs=0.1)
    assert items(page, "Owner")


def test_a_damaged_bag_is_reported_as_far_as_it_goes(story: Path, tmp_path: Path) -> None:
    damaged = bytearray(story.read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 2000] = bytes(2000)
    bag = tmp_path / "damaged.mcap"
    bag.write_bytes(damaged)
    page = report(bag, tmp_path)
    assert "damaged.mcap is damaged" in page
    assert "What is missing" in page
    assert 1.0 < data(page)["end"] < 60.0


def test_a_message_that_says_nothing_hides_no_other(tmp_path: Path) -> None:
    bag = tmp_path / "odd.mcap"
    with Tape(bag) as tape:
        tape.raw("arbiter_state", b"\x00\x01\x00\x00\x07", 0.0)
        for at in (0.5, 1.0, 1.5):
            tape.write("arbiter_state", arbiter(owner="teleop"), at)
    page = report(bag, tmp_path)
    assert [item[:3] for item in items(page, "Owner")] == [[0.5, 1.5, "teleop"]]
    assert "What is missing" in page


def test_topics_that_are_not_there_are_named(tmp_path: Path) -> None:
    bag = tmp_path / "bare.mcap"
    with Tape(bag) as tape:
        for tick in range(10):
            tape.write("joint_states", joints([math.nan] * 5, [0.1] * 5), tick * 0.1)
    page = report(bag, tmp_path)
    for topic in ("arbiter_state", "arm_state", "gripper_tel", "driver_command"):
        assert f"No <code>{topic}</code>: this page lacks" in page
    assert "No <code>joint_states</code>" not in page
    assert card(page, "stops") == card(page, "tip travelled") == "—"
    assert card(page, "moving") == "900 ms"


def test_the_example_of_a_pad_alone_is_reported(tmp_path: Path) -> None:
    page = report(EXAMPLE, tmp_path)
    assert "No <code>arm_state</code>" in page
    assert "/alpha5/session_phase" in page


def test_of_two_arms_one_is_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = tmp_path / "two.mcap"
    with Tape(bag) as tape:
        for namespace, owner in (("/left", "teleop"), ("/right", "app")):
            tape.namespace = namespace
            for at in (0.0, 1.0):
                tape.write("arbiter_state", arbiter(owner=owner), at)
    assert main([str(bag), "-o", str(tmp_path / "x.html")]) == NOTHING
    assert "choose --namespace of /left, /right" in capsys.readouterr().err
    assert items(report(bag, tmp_path, "--namespace", "right"), "Owner")[0][2] == "app"


@pytest.mark.parametrize("content", [b"", b"no bag at all", None])
def test_what_is_no_bag_ends_in_a_sentence(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = tmp_path / "no.mcap"
    if content is not None:
        bag.write_bytes(content)
    assert main([str(bag), "-o", str(tmp_path / "x.html")]) == NOTHING
    assert capsys.readouterr().err.startswith(f"alpha5-report: {bag}: ")
    assert not (tmp_path / "x.html").exists()


def test_a_page_that_cannot_be_written_ends_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(EXAMPLE), "-o", str(tmp_path / "no" / "x.html")]) == NOTHING
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [("--from", "-1"), ("--from", "5", "--to", "5"), ("--to", "x")]
)
def test_times_that_make_no_sense_are_refused(options: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main([str(EXAMPLE), "-o", str(tmp_path / "x.html"), *options])
    assert caught.value.code == USAGE


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "said"), [(Terminal(), "\r███████████████░░"), (io.StringIO(), "read 50%")]
)
def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(
    stream: io.StringIO, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("reach_alpha5_bags.report.progress.time.monotonic", lambda: now[0])
    progress = Progress(200.0, stream)
    progress.show(99.0)
    assert stream.getvalue() == ""
    now[0] = 20.0
    progress.show(100.0)
    assert stream.getvalue().startswith(said)
    assert "20 s left" in stream.getvalue()


def test_the_page_is_never_written_over_the_bag(tmp_path: Path) -> None:
    bag = tmp_path / "dive.mcap"
    bag.write_bytes(b"precious")
    with pytest.raises(SystemExit) as caught:
        main([str(bag), "-o", str(bag)])
    assert caught.value.code == USAGE
    assert bag.read_bytes() == b"precious"
