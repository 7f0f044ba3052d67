"""`alpha5-pad` as a process of its own; a `Joy` publisher plays its user, over real DDS."""

from __future__ import annotations

import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest
import yaml

# Before rclpy: a run of its own, which no other on this machine meets.
os.environ.setdefault("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import rclpy
from sensor_msgs.msg import Joy

from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.calibrator import cli

PATIENCE = 60.0
"""Longest time [s] to wait for what must come; a safety bound on a busy machine."""

ANSWER_AGAIN = 5.0
"""Time [s] after which an answer that nobody reacted to is given once more."""

PERIOD = 0.02


class Player:
    """A pad that a program holds: publishes what it is told, 50 frames a second."""

    def __init__(self, name: str) -> None:
        """Hold a pad as the profile `name` has it, untouched."""
        self.profile = profiles.find(name)
        self.namespace = f"/pads_{uuid.uuid4().hex}"
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("player", namespace=self.namespace, context=self.context)
        self._publisher = self.node.create_publisher(Joy, "joy", 10)
        self._rest = [0.0] * min(self.profile.axis_counts)
        for spec in self.profile.axes.values():
            self._rest[spec.index] = spec.rest
        self._changes: queue.Queue[tuple[dict[int, float], int | None]] = queue.Queue()
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        """Publish; every change that is queued lasts for 15 frames, then all is let go of."""
        held: tuple[dict[int, float], int | None] = ({}, None)
        left = 0
        while not self._leave.wait(PERIOD):
            if left == 0:
                held = ({}, None)
                if not self._changes.empty():
                    held, left = self._changes.get(), 15
            left = max(0, left - 1)
            axes = list(self._rest)
            for index, value in held[0].items():
                axes[index] = value
            buttons = [0] * min(self.profile.button_counts)
            if held[1] is not None:
                buttons[held[1]] = 1
            self._publisher.publish(Joy(axes=axes, buttons=buttons))

    def move(self, axis: str) -> None:
        """Move an axis of the profile to its plus end for a moment."""
        spec = self.profile.axes[axis]
        self._changes.put(({spec.index: -1.0 if spec.invert else 1.0}, None))

    def press(self, button: str) -> None:
        """Press a button of the profile for a moment."""
        self._changes.put(({}, self.profile.buttons[button]))

    def close(self) -> None:
        self._leave.set()
        self._thread.join()
        self.node.destroy_node()
        self.context.shutdown()


class Command:
    """`alpha5-pad` in a process, its lines as they come."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reach_alpha5_teleop.calibrator.cli", *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._is_over = False
        self._queue: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)

    def line(self, seconds: float = PATIENCE) -> str | None:
        """Return the next line; None at the end.

        Raises:
            queue.Empty: there was none in time.
        """
        if self._is_over:
            return None
        line = self._queue.get(timeout=seconds)
        if line is None:
            self._is_over = True
        else:
            self.lines.append(line)
        return line

    def until(self, words: str) -> str:
        """Return the first line from here on that has the words in it."""
        while (line := self.line()) is not None:
            if words in line:
                return line
        raise AssertionError(f"ended without {words!r}:\n" + "\n".join(self.lines))

    def enter(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def finish(self) -> int:
        while self.line() is not None:
            pass
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._thread.join()
        self.process.stdin.close()
        self.process.stdout.close()


AXES_OF = {
    "forward": "left_forward",
    "right": "left_right",
    "down": "right_back",
    "wrist": "right_right",
    "faster": "right_trigger",
    "slower": "left_trigger",
}


def answer(player, command, key):
    """Do what the calibrator asked for."""
    if key in player.profile.buttons:
        player.press(key)
    elif AXES_OF.get(key) in player.profile.axes:
        player.move(AXES_OF[key])
    elif key != "rest":
        command.enter("s")


def play(player, command):
    """Answer every question, as a user does who looks at the screen."""
    key = "rest"
    while True:
        try:
            line = command.line(ANSWER_AGAIN)
        except queue.Empty:
            answer(player, command, key)
            continue
        if line is None:
            return
        if line.startswith("? ["):
            key = line[3:].partition("]")[0]
            answer(player, command, key)


@pytest.fixture
def player():
    made = Player("xbox_joy_node")
    yield made
    made.close()


@pytest.fixture
def run(tmp_path):
    """Start commands in an empty folder."""
    commands = []

    def start(*arguments):
        commands.append(Command(tmp_path, *arguments))
        return commands[-1]

    yield start
    for command in commands:
        command.close()


def test_a_pad_that_is_played_becomes_a_profile(player, run, tmp_path):
    command = run("make", "mine", "--namespace", player.namespace)
    play(player, command)
    assert command.finish() == 0, command.lines
    made = profiles.find(str(tmp_path / "mine.yaml"))
    assert made.name == "mine"
    assert made.buttons == player.profile.buttons
    for key, axis in AXES_OF.items():
        assert made.axes[key] == player.profile.axes[axis]
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
    assert cli.main(["check", str(tmp_path / "mine.yaml")]) == 0


def test_the_command_that_make_tells_shows_the_profile_that_it_wrote(player, run, tmp_path):
    path = tmp_path / "my pad.yaml"
    made = run("make", str(path), "--namespace", player.namespace)
    play(player, made)
    assert made.finish() == 0, made.lines
    (line,) = (line for line in made.lines if " is written. " in line)
    name, *words = shlex.split(line.partition("with: ")[2])
    assert name == "alpha5-pad"
    shown = run(*words, "--frames", "1")
    assert shown.until("profile my pad")
    assert shown.finish() == 0


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ("mine.yaml", ["--topic", "pads/left"], "--topic pads/left --profile ./mine.yaml"),
        ("/a/mine.yaml", ["--namespace", "ship"], "--namespace ship --profile /a/mine.yaml"),
        ("a/mine.yaml", [], "--profile ./a/mine.yaml"),
    ],
)
def test_the_command_that_make_tells_names_what_it_was_given(path, options, words):
    given = cli._parser().parse_args(["make", path, *options])
    assert cli._show_command(Path(path), given) == f"alpha5-pad show {words}"


def test_the_calibrator_publishes_nothing(player, run):
    command = run("make", "mine", "--namespace", player.namespace)
    command.until("[deadman]")
    names = [n for n in player.node.get_node_names() if n.startswith("alpha5_pad_")]
    assert len(names) == 1
    published = player.node.get_publisher_names_and_types_by_node(names[0], player.namespace)
    assert {topic for topic, _ in published} <= {"/parameter_events"}


def test_ctrl_c_writes_nothing(player, run, tmp_path):
    command = run("make", "mine", "--namespace", player.namespace)
    command.until("[deadman]")
    player.press("deadman")
    command.until("[estop]")
    command.process.send_signal(signal.SIGINT)
    assert command.finish() == cli.INTERRUPTED
    assert list(tmp_path.iterdir()) == []
    assert not any("Traceback" in line for line in command.lines)


def test_q_leaves_and_writes_nothing(player, run, tmp_path):
    command = run("make", "mine", "--namespace", player.namespace)
    command.until("[deadman]")
    command.enter("q")
    assert command.finish() == cli.NOT_IN_ORDER
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_overwritten(run, tmp_path):
    (tmp_path / "mine.yaml").write_text("my notes")
    command = run("make", "mine")
    assert command.finish() == cli.WRONG_USE
    assert "mine.yaml exists" in command.lines[-1]
    assert (tmp_path / "mine.yaml").read_text() == "my notes"


def test_show_finds_the_profile_and_tells_what_each_control_does(player, run):
    command = run("show", "--namespace", player.namespace)
    command.until("profile xbox_joy_node")
    player.move("left_forward")
    line = command.until("axis 1: +1.00")
    assert line == (
        "axis 1: +1.00, left_forward reads +1.00, drives cartesian.x, cylindrical.radial, pose.run"
    )
    player.press("estop")
    assert command.until("button 1: DOWN") == "button 1: DOWN, estop"


def test_show_with_a_profile_of_another_pad_says_so(player, run):
    command = run(
        "show", "--namespace", player.namespace, "--profile", "switch_pro_joy_node",
        "--frames", "5",
    )  # fmt: skip
    command.until("wrong layout: the pad has 8 axes and 11 buttons")
    assert command.until("axis 2") == "axis 2: +1.00"
    assert command.finish() == 0


@pytest.mark.parametrize("option", [["--namespace", "no spaces"], ["--topic", "a//b"]])
def test_names_that_are_no_names_are_refused_with_the_reason(capsys, option):
    assert cli.main(["show", *option]) == cli.WRONG_USE
    assert "Invalid" in capsys.readouterr().err


def test_list_tells_what_every_profile_fits(capsys):
    assert cli.main(["list"]) == 0
    out = capsys.readouterr().out
    for name in profiles.names():
        assert name in out
    assert "8 axes and 11 or 12 buttons" in out


def test_check_tells_every_problem_of_every_file_at_once(capsys, tmp_path):
    data = yaml.safe_load((profiles.folder() / "xbox_joy_node.yaml").read_text())
    data["buttons"]["estop"] = 99
    data["axes"]["left_right"]["deadband"] = 0
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(data))
    (tmp_path / "good.yaml").write_text((profiles.folder() / "xbox_joy_node.yaml").read_text())
    files = [str(tmp_path / name) for name in ("bad.yaml", "none.yaml", "good.yaml")]
    assert cli.main(["check", *files]) == cli.NOT_IN_ORDER
    out, err = capsys.readouterr()
    for words in ("buttons.estop is 99", "axes.left_right.deadband is 0", "none.yaml"):
        assert words in err
    assert "good.yaml: in order" in out


def test_schema_is_printed(capsys):
    assert cli.main(["schema"]) == 0
    assert capsys.readouterr().out == (profiles.folder() / "profile.schema.json").read_text()


@pytest.mark.parametrize("command", [[], ["list"], ["check"], ["show"], ["make"], ["schema"]])
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main([*command, "--help"])
    assert left.value.code == 0
    assert "usage: alpha5-pad" in capsys.readouterr().out
