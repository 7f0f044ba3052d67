"""A bag that is played beside a live arm, judged from the bytes: it moves and revives nothing.

A real jog is recorded, then played from another process: driver commands, commands and heartbeats
of the pad, the driver's reports and the joints, as they were.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_share_directory
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from sensor_msgs.msg import JointState

from reach_alpha5_driver.sim.log import TO_DRIVER
from reach_alpha5_msgs.msg import ArmState, ClientHeartbeat, DriverCommand, GripperCtrl

HERE = Path(__file__).parent
RECORDED = {
    "driver_command": DriverCommand,
    "teleop/gripper_ctrl": GripperCtrl,
    "teleop/heartbeat": ClientHeartbeat,
    "arm_state": ArmState,
    "joint_states": JointState,
}
ALWAYS = {"teleop/heartbeat", "arm_state", "joint_states"}
"""What is said while nobody moves the arm as well."""

JAWS, WRIST = 1, 2
"""Device ids. The bag turns the wrist, who is alive moves the jaws."""

AGE = 2.0
"""How old the bag is at least when it is played [s]: more than `max_stamp_age`."""

ROUNDING = 1e-9


def type_name(kind):
    """Return how a type is called in a bag."""
    package, folder, *_ = kind.__module__.split(".")
    return f"{package}/{folder}/{kind.__name__}"


def record(rig, folder, session):
    """Record what is said while `session` runs."""
    heard, lock, node = [], threading.Lock(), rig.client.node

    def hearing(topic):
        def on_message(data):
            with lock:
                heard.append((time.time_ns(), topic, data))

        return on_message

    ears = [
        node.create_subscription(kind, topic, hearing(topic), 100, raw=True)
        for topic, kind in RECORDED.items()
    ]
    rig.wait(lambda: {topic for _, topic, _ in heard} >= ALWAYS, "what is always said")
    session()
    for ear in ears:
        node.destroy_subscription(ear)
    store = get_typestore(Stores.ROS2_JAZZY)
    ours = {}
    for file in Path(get_package_share_directory("reach_alpha5_msgs"), "msg").glob("*.msg"):
        ours |= get_types_from_msg(file.read_text(), f"reach_alpha5_msgs/msg/{file.stem}")
    store.register(ours)
    with lock, Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {
            topic: writer.add_connection(
                node.resolve_topic_name(topic), type_name(kind), typestore=store
            )
            for topic, kind in RECORDED.items()
        }
        for at, topic, data in heard:
            writer.write(connections[topic], at, data)
    return [topic for _, topic, _ in heard]


class Player:
    """The process that plays the bag."""

    def __init__(self, rig, bag):
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "bag_player.py"), str(bag)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=rig.stack.environment,
        )
        self._told = []
        threading.Thread(target=self._listen, daemon=True).start()
        rig.wait(lambda: self._told, "the player is ready")

    def _listen(self):
        self._told += iter(self._process.stdout)

    @property
    def played(self):
        """How often the bag was played to its end."""
        return self._told.count("played\n")

    def play(self):
        """Begin to play the bag."""
        self._process.stdin.write("play\n")
        self._process.stdin.flush()

    def close(self):
        self._process.kill()
        self._process.wait()


@contextmanager
def playing(rig, bag):
    player = Player(rig, bag)
    try:
        yield player
    finally:
        player.close()


@pytest.fixture(scope="module")
def bag(shared_rig, tmp_path_factory):
    """The bag of a jog that turned the wrist."""
    rig, folder = shared_rig, tmp_path_factory.mktemp("dive") / "bag"
    rig.settle()

    def session():
        rig.settle()
        rig.jog_until(lambda mark: WRIST in movers(rig, mark), right_x=-1.0)
        rig.settle()

    topics = record(rig, folder, session)
    assert set(topics) == set(RECORDED)
    over = time.monotonic() + AGE
    rig.wait(lambda: time.monotonic() > over, "it is a bag of the past")
    return folder


def movers(rig, mark):
    """Return which joints were told to move."""
    wire = rig.stack.wire(mark)
    return {told.device_id for told in wire.velocities() if abs(told.value) > ROUNDING}


def refused(rig):
    """Return how often the arbiter refused what was said again, by whose it was."""
    state = rig.arbiter()
    lasts = (state.last_refusal, *state.earlier_refusals)
    return {each.source: each.count for each in lasts if each.code == "replayed"}


def refused_by_driver(rig):
    """Return how often the driver did; 0 = what it refused last was something else."""
    last = rig.arm().last_refusal
    return last.count if (last.code, last.source) == ("replayed", "driver_command") else 0


def test_rule3_U7_a_bag_played_beside_an_idle_arm_moves_nothing_and_is_refused(shared_rig, bag):
    rig = shared_rig
    rig.settle()
    mark, before = rig.stack.mark(), refused(rig)
    with playing(rig, bag) as player:
        player.play()
        rig.wait(lambda: refused_by_driver(rig), "the driver refuses it")
        rig.wait(lambda: player.played, "the end of the bag", 60.0)
        # The arbiter listens to the joints while there is a goal, and to these always.
        for name in ("teleop", "arm_state"):
            rig.wait(lambda n=name: refused(rig).get(n, 0) > before.get(n, 0), f"of {name}")
    assert movers(rig, mark) == set()
    rig.settle()
    rig.jog_until(lambda mark: JAWS in movers(rig, mark), y=1)
    rig.settle()


def test_rule3_who_is_alive_moves_the_arm_after_a_bag_and_the_bag_never_does(shared_rig, bag):
    rig = shared_rig
    rig.settle()
    mark = rig.jog_until(lambda mark: JAWS in movers(rig, mark), y=1)
    stops = rig.arbiter().stops
    with playing(rig, bag) as player:
        player.play()
        rig.wait(lambda: rig.arbiter().stops > stops, "the bag stops the arm")
        rig.wait(lambda: player.played, "the end of the bag", 60.0)
    rig.settle()
    rig.jog_until(lambda mark: JAWS in movers(rig, mark), rb=1)
    rig.settle()
    assert movers(rig, mark) == {JAWS}


def test_rule3_U7_a_bag_does_not_take_the_place_of_an_arbiter_that_was_killed(own_rig, bag):
    rig = own_rig
    rig.jog_until(lambda mark: JAWS in movers(rig, mark), y=1)
    os.kill(rig.stack.pid("arbiter"), signal.SIGKILL)
    rig.wait(lambda: not any(rig.stack.wire().demanded().values()), "the arm is still")
    mark = rig.stack.mark()
    with playing(rig, bag) as player:
        for rounds in (1, 2):
            player.play()
            rig.wait(lambda: refused_by_driver(rig), "the driver refuses it")
            rig.wait(lambda r=rounds: player.played == r, "the end of the bag", 60.0)
    assert rig.stack.wire(mark).frames(TO_DRIVER), "the arm reports"
    assert movers(rig, mark) == set()
