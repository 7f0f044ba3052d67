"""Words for goals, streams, endpoints and the upstream link, on top of the bench."""

from __future__ import annotations

from dataclasses import replace

from arbiter_bench import BOT, CONFIG, Bench, report

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.tables import FOLLOWING
from reach_alpha5_arbiter.trajectory import Goal, GoalKind, Point, Posture
from reach_alpha5_common.command import DriverCommand, JointCommand

JOINTS = ("axis_e", "axis_d", "axis_c", "axis_b", "axis_a")
ARM = JOINTS[:4]
HOME = (0.5, 1.0, 1.0, 0.0, 0.005)
AWAY = (0.8, 1.2, 0.9, 0.3)
WITH_GOALS = replace(CONFIG, goal_source=BOT)
READY = replace(report(), joint_names=JOINTS)
EXECUTING = replace(report(ArmCondition.EXECUTING), joint_names=JOINTS)
PERIOD = 0.02
"""Time [s] between two ticks while a goal is followed."""


def goal(
    name: str = "goal",
    to: tuple[float, ...] = AWAY,
    seconds: float = 1.0,
    *,
    starts_in: float = 0.0,
    path: float = 0.2,
) -> Goal:
    """A trajectory of the arm's four joints to somewhere, at rest at both ends."""
    rest = (0.0,) * len(ARM)
    return Goal(
        name,
        GoalKind.TRAJECTORY,
        BOT,
        ARM,
        (Point(seconds, to, rest),),
        (path,) * len(ARM),
        (0.02,) * len(ARM),
        2.0,
        starts_in,
    )


def hold(name: str = "hold") -> Goal:
    """A goal without points."""
    return replace(goal(name), joint_names=(), points=(), path_tolerances=(), goal_tolerances=())


def grip(position: float, name: str = "grip") -> Goal:
    """A position of the jaws."""
    return Goal(
        name, GoalKind.GRIPPER, BOT, (), (Point(0.0, (position,)),), (1.0,), (0.0005,), 2.0, 0.0
    )


class GoalBench(Bench):
    """A bench with an arm that goes where the set-points say, unless it is held."""

    def __init__(self, config: object = WITH_GOALS) -> None:
        self.positions = dict(zip(JOINTS, HOME, strict=True))
        self.speeds = dict.fromkeys(JOINTS, 0.0)
        self.held = False
        self.is_seen = True
        self.alive = [BOT]
        super().__init__(config, ready=False)  # type: ignore[arg-type]
        self.hear(READY)
        self.arm(BOT)
        self.said.clear()

    def ask(self, wanted: Goal, veto: object = None) -> list[events.Output]:
        """A goal."""
        return self.hear(self.posture(), events.GoalAsked(wanted, veto))  # type: ignore[arg-type]

    def posture(self) -> events.PostureSeen:
        """Where the arm is, measured now."""
        positions = tuple(self.positions[name] for name in JOINTS)
        speeds = tuple(0.0 if self.held else self.speeds[name] for name in JOINTS)
        return events.PostureSeen(Posture(JOINTS, positions, speeds, self.now))

    def run(self, seconds: float) -> list[events.Output]:
        """Let time pass, with an arm that follows."""
        out: list[events.Output] = []
        for step in range(round(seconds / PERIOD)):
            self.now += PERIOD
            if step % 5 == 0:
                follows = self.arbiter.state.motion.activity in FOLLOWING
                beats = [self.beat(name) for name in self.alive]
                out += self.hear(*beats, EXECUTING if follows else READY)
                out += self.hear(events.JointFeedback(not follows))
            if self.is_seen:
                out += self.hear(self.posture())
            said = self.hear(events.Tick())
            out += said
            for output in said:
                if isinstance(output, events.Send):
                    self.obey(output.command)
        return out

    def obey(self, command: DriverCommand) -> None:
        """Do what the driver was told, at once."""
        names = command.joint.joint_names
        self.speeds = dict.fromkeys(JOINTS, 0.0)
        self.speeds |= dict(zip(names, command.joint.velocities, strict=True))
        if not self.held:
            self.positions |= dict(zip(names, command.joint.positions, strict=True))


def setpoints(outputs: list[events.Output]) -> list[JointCommand]:
    """The set-points that went to the driver."""
    return [
        out.command.joint
        for out in outputs
        if isinstance(out, events.Send) and out.command.joint.joint_names
    ]


def endings(outputs: list[events.Output]) -> list[tuple[str, str, str]]:
    """Goals that ended: id, outcome, code."""
    return [
        (out.goal_id, out.ending.outcome.value, out.ending.code)
        for out in outputs
        if isinstance(out, events.GoalEnded)
    ]
