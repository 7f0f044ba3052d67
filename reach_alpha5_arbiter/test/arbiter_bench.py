"""A bench for the arbiter's core: a clock that the test turns, and short words for events."""

from __future__ import annotations

from collections.abc import Iterable

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.config import ArbiterConfig, SourceConfig
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.snapshot import Snapshot, SourceSnapshot
from reach_alpha5_arbiter.tables import Activity
from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    CommandKind,
    DriverCommand,
    GripperCommand,
    GripperVelocities,
    KnownPose,
    MotionCommand,
    Pose,
    TwistCommand,
)
from reach_alpha5_common.refusal import Problem

PAD, APP, BOT = "teleop", "app", "autonomy"
SOURCES = (
    SourceConfig(PAD, person=True, heartbeat_timeout=0.5, idle_release=3.0),
    SourceConfig(APP, person=True, heartbeat_timeout=1.5, idle_release=3.0),
    SourceConfig(BOT, person=False, heartbeat_timeout=1.0, idle_release=3.0),
)
CONFIG = ArbiterConfig(SOURCES)

FORWARD = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=1.0))
RIGHT = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(y=0.5))
JAWS_ONLY = GripperCommand(GripperVelocities(grip=-0.5))
POSE = GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(Pose.STOWED, 0.7))
POSE_HELD = GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(Pose.STOWED, 0.0))
TWIST = TwistCommand("tool", linear=(0.0, 0.0, 0.05), lifetime=0.4)
TWIST_HELD = TwistCommand("tool")
NONSENSE = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=float("nan")))

JOINTS = ("axis_e", "axis_d", "axis_c", "axis_b", "axis_a")

AGAIN = Problem("replayed", "sent with a stamp 86400 s old")
"""Why what a bag says is refused."""

WALL = 1_700_000_000_000_000_000
DAY = 86_400_000_000_000
HOUR = 3_600_000_000_000


def report(
    state: int = ArmCondition.ENABLED,
    *,
    powered: bool = True,
    emo: bool = False,
    emo_level: int = 0,
    epoch: int = 0,
    causes: tuple[str, ...] = (),
    active: bool = True,
    holds: tuple[str, ...] = (),
    service_mode: bool = False,
) -> events.ArmReport:
    """A driver's report, by default of an arm that is ready and still."""
    level = emo_level or 2 * emo
    return events.ArmReport(
        int(state), powered, emo, level, epoch, active, causes, holds, service_mode, JOINTS
    )


class Bench:
    """The arbiter under test, its time, and all that it said."""

    def __init__(self, config: ArbiterConfig = CONFIG, *, ready: bool = True) -> None:
        self.arbiter = MotionArbiter(config)
        self.now = 1000.0
        self.clients = {source.name: f"{source.name}-1" for source in config.sources}
        self.said: list[events.Output] = []
        if ready:
            self.hear(report())
            self.said.clear()

    def hear(self, *inputs: events.Event) -> list[events.Output]:
        """Let the arbiter hear events, now."""
        out = [o for event in inputs for o in self.arbiter.handle(event, self.now)]
        self.said += out
        return out

    def wait(
        self,
        seconds: float,
        alive: Iterable[str] = (),
        driver: events.ArmReport | None = None,
        rests: bool | None = None,
    ) -> list[events.Output]:
        """Let time pass, with ticks at 20 Hz and the heartbeats of `alive` at 10 Hz.

        `driver` is what the driver reports at 10 Hz (by default ready; a silent driver needs
        `silence`), `rests` what the joints say.
        """
        out: list[events.Output] = []
        for step in range(round(seconds / 0.05)):
            self.now += 0.05
            if step % 2 == 0:
                out += self.hear(*(self.beat(name) for name in alive), driver or report())
            if rests is not None:
                out += self.hear(events.JointFeedback(rests))
            out += self.hear(events.Tick())
        return out

    def silence(self, seconds: float, alive: Iterable[str] = ()) -> list[events.Output]:
        """Let time pass with the driver silent."""
        out: list[events.Output] = []
        for _ in range(round(seconds / 0.05)):
            self.now += 0.05
            out += self.hear(*(self.beat(name) for name in alive), events.Tick())
        return out

    def beat(self, name: str, present: bool = True) -> events.Heartbeat:
        """A heartbeat of the source's one client."""
        return events.Heartbeat(name, self.clients[name], present)

    def command(
        self, name: str, command: MotionCommand, stamp: int | None = None, topic: str = ""
    ) -> list[events.Output]:
        """A command, stamped rightly unless `stamp` says otherwise."""
        wall = WALL + round(self.now * 1e9)
        stamp = wall if stamp is None else stamp
        return self.hear(events.Command(name, command, stamp, wall, topic))

    def arm(self, name: str = PAD) -> None:
        """Make a source live and armed."""
        self.hear(self.beat(name))
        self.command(name, STILL)

    def jog(self, name: str = PAD, command: MotionCommand = FORWARD) -> None:
        """Bring a source to move the arm."""
        self.arm(name)
        out = self.command(name, command)
        assert [word.motion for word in sent(out)] == [command], out
        self.said.clear()

    @property
    def state(self) -> Snapshot:
        return self.arbiter.snapshot(self.now)

    def source(self, name: str) -> SourceSnapshot:
        return next(source for source in self.state.sources if source.name == name)

    def is_moving(self) -> bool:
        return self.state.activity is Activity.JOGGING


def sent(outputs: Iterable[events.Output]) -> list[DriverCommand]:
    """What went to the driver."""
    return [out.command for out in outputs if isinstance(out, events.Send)]


def kinds(outputs: Iterable[events.Output]) -> list[str]:
    """The kinds of what went to the driver."""
    return [command.kind.name for command in sent(outputs)]


def stops(outputs: Iterable[events.Output]) -> list[StopCause | None]:
    """The causes of the stops that went to the driver."""
    return [
        out.cause
        for out in outputs
        if isinstance(out, events.Send) and out.command.kind is CommandKind.STOP
    ]


def refused(outputs: Iterable[events.Output]) -> list[str]:
    """The codes of what was refused."""
    return [out.refusal.code for out in outputs if isinstance(out, events.Refused)]


def reply(outputs: Iterable[events.Output]) -> events.Reply:
    """The one answer."""
    (answer,) = [out for out in outputs if isinstance(out, events.Reply)]
    return answer
