"""From a `Joy` message to the bytes at the arm, judged from the simulated arm's byte log alone.

What is asserted is what the arm was told: `demanded` is the velocity that would persist.
"""

import os
import signal
import threading

import numpy as np
import pytest
from geometry_msgs.msg import TwistStamped
from line_rig import (
    MODES,
    press_mode,
    stays_silent,
    stays_stopped,
    to_deployed,
    told_still,
)

from reach_alpha5_driver.sim.ids import AXES, Packet
from reach_alpha5_driver.sim.log import TO_DRIVER
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_msgs.msg import ClientHeartbeat, EStop

CHAIN = tuple(sorted(AXES, reverse=True))


@pytest.fixture(scope="module")
def model(shared_rig):
    """The arm of the stack."""
    return ArmModel.from_urdf(shared_rig.stack.robot_description)


def posture(wire):
    """Return the last joint positions that the arm reported, chain order, SI."""
    last = {}
    for frame in wire.frames(TO_DRIVER):
        if frame.packet_id == Packet.POSITION:
            last[frame.device_id] = frame.floats()[0]
    q = np.array([last[device] for device in CHAIN])
    q[4] /= 1000.0
    return q


def tip(rig, model):
    """Return where the arm's reports put the tip now, base_link_frd [m]."""
    mark = rig.stack.mark()
    rig.wait(
        lambda: {f.device_id for f in rig.stack.wire(mark).frames(TO_DRIVER)
                 if f.packet_id == Packet.POSITION} == set(CHAIN),
        "a report of every joint",
    )  # fmt: skip
    return model.tip(posture(rig.stack.wire(mark)))


def moved(rig, model, distance, **sticks):
    """Jog until the tip has moved `distance` [m]; return the unit direction."""
    start = tip(rig, model)
    rig.jog_until(
        lambda _: np.linalg.norm(tip(rig, model) - start) > distance, "the tip moves", **sticks
    )
    rig.pad.release()
    step = tip(rig, model) - start
    return step / np.linalg.norm(step)


@pytest.fixture(scope="module")
def deployed(shared_rig):
    """The shared stack with the arm deployed."""
    shared_rig.settle()
    to_deployed(shared_rig)
    return shared_rig


@pytest.fixture
def rig(deployed):
    """The shared stack, deployed, at rest and ready."""
    deployed.settle()
    yield deployed
    deployed.pad.release()


@pytest.mark.parametrize(
    ("sticks", "direction"),
    [
        ({"left_y": 1.0}, (1, 0, 0)),
        ({"left_y": -1.0}, (-1, 0, 0)),
        ({"left_x": 1.0}, (0, -1, 0)),
        ({"left_x": -1.0}, (0, 1, 0)),
        ({"right_y": 1.0}, (0, 0, -1)),
        ({"right_y": -1.0}, (0, 0, 1)),
    ],
)
def test_B3_the_tip_moves_where_the_stick_points(rig, model, sticks, direction):
    assert np.dot(moved(rig, model, 0.02, **sticks), direction) > 0.95


def test_B4_cylindrical_azimuth_turns_the_base_alone(rig):
    press_mode(rig)
    rig.settle()
    mark = rig.jog_until(  # right: clockwise from above, against axis_e
        lambda mark: len(rig.stack.wire(mark).motion_frames()) > 40, "some motion", left_x=-1.0
    )
    told = rig.demanded(mark)
    assert told[5] < 0.0
    assert [told[device] for device in (1, 2, 3, 4)] == pytest.approx([0.0] * 4, abs=1e-9)
    rig.pad.release()
    told_still(rig, mark, "release")
    press_mode(rig, MODES - 1)
    rig.settle()


@pytest.mark.parametrize(
    ("controls", "device", "sign"),
    [({"y": 1}, 1, 1), ({"rb": 1}, 1, -1), ({"right_x": -1.0}, 2, 1), ({"right_x": 1.0}, 2, -1)],
)
def test_B1_jaws_and_wrist_move_alone(rig, controls, device, sign):
    mark = rig.jog_until(
        lambda mark: rig.demanded(mark).get(device, 0.0) * sign > 0.0, "it moves", **controls
    )
    others = [told for id, told in rig.demanded(mark).items() if id != device]
    assert others == pytest.approx([0.0] * len(others))
    rig.pad.release()
    told_still(rig, mark, "release")


def test_estop_from_anybody_stops_a_moving_arm(rig):
    for press in (
        lambda: rig.client.estop.publish(EStop(level=EStop.CUT, source="test", reason="topic")),
        lambda: rig.client.estop.publish(EStop(level=77, source="test", reason="undefined level")),
        lambda: rig.client.call("estop"),
    ):
        mark = rig.jog(left_y=-0.3)
        press()
        told_still(rig, mark, "e-stop")
        rig.wait(lambda: rig.arbiter().estop_latched and rig.arm().emo, "both latches")
        stays_stopped(rig, "e-stop, stick still held")
        rig.settle()


