"""Fights, judged from the bytes at the arm: whose motion it is, and that none is left over."""

import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from itertools import pairwise

from process_table import command_of
from rclpy.time import Time

from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES
from reach_alpha5_msgs.msg import ClientHeartbeat, GripperCtrl
from reach_alpha5_msgs.srv import AcquireLease

JAWS, WRIST = 1, 2
"""Device ids: the app moves nothing but the jaws, the pad nothing but the wrist."""

STOP = [(device, 0.0) for device in (ALL_DEVICES, *AXES)]
"""A whole stop: velocity zero to all at once, then to each joint."""

ROUNDING = 1e-9
"""What is told to a joint that is not to move may be so much [rad/s, mm/s]."""

TRIES = 5
"""A machine may stall that often."""

START = 60.0
"""Longest time [s] for a node to start or to end: a bound against hanging."""

PAUSE = 0.4
"""For which the arbiter is stopped [s]: longer than what it says lasts in the driver."""


class App:
    """Moves the jaws for as long as `pushes`, and is neutral else, from a thread of its own."""

    def __init__(self, rig):
        self._rig = rig
        node = rig.client.node
        self._heartbeats = node.create_publisher(ClientHeartbeat, "app/heartbeat", 10)
        self._commands = node.create_publisher(GripperCtrl, "app/gripper_ctrl", 10)
        self.pushes = False
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._left.wait(0.02):
            stamp = self._rig.client.node.get_clock().now().to_msg()
            command = GripperCtrl()
            command.gripper_velocities.grip_velocity = 1.0 if self.pushes else 0.0
            heartbeat = ClientHeartbeat(client_id="app", present=True)
            heartbeat.header.stamp = command.header.stamp = stamp
            self._heartbeats.publish(heartbeat)
            self._commands.publish(command)

    def take(self):
        request = AcquireLease.Request(source="app", client_id="app", take=True)
        assert self._rig.client.ask(AcquireLease, "acquire_lease", request).success

    def close(self):
        self._left.set()
        self._thread.join()


@contextmanager
def app_beside(rig):
    app = App(rig)
    try:
        yield app
    finally:
        app.close()
        rig.wait(lambda: rig.arbiter().owner != "app", "the app has let go of the arm")


def whole_stops(told):
    """Return where in the velocities a whole stop ends."""
    pairs = [(each.device_id, each.value) for each in told]
    size = len(STOP)
    return [at + size for at in range(len(pairs) - size + 1) if pairs[at : at + size] == STOP]


def movers(wire):
    """Return which joints were told to move, one after the other: a joint, or None for a stop."""
    told = wire.velocities()
    ends = set(whole_stops(told))
    order = []
    for at, velocity in enumerate(told, start=1):
        if abs(velocity.value) > ROUNDING:
            order.append(velocity.device_id)
        elif at in ends:
            order.append(None)
    return order


def test_rule4_U16_the_bytes_of_two_that_fight_are_of_one_at_a_time_with_a_stop_between(
    shared_rig,
):
    rig = shared_rig
    rig.settle()
    with app_beside(rig) as app:
        rig.wait(lambda: rig.armed("app"), "the app is armed")
        mark = rig.stack.mark()
        for _ in range(TRIES):
            start = rig.jog_until(lambda m: WRIST in movers(rig.stack.wire(m)), right_x=-1.0)
            app.pushes = True
            app.take()
            app.pushes = False  # its neutral
            rig.wait(lambda: rig.armed("app"), "the app has let go")
            app.pushes = True  # the stick of the pad is still held over
            rig.wait(lambda m=start: JAWS in movers(rig.stack.wire(m)), "the jaws move")
            app.pushes = False
            rig.pad.release()
            rig.wait(lambda: rig.arbiter().owner == "", "the lease is free")
            rig.settle()
    order = movers(rig.stack.wire(mark))
    assert set(order) == {JAWS, WRIST, None}
    changes = [
        (one, other) for one, other in pairwise(order) if one != other and None not in (one, other)
    ]
    assert changes == [], "from one to the other without a stop"


def test_rule3_a_stick_let_go_of_while_the_arbiter_is_stopped_moves_nothing_when_it_wakes_up(
    shared_rig,
):
    rig = shared_rig
    rig.settle()
    mark = rig.jog(left_y=0.7)
    stops, pid = rig.arbiter().stops, rig.stack.pid("arbiter")
    os.kill(pid, signal.SIGSTOP)
    try:
        rig.pad.release()
        over = time.monotonic() + PAUSE
        rig.wait(lambda: time.monotonic() > over, "the pause")
    finally:
        os.kill(pid, signal.SIGCONT)
    rig.wait(lambda: rig.arbiter().stops > stops, "the stop")
    # Not because it read in its queue that the stick was let go of: because it was held up.
    assert rig.arbiter().last_stop_cause != "neutral"
    rig.wait(lambda: rig.arbiter().activity == 0, "the stop is confirmed")
    order = movers(rig.stack.wire(mark))
    assert not any(order[order.index(None) :])


def test_rule3_an_arbiter_killed_and_started_again_in_mid_motion_moves_nothing_before_a_neutral(
    own_rig,
):
    rig = own_rig
    rig.jog(left_y=0.7)
    pid = rig.stack.pid("arbiter")
    command = command_of(pid)
    os.kill(pid, signal.SIGKILL)
    rig.wait(lambda: not any(rig.stack.wire().demanded().values()), "the arm is still")
    mark, killed = rig.stack.mark(), rig.client.node.get_clock().now()
    restarted = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=rig.stack.environment)
    try:
        rig.wait(
            lambda: (
                Time.from_msg(rig.arbiter().header.stamp) > killed
                and rig.arbiter().last_stop_cause == "driver_heard"
                and any(source.present for source in rig.arbiter().sources)
            ),
            "the new one has told the driver to stop, and hears the pad",
            START,
        )
        reports = rig.client.last("gripper_tel")
        rig.wait(lambda: rig.client.last("gripper_tel") is not reports, "the arm reports")
        # The stick is still held over.
        assert rig.stack.wire(mark).motion_frames() == []
        rig.settle()
        rig.jog(left_y=0.7)
        rig.pad.release()
    finally:
        restarted.terminate()
        restarted.wait(START)
