"""What is asked of a stack to move the arm, from when it is asked until it ends.

What the machine does to it is told from what the stack does wrong: what ends because something was
not heard in time is `Stalled`, and the test begins again.
"""

import functools
import subprocess
import time

from action_msgs.msg import GoalStatus
from arbiter_planner_rig import STALLED
from control_msgs.action import FollowJointTrajectory
from line_rig import STOP_NS, ends_with_a_stop, rests

LATE = 0.5
"""s that may come to a time-out of the stack until the stop is on the line."""

TRIES = 5
"""A machine may stall that often."""

STALLS = frozenset({
    "source_silent", "not_live", "source_not_alive", "lapsed", "no_feedback", "path_left",
    "goal_missed", "driver_idle", "driver_lost", "not_ready", "arm_disconnected", "arm_held",
    "lifetime_ended", "stop_unconfirmed", "fault", "latch", "stream_idle", "idle",
})  # fmt: skip
"""How a goal or a stream ends when a machine that stalls keeps somebody from being heard."""


class Stalled(Exception):
    """The machine stalled, and the stack stopped the arm by itself."""


def unless_stalled(test):
    """Settle the `crew` and run the test; do so again when the machine stalled, a few times."""

    def attempt(named):
        named["crew"].settle()
        test(**named)

    @functools.wraps(test)
    def run(**named):
        for _ in range(TRIES - 1):
            try:
                return attempt(named)
            except Stalled as stalled:
                print("again:", stalled)
        return attempt(named)

    return run


class Motion:
    """What passes over the line from now on."""

    def __init__(self, rig):
        self.rig = rig
        self.mark = rig.stack.mark()

    def wire(self):
        """Return what has passed over the line since then."""
        return self.rig.stack.wire(self.mark)

    def is_under_way(self):
        return len(self.wire().motion_frames()) > 30


class Foreign(Motion):
    """What a planner asks that is a process of its own."""

    def __init__(self, rig, command):
        super().__init__(rig)
        self.process = subprocess.Popen(command, env=rig.stack.environment)

    def moves(self):
        """Wait until the arm is well under way."""
        try:
            self.rig.wait(lambda: self.is_under_way() or self.process.poll() is not None, "motion")
        except TimeoutError as error:  # what it asked may have been refused or ended meanwhile
            raise Stalled(str(error)) from error
        if self.process.poll() is not None:
            assert self.process.returncode == STALLED
            raise Stalled("what the planner asked has ended")

    def stops_after(self, number, seconds):
        """Send a signal, and demand a stop so soon after it.

        That is after its last word at the latest, so that a time-out of the stack has begun then.
        """
        before_ns = time.monotonic_ns()
        self.process.send_signal(number)
        self.rig.wait(lambda: rests(self.wire()), "a stop")
        took = (self.wire().velocities()[-1].time_ns - before_ns) / 1e9
        if took > seconds + LATE:
            raise Stalled(f"a stop after {took:.2f} s")

    def end(self):
        self.process.kill()
        self.process.wait()


class Run(Motion):
    """A goal, from when it was sent."""

    def __init__(self, rig, client, goal):
        super().__init__(rig)
        self.feedbacks = []
        self.ended_ns = None
        self._ended = None
        sent = client.send_goal_async(goal, lambda told: self.feedbacks.append(told.feedback))
        rig.wait(sent.done, "the action takes the goal")
        self.handle = sent.result()
        assert self.handle.accepted
        self.handle.get_result_async().add_done_callback(self._end)

    def _end(self, future):
        self.ended_ns = time.monotonic_ns()
        self._ended = future.result()

    @property
    def has_ended(self):
        return self._ended is not None

    @property
    def result(self):
        self.rig.wait(lambda: self.has_ended, "the goal ends", 60.0)
        return self._ended.result

    @property
    def code(self):
        """Our code of how it ended."""
        return self.result.error_string.partition(":")[0]

    def until(self, condition, what):
        """Wait until the condition holds while the goal goes on."""
        seen = []  # not asked again: it may hold for a moment only
        self.rig.wait(lambda: seen.append(condition()) or seen[-1] or self.has_ended, what, 60.0)
        if not seen[-1]:
            raise Stalled(f"{self._ended.result} before {what}")
        return self

    def moves(self):
        """Wait until the arm is well under way."""
        return self.until(self.is_under_way, "motion on the wire")

    def told(self):
        """Return which velocities the joints had been told when the result came."""
        assert self.result is not None
        end_ns = self.ended_ns + STOP_NS
        # What has passed over the line is in the log a moment later.
        self.rig.wait(lambda: self.wire().entries[-1].time_ns > end_ns, "the log of it")
        return [told for told in self.wire().velocities() if told.time_ns < end_ns]

    def stood(self):
        """Demand that the joints had been told to stop when the result came; return all of it.

        A simulated arm that is held up reads late what has been written to it.
        """
        told = self.told()
        if not ends_with_a_stop(told):
            raise Stalled("the result came before the arm had read its stop")
        return told

    def ends(self, code, error=FollowJointTrajectory.Result.INVALID_GOAL, status=None):
        """Wait for the result of a trajectory, and demand which it is."""
        if self.code != code and self.code in STALLS:
            raise Stalled(self.result.error_string)
        assert (self.code, self.result.error_code) == (code, error), self.result.error_string
        assert self.status == (status or GoalStatus.STATUS_ABORTED)
        return self

    def succeeds(self):
        """Wait for the result of a trajectory, and demand that it is a success."""
        successful = FollowJointTrajectory.Result.SUCCESSFUL
        return self.ends("goal_reached", successful, GoalStatus.STATUS_SUCCEEDED)

    def grips(self):
        """Wait for the result of a gripper goal that succeeds."""
        result = self.result
        if self.status != GoalStatus.STATUS_SUCCEEDED:
            number = bytes(self.handle.goal_id.uuid).hex()
            shown = self.rig.wait(
                lambda: (goal := self.rig.arbiter().goal).id.endswith(number) and goal,
                "its end is shown",
            )
            assert shown.code in STALLS, shown.code
            raise Stalled(shown.code)
        return result

    @property
    def status(self):
        """How it ended, as actions number it."""
        assert self.result is not None
        return self._ended.status

    def cancel(self):
        answer = self.handle.cancel_goal_async()
        self.rig.wait(answer.done, "an answer to the cancel")