def test_a_message_that_says_no_objection_stops_and_clears_nothing(rig):
    rig.client.call("estop")
    rig.wait(lambda: rig.arbiter().estop_latched and rig.arm().emo, "both latches")
    rig.client.estop.publish(EStop(level=EStop.NONE, source="test"))
    stays_stopped(rig, "no objection")
    assert rig.arbiter().estop_latched and rig.arm().emo


def test_D7_nothing_is_streamed_while_idle(rig):
    stays_silent(rig, "nothing", frames=1200)


@pytest.fixture
def app(rig):
    """A node of somebody's own, which asks in m/s."""
    made = App(rig)
    yield made
    made.close()
    rig.wait(lambda: rig.arbiter().owner != "app", "the app has let go of the arm")


class App:
    """Says what it wants ten times a second, as a source must, from a thread of its own."""

    def __init__(self, rig):
        node = rig.client.node
        self._heartbeats = node.create_publisher(ClientHeartbeat, "app/heartbeat", 10)
        self._twists = node.create_publisher(TwistStamped, "app/twist", 10)
        self._clock = node.get_clock()
        self.velocity = (0.0, 0.0, 0.0)
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._left.wait(0.1):
            stamp = self._clock.now().to_msg()
            heartbeat = ClientHeartbeat(client_id="app", present=True)
            twist = TwistStamped()
            heartbeat.header.stamp = twist.header.stamp = stamp
            twist.header.frame_id = "base_link"
            linear = twist.twist.linear
            linear.x, linear.y, linear.z = self.velocity
            self._heartbeats.publish(heartbeat)
            self._twists.publish(twist)

    def close(self):
        self._left.set()
        self._thread.join()


def test_D8_a_twist_in_metres_per_second_moves_the_tip_that_way(rig, model, app):
    rig.wait(lambda: rig.arbiter().owner == "" and rig.armed("app"), "the idle pad gives way")
    mark, start = rig.stack.mark(), tip(rig, model)
    app.velocity = (0.0, 0.0, 0.03)  # up, in base_link: z down in the frame of the tip
    rig.wait(lambda: np.linalg.norm(tip(rig, model) - start) > 0.02, "the tip moves")
    app.velocity = (0.0, 0.0, 0.0)
    told_still(rig, mark, "the app asks for nothing")
    way = tip(rig, model) - start
    assert np.dot(way / np.linalg.norm(way), (0, 0, -1)) > 0.99
    assert rig.arbiter().owner == "app"
    stays_silent(rig, "the app asks for nothing")


def test_what_is_let_go_of_fades(rig):
    mark = rig.jog(left_x=1.0)
    rig.wait(lambda: abs(rig.demanded(mark)[5]) > 0.05, "some speed")
    mark = rig.stack.mark()
    rig.pad.release()
    told_still(rig, mark, "release")
    rates = [abs(told.value) for told in rig.stack.wire(mark).velocities() if told.device_id == 5]
    falling = rates[rates.index(max(rates)) :]
    assert falling == sorted(falling, reverse=True)
    assert len(set(falling)) > 3, "in steps, not at once"


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("victim", ["arbiter", "teleop"])
def test_the_arm_stops_when_a_node_ends(own_rig, victim, stop):
    mark = own_rig.jog(left_y=0.7)
    pid = own_rig.stack.pid(victim)
    os.kill(pid, stop)
    try:
        told_still(own_rig, mark, f"{victim} got {stop.name}")
        stays_stopped(own_rig, f"the end of the {victim}")
    finally:
        if stop == signal.SIGSTOP:
            os.kill(pid, signal.SIGCONT)
    if stop == signal.SIGSTOP:
        stays_stopped(own_rig, f"the {victim} woke up with the stick still held")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_U13_a_driver_that_is_asked_to_leave_leaves_the_arm_still(own_rig, stop):
    mark = own_rig.jog(left_y=0.7)
    os.kill(own_rig.stack.pid("driver"), stop)
    told_still(own_rig, mark, "driver asked to leave")
    own_rig.wait(lambda: not running(own_rig.stack.pid("driver")), "the driver has gone")
    told_still(own_rig, mark, "the driver has gone")


def test_U13_ctrl_c_on_everything_is_quick_and_the_arm_is_still(own_rig):
    mark = own_rig.jog(left_y=0.7)
    nodes = [own_rig.stack.pid(name) for name in ("teleop", "arbiter", "driver")]
    for pid in nodes:  # the simulated arm stays: it is the judge
        os.kill(pid, signal.SIGINT)
    own_rig.wait(lambda: not any(map(running, nodes)), "all nodes have gone")
    told_still(own_rig, mark, "Ctrl-C")
    assert "Traceback" not in own_rig.stack.output()


def running(pid):
    """Whether the process still runs (one that waits to be reaped does not)."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
