"""A planner and a person beside a stack, and the truth about the arm."""

import json
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

from arbiter_planner_rig import ARM, Heart, Sweep, trajectory
from arbiter_runs_rig import TRIES, Foreign, Run, Stalled
from control_msgs.action import FollowJointTrajectory, GripperCommand
from process_table import command_of
from rclpy.action import ActionClient

from reach_alpha5_driver.sim.control import ControlClient
from reach_alpha5_msgs.msg import GripperCtrl
from reach_alpha5_msgs.srv import ReturnLease


class Crew:
    """A planner that beats and sends goals, and a person at an app, beside a running stack."""

    def __init__(self, rig):
        self.rig = rig
        node = rig.client.node
        self.trajectories = ActionClient(node, FollowJointTrajectory, "follow_joint_trajectory")
        self.others = ActionClient(node, FollowJointTrajectory, "follow_joint_trajectory")
        self.grippers = ActionClient(node, GripperCommand, "gripper_cmd")
        self._jaws = node.create_publisher(GripperCtrl, "app/gripper_ctrl", 10)
        self._sim = ControlClient(str(rig.stack.control_path))
        self.sweep = Sweep(node)
        self._hearts = {}
        self._beating = set()
        self._runs = []
        self._commands = {each: command_of(rig.stack.pid(each)) for each in ("driver", "arbiter")}
        self._restarted = {}

    def close(self):
        # What belongs to the node stays until the node ends: somebody spins it.
        for name in self._beating:
            self._hearts[name].stop()
        self.sweep.end()
        self._sim.close()
        for process in self._restarted.values():
            process.terminate()
            process.wait(20.0)

    # ---- nodes

    def pid(self, node):
        """Return the process id of a node, started again or not."""
        restarted = self._restarted.get(node)
        return self.rig.stack.pid(node) if restarted is None else restarted.pid

    def restart(self, node):
        """Start a node that has ended once more, as the launch file did."""
        self._restarted[node] = subprocess.Popen(
            self._commands[node],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            env=self.rig.stack.environment,
        )

    # ---- sources

    def come(self, name):
        """Have a source beat."""
        if name not in self._hearts:
            self._hearts[name] = Heart(self.rig.client.node, name)
        elif name not in self._beating:
            self._hearts[name].beat()
        self._beating.add(name)
        self.rig.wait(lambda: self.status(name).alive and self.status(name).clients == 1, name)

    def leave(self, name):
        """Let a source fall silent, and wait until the arbiter has noticed."""
        self._beating.remove(name)
        self._hearts[name].stop()
        self.rig.wait(lambda: not self.status(name).alive, f"{name} is silent")

    def status(self, name):
        """Return what the arbiter says of a source."""
        return next(each for each in self.rig.arbiter().sources if each.name == name)

    def settle(self):
        """Bring the stack to rest: nothing latched, the lease free, the planner armed."""
        self.sweep.end()
        for run in self._runs:
            if not run.has_ended:
                run.cancel()
        self._runs.clear()
        self.come("planner")
        self.come("app")
        self.rig.settle()
        # Again and again: the arbiter may not know this publisher yet.
        self.rig.wait(
            lambda: self.jog(0.0) or not self.status("app").neutral_required, "the app is armed"
        )
        if self.rig.arbiter().owner == "app":
            request = ReturnLease.Request(source="app", client_id="app")
            self.rig.client.ask(ReturnLease, "return_lease", request)
        self.rig.wait(lambda: self.rig.arbiter().owner in ("", "planner"), "the lease is free")
        self.arm_planner()

    def arm_planner(self):
        """Send an empty goal, which is the planner's neutral, until it is seen to be armed."""
        for _ in range(TRIES):
            self.follow().succeeds()
            # A set-point from before may come after it, or a heartbeat that is missing.
            with suppress(TimeoutError):
                self.rig.wait(self.is_armed, "the planner is armed", 2.0)
                return
        raise Stalled("the planner does not stay armed")

    def is_armed(self):
        return not self.status("planner").neutral_required

    def jog(self, speed):
        """Have the person move the jaws, closing below 0; it stands until the next one."""
        message = GripperCtrl()
        message.gripper_velocities.grip_velocity = speed
        message.header.stamp = self.rig.client.node.get_clock().now().to_msg()
        self._jaws.publish(message)

    # ---- goals

    def follow(self, *points):
        """Send a trajectory."""
        return self.send(self.trajectories, trajectory(*points))

    def send(self, client, goal):
        self.rig.wait(client.server_is_ready, "the action is there")
        run = Run(self.rig, client, goal)
        self._runs.append(run)
        return run

    def grip(self, position, effort=0.0):
        """Send a gripper goal."""
        goal = GripperCommand.Goal()
        goal.command.position, goal.command.max_effort = position, effort
        return self.send(self.grippers, goal)

    # ---- the truth

    def line(self, command):
        """Do something to the simulated arm."""
        assert self._sim.command(command) == "ok"

    def joints(self):
        """Return the truth of each joint, by its name: position and velocity in SI units."""
        state = json.loads(self._sim.command("state"))["joints"]
        return {f"axis_{axis}": joint for axis, joint in state.items()}

    def positions(self, names=ARM):
        """Return where the joints really are."""
        truth = self.joints()
        return [truth[name]["position"] for name in names]


@contextmanager
def planner(crew, *arguments):
    """Have a planner that is a process of its own, and what comes of it on the line."""
    crew.leave("planner")
    script = Path(__file__).with_name("arbiter_planner_rig.py")
    foreign = Foreign(crew.rig, [sys.executable, str(script), *map(str, arguments)])
    try:
        yield foreign
    finally:
        foreign.end()


@contextmanager
def crew_beside(rig):
    """Have a crew beside a stack."""
    crew = Crew(rig)
    try:
        yield crew
    finally:
        crew.close()
