"""The motion arbiter: who may move the arm, and whether. Pure: no ROS, no clock, no threads.

Theory of operation
===================
Events go in one by one with the monotonic time at which they happened, and a list of outputs
comes out: what to say to the driver, what was refused, and what others should see. The same events
at the same times always give the same outputs.

*The default is still.* Motion is asked for again and again, rest is the absence of asking: motion
goes out at once for each fresh command and is repeated while the command stands, each time with a
lifetime after which the driver stops by itself. That lifetime never reaches beyond the end of the
command's own lifetime or beyond the lapse of its source's watchdog. Idle, nothing is sent at all.

A command moves the arm only if nothing stands against it, in this order:

1. it is well formed, its source is live (one client, heard in time, that says it is there), and
   its stamp is neither from the future nor older than one before it, nor the same as that of one
   on another topic, since nothing tells which of the two is the newer;
2. no e-stop and no fault is latched, the upstream link is there if there must be one, and the
   driver is heard, has a powered arm, and agrees;
3. its source holds the lease, or nobody does (then the command acquires it), or a goal has it and
   the source is a person (then the command preempts the goal); and it is one of the stream that
   its source has opened, if it has;
4. its source is armed: a neutral command was seen since the last thing that disarms.

Whatever ends one of these while the arm moves sends one stop, on the edge, and moves the activity
from JOGGING to ENDING until feedback confirms rest. When it is the owner that asks for no more, it
moves to EASING instead: that stop leaves the driver some time to let the motion fade. It is the
only one that does, and whatever else ends motion meanwhile says the stop at once.

*Goals.* A goal is a trajectory that is followed here: its set-points are said one by one, and the
measured joints are watched. It needs what a command needs, an armed source included, and begins
when the arm rests, at the posture that is measured then. It ends along its path when its client
cancels it, when a newer goal or command replaces it, or when a person moves the arm; and at once
for everything else. What comes after it waits until the arm is confirmed to rest: the two never
reach the driver together. One thing waits at most, and whatever disarms its source drops it.

*Streams.* Set-points of joints are taken on an open stream alone. Opening one grants the lease and
no more; idleness closes it, and so does whatever disarms its source but a refused command.

*E-stop endpoints* must check in. One that objects, has not been heard yet, or is not heard any
more presses the e-stop; `reset` is refused until every one of them is clear.

A refused command ends what its source had asked for before and disarms it: its newest word was not
understood or not allowed, so the one before it is no longer what it wants, and a stick that was
held through a block does not move the arm when the block goes. Stamps order and nothing else. A
neutral command with a stamp out of order still stops the arm, and restarts the order, so that a
sender whose clock was set back gets on with the next neutral one; a stamp from the future is never
remembered.

Time is looked at before each event: a watchdog, a lifetime or a time-out that has passed takes
effect before anything that arrives late can count.

Where what is: `tables` has every state machine, `admission` every check, `codes` the name of all
that can be wrong, `state` what is remembered, `machine` the few moves that change it and alone say
anything to the driver, `rules` what is done about each event, one idea a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.config import ArbiterConfig
from reach_alpha5_arbiter.machine import Machine
from reach_alpha5_arbiter.rules import goals, latches, lease, sources
from reach_alpha5_arbiter.snapshot import Snapshot
from reach_alpha5_arbiter.state import State
from reach_alpha5_arbiter.tables import ActivityEvent
from reach_alpha5_common.refusal import RefusalLog, Refusals


class MotionArbiter:
    """Decides which motion reaches the driver."""

    def __init__(self, config: ArbiterConfig, session: int = 0) -> None:
        """Begin still, knowing nobody.

        Args:
            config: sources, time-outs, endpoints.
            session: number of this run, 0 to 2^64 - 1: two runs challenge the endpoints
                differently.
        """
        self._machine = Machine(config, session)
        self._seen = self.state.visible()

    @property
    def config(self) -> ArbiterConfig:
        """The settings."""
        return self._machine.config

    @property
    def state(self) -> State:
        """All that decides what comes next."""
        return self._machine.state

    @property
    def refusals(self) -> RefusalLog:
        """What was refused, counted."""
        return self._machine.refusals

    def handle(self, event: events.Event, now: float) -> list[events.Output]:
        """Take one event that happened at monotonic time `now` [s] and return what follows.

        After `Shutdown` nothing is heard and nothing follows.

        Raises:
            TypeError: the event is none of `Event`. Nothing has changed.
            ValueError: `now` is not finite or runs backwards. Nothing has changed.
        """
        machine, state = self._machine, self.state
        handler = self._HANDLERS.get(type(event))
        if handler is None:
            raise TypeError(f"{event!r} is not an event of the arbiter")
        if not (math.isfinite(now) and now >= state.now):
            raise ValueError(f"time cannot run from {state.now} to {now}")
        held_up = now - state.now >= self.config.command_lifetime
        state.now = now
        if state.closed:
            return []
        machine.out = []
        _let_time_pass(machine)
        if held_up:
            sources.doubt_what_waits(machine)
        handler(machine, event)
        if not state.closed:
            goals.take_up(machine)
        if (seen := state.visible()) != self._seen:
            self._seen = seen
            machine.out.append(events.StateChanged(self.snapshot(now)))
        return machine.out

    def snapshot(self, now: float) -> Snapshot:
        """Show the arbiter at monotonic time `now` [s]."""
        return self.state.snapshot(self.refusals.latest, now)

    def fork(self) -> MotionArbiter:
        """Return an independent twin, for looking at what would follow; it counts anew."""
        twin = MotionArbiter.__new__(MotionArbiter)
        twin._machine, twin._seen = self._machine.fork(), self._seen
        return twin

    @classmethod
    def restored(
        cls, config: ArbiterConfig, state: State, refusals: Refusals | None = None
    ) -> MotionArbiter:
        """Return an arbiter that goes on from a state, and from what had been refused."""
        arbiter = cls(config)
        arbiter._machine.refusals = RefusalLog(refusals)
        arbiter._machine.state = state.copied()
        arbiter._seen = state.visible()
        return arbiter

    _HANDLERS: ClassVar[dict[type, Callable[[Machine, Any], None]]] = {
        events.Command: sources.on_command,
        events.Heartbeat: sources.on_heartbeat,
        events.Replayed: sources.on_replayed,
        events.SourceGone: sources.on_source_gone,
        events.EStopPress: latches.on_estop,
        events.Reset: latches.on_reset,
        events.ArmReport: latches.on_arm_report,
        events.JointFeedback: latches.on_joint_feedback,
        events.CheckIn: latches.on_check_in,
        events.EndpointGone: latches.on_endpoint_gone,
        events.UpstreamBeat: latches.on_upstream_beat,
        events.UpstreamGone: latches.on_upstream_gone,
        events.Acquire: lease.on_acquire,
        events.Return: lease.on_return,
        events.OpenStream: lease.on_open_stream,
        events.CloseStream: lease.on_close_stream,
        events.GoalAsked: goals.on_goal,
        events.GoalCancelled: goals.on_goal_cancelled,
        events.PostureSeen: goals.on_posture,
        events.Tick: lambda machine, _: _tick(machine),
        events.Shutdown: lambda machine, _: _shut_down(machine),
    }


def _let_time_pass(machine: Machine) -> None:
    latches.let_time_pass(machine)
    sources.let_time_pass(machine)
    goals.let_time_pass(machine)
    if machine.state.now >= machine.state.motion.overdue_at:
        machine.overdue()
    lease.let_time_pass(machine)


def _tick(machine: Machine) -> None:
    sources.repeat(machine)
    goals.say_next(machine)
    latches.challenge(machine)


def _shut_down(machine: Machine) -> None:
    machine.act(ActivityEvent.INSIST, StopCause.SHUTDOWN)
    machine.drop_waiting(StopCause.SHUTDOWN)
    machine.conclude()
    machine.state.closed = True
