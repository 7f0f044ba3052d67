"""E-stop endpoints, each a process of its own, and the moving arm: judged from its byte log.

Two endpoints must check in: `deck` is the command `alpha5-estop`, `bridge` a program that watches
something. Where `bridge` has to misbehave on the wire, the test plays it.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rclpy.qos import QoSProfile
from std_msgs.msg import Bool

from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES
from reach_alpha5_msgs.msg import EStop, EStopChallenge, EStopCheckIn, EStopEndpointStatus

ENDPOINTS = ("deck", "bridge")
TIMEOUT = 3.0
"""Of both [s]: so long that a busy machine does not make one lapse that is well."""

PARAMETERS = f"""
/**/arbiter:
  ros__parameters:
    sources: [teleop, planner]
    estop_endpoints: [{", ".join(ENDPOINTS)}]
    estop.deck.timeout: {TIMEOUT}
    estop.bridge.timeout: {TIMEOUT}
    estop.bridge.lapse_level: cut
"""

STOP = [(device, 0.0) for device in (ALL_DEVICES, *AXES)]
"""A whole stop: velocity zero to all at once, then to each joint."""

AWAITED, CLEAR, OBJECTING, LAPSED = (
    EStopEndpointStatus.AWAITED,
    EStopEndpointStatus.CLEAR,
    EStopEndpointStatus.OBJECTING,
    EStopEndpointStatus.LAPSED,
)
ALL_ONES = 2**64 - 1


class Endpoints:
    """The endpoints' processes beside a stack."""

    def __init__(self, rig, folder):
        self.rig = rig
        self.processes = {}
        self._folder = folder
        self.permitted = []
        rig.client.node.create_subscription(
            Bool, "motion_permitted", lambda m: self.permitted.append(m.data), QoSProfile(depth=1)
        )

    def start(self, name, *arguments):
        """Start `deck` or `bridge`; return its process."""
        command = {
            "deck": ["-m", "reach_alpha5_arbiter.estop_client.cli", "deck", *arguments],
            "bridge": [str(Path(__file__).with_name("estop_watch.py")), "bridge"],
        }[name]
        with self.output_path(name).open("w") as output:
            self.processes[name] = subprocess.Popen(
                [sys.executable, *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self.rig.stack.environment,
            )
        return self.processes[name]

    def output_path(self, name):
        return self._folder / f"{name}.txt"

    def type(self, text):
        """Type at the terminal of `deck`."""
        self.processes["deck"].stdin.write(text)
        self.processes["deck"].stdin.flush()

    def kill(self, name):
        """End a process, whatever has become of it."""
        process = self.processes.pop(name, None)
        if process is not None:
            process.kill()
            process.wait()
            process.stdin.close()

    def status(self, name):
        """Return what the arbiter says of an endpoint."""
        return next(each for each in self.rig.arbiter().estop_endpoints if each.name == name)

    def wait_for_state(self, name, *states):
        """Wait until an endpoint is in one of some states."""
        self.rig.wait(
            lambda: self.rig.arbiter() is not None and self.status(name).state in states,
            f"{name} in state {states}",
        )

    def bring_clear(self):
        """Have all of them check in without objection; start those that do not live."""
        for name in ENDPOINTS:
            process = self.processes.get(name)
            if process is None or process.poll() is not None or self.status(name).level:
                self.kill(name)
                self.start(name)
        for name in ENDPOINTS:
            self.wait_for_state(name, CLEAR)

    def reset(self):
        return self.rig.client.call("reset")


@pytest.fixture(scope="module")
def beginning(module_rig_with, tmp_path_factory):
    """A stack that was just started, no endpoint running."""
    folder = tmp_path_factory.mktemp("endpoints")
    parameters = folder / "parameters.yaml"
    parameters.write_text(PARAMETERS)
    with module_rig_with(until_ready=False, arbiter_params=str(parameters)) as rig:
        endpoints = Endpoints(rig, folder)
        try:
            yield endpoints
        finally:
            for name in ENDPOINTS:
                endpoints.kill(name)


@pytest.fixture
def endpoints(beginning):
    """The endpoints, all clear, and a stack that is ready to move."""
    beginning.rig.pad.release()
    beginning.rig.wait(beginning.rig.arbiter, "the arbiter is heard")
    beginning.bring_clear()
    beginning.rig.settle()
    yield beginning
    beginning.rig.pad.release()


@pytest.fixture
def rig(endpoints):
    return endpoints.rig


def told_still(rig, mark, what):
    """Wait until a whole stop is the last thing that the joints were told since `mark`."""

    def stopped():
        last = rig.stack.wire(mark).velocities()[-len(STOP) :]
        return [(told.device_id, told.value) for told in last] == STOP

    rig.wait(stopped, f"all five joints told to stop: {what}")


def stays_still(rig, what, states=20):
    """Demand that nothing tells a joint to move while the arbiter says its state so often."""
    mark, seen = rig.stack.mark(), []

    def heard():
        if rig.arbiter() not in seen[-1:]:
            seen.append(rig.arbiter())
        return len(seen) > states

    rig.wait(heard, "the arbiter goes on")
    assert rig.stack.wire(mark).motion_frames() == [], f"motion after {what}"


def latched(endpoints, name):
    """Wait until an endpoint has stopped the arm, and both have latched that."""
    rig = endpoints.rig
    rig.wait(lambda: rig.arbiter().estop_latched and rig.arm().emo, "both latches")
    rig.wait(lambda: endpoints.status(name).level, f"{name} stands against motion")
    rig.wait(lambda: endpoints.permitted[-1] is False, "a relay is told to open")


def test_a_new_run_is_stopped_until_all_endpoints_are_there_and_the_reset_comes(beginning):
    rig = beginning.rig
    rig.wait(lambda: rig.arbiter() and rig.arbiter().driver_connected, "the driver is heard")
    assert [beginning.status(name).state for name in ENDPOINTS] == [AWAITED, AWAITED]
    assert rig.arbiter().estop_latched and rig.arbiter().estop_level == EStop.CUT
    assert rig.arbiter().estop_source == "endpoint bridge", "of the two the more restrictive one"
    for missing in ENDPOINTS:
        answer = beginning.reset()
        assert not answer.success and missing in answer.message
        rig.pad.set(lb=1)
        rig.pad.set(left_y=1.0)
        stays_still(rig, f"a pad that is pushed while {missing} is awaited")
        rig.pad.release()
        beginning.start(missing)
        beginning.wait_for_state(missing, CLEAR)
    assert rig.arbiter().estop_latched, "to be there is not to reset"
    rig.pad.set(lb=1)
    rig.pad.set(left_y=1.0)
    stays_still(rig, "a pad that is pushed before the reset")
    assert not any(beginning.permitted)
    assert beginning.reset().success
    stays_still(rig, "a reset with the stick held")
    rig.settle()
    rig.wait(lambda: beginning.permitted[-1], "a relay may close")
    rig.jog()
    rig.pad.release()


@pytest.mark.parametrize(
    "way",
    [signal.SIGKILL, signal.SIGSTOP, signal.SIGUSR1],
    ids=["killed", "suspended", "its loop hangs and its ROS thread lives"],
)
def test_an_endpoint_that_does_not_answer_any_more_stops_the_moving_arm(endpoints, rig, way):
    mark = rig.jog(left_y=-0.7)
    os.kill(endpoints.processes["bridge"].pid, way)
    told_still(rig, mark, way.name)
    latched(endpoints, "bridge")
    assert rig.arbiter().estop_level == EStop.CUT, "the level of its lapse"
    assert endpoints.status("bridge").state == LAPSED
    answer = endpoints.reset()
    assert not answer.success and "bridge" in answer.message
    stays_still(rig, "a lapse, stick still held")

    endpoints.kill("bridge")
    endpoints.start("bridge")
    endpoints.wait_for_state("bridge", CLEAR)
    assert rig.arbiter().estop_latched, "to be back is not to reset"
    stays_still(rig, "an endpoint that is back, stick still held")
    assert endpoints.reset().success
    stays_still(rig, "a reset with the stick held")
    rig.settle()
    rig.jog()


def test_a_suspended_endpoint_that_wakes_up_clears_nothing(endpoints, rig):
    mark = rig.jog(left_y=-0.7)
    os.kill(endpoints.processes["bridge"].pid, signal.SIGSTOP)
    told_still(rig, mark, "suspended")
    os.kill(endpoints.processes["bridge"].pid, signal.SIGCONT)
    endpoints.wait_for_state("bridge", CLEAR)
    assert rig.arbiter().estop_latched
    stays_still(rig, "an endpoint that woke up, stick still held")


@pytest.mark.parametrize("key", [b"\n", b"whatever\n"], ids=["Enter", "anything else"])
def test_a_stop_at_the_terminal_stands_until_it_is_withdrawn_and_reset(endpoints, rig, key):
    mark = rig.jog(left_y=-0.7)
    endpoints.type(key)
    told_still(rig, mark, "STOP at the terminal")
    latched(endpoints, "deck")
    assert not endpoints.reset().success
    endpoints.type(b"c\n")
    endpoints.wait_for_state("deck", CLEAR)
    assert rig.arbiter().estop_latched, "to withdraw is not to reset"
    stays_still(rig, "an objection that was withdrawn, stick still held")
    assert endpoints.reset().success
    stays_still(rig, "a reset with the stick held")


def test_the_most_restrictive_of_two_endpoints_counts(endpoints, rig):
    endpoints.kill("deck")
    endpoints.start("deck", "--level", "settle_then_cut")
    endpoints.wait_for_state("deck", CLEAR)
    rig.settle()
    mark = rig.jog(left_y=-0.7)
    endpoints.type(b"\n")
    told_still(rig, mark, "the milder of two")
    latched(endpoints, "deck")
    assert rig.arbiter().estop_level == EStop.SETTLE_THEN_CUT
    os.kill(endpoints.processes["bridge"].pid, signal.SIGUSR2)
    endpoints.wait_for_state("bridge", OBJECTING)
    rig.wait(lambda: rig.arbiter().estop_level == EStop.CUT, "the more restrictive of two")
    rig.wait(lambda: rig.arm().emo_level == EStop.CUT, "the driver as well")
    assert endpoints.status("bridge").reason == "something is wrong"
    endpoints.type(b"c\n")
    endpoints.wait_for_state("deck", CLEAR)
    assert rig.arbiter().estop_level == EStop.CUT
    assert not endpoints.reset().success


@pytest.mark.parametrize(
    "leave",
    [
        lambda process: process.send_signal(signal.SIGINT),
        lambda process: process.send_signal(signal.SIGTERM),
        lambda process: process.send_signal(signal.SIGHUP),
        lambda process: process.stdin.write(b"q\n") and process.stdin.flush(),
        lambda process: process.stdin.close(),
    ],
    ids=["Ctrl-C", "SIGTERM", "the terminal is closed", "q", "end of input"],
)
def test_to_leave_the_terminal_stops_the_arm_and_says_so(endpoints, rig, leave):
    mark = rig.jog(left_y=-0.7)
    process = endpoints.processes["deck"]
    leave(process)
    told_still(rig, mark, "the terminal was left")
    latched(endpoints, "deck")
    assert process.wait(20.0) == 0
    assert rig.arbiter().estop_reason == "deck left", "its last word, not its disappearance"
    assert "left: the arm is stopped" in endpoints.output_path("deck").read_text()
    rig.wait(lambda: endpoints.status("deck").state == LAPSED, "its publisher is gone")
    assert not endpoints.reset().success
    stays_still(rig, "nobody at the terminal, stick still held")


def test_the_terminal_names_the_endpoints_when_its_own_is_unknown(endpoints, rig):
    command = [sys.executable, "-m", "reach_alpha5_arbiter.estop_client.cli", "dekc"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=rig.stack.environment,
        text=True,
    ) as process:
        assert process.wait(30.0) == 2
        assert "no e-stop endpoint 'dekc'; it has: bridge, deck" in process.stderr.read()
    assert not rig.arbiter().estop_latched, "a slip of the pen stops nothing"


class Played:
    """`bridge`, played by the test: what it answers is up to `answer`."""

    def __init__(self, endpoints):
        self._endpoints = endpoints
        node = endpoints.rig.client.node
        self._publisher = node.create_publisher(EStopCheckIn, "estop/bridge/check_in", 10)
        self.say = self._publisher.publish
        self.answer = self.right
        self.challenge = 0
        self._subscription = node.create_subscription(
            EStopChallenge, "estop/bridge/challenge", self._on_challenge, 1
        )

    def right(self, challenge):
        self.say(EStopCheckIn(challenge=challenge, response=challenge ^ ALL_ONES))

    def wrong(self, challenge):
        self.say(EStopCheckIn(challenge=challenge, response=challenge))

    def twice(self, challenge):
        self.right(challenge)
        self.right(challenge)

    def repeats(self, challenge):
        """Say what it said to the last challenge that it answered rightly, for ever."""
        self.say(EStopCheckIn(challenge=self.challenge, response=self.challenge ^ ALL_ONES))

    def _on_challenge(self, message):
        if self.answer == self.right:
            self.challenge = message.challenge
        self.answer(message.challenge)

    def vanish(self):
        if self._publisher is not None:
            self._endpoints.rig.client.node.destroy_publisher(self._publisher)
            self._publisher = None
            self.answer = lambda challenge: None

    def close(self):
        self.vanish()
        self._endpoints.rig.client.node.destroy_subscription(self._subscription)


@pytest.fixture
def played(endpoints):
    # In order, so that nothing of it remains in the middleware.
    endpoints.processes["bridge"].terminate()
    assert endpoints.processes["bridge"].wait(20.0) == 0
    endpoints.wait_for_state("bridge", LAPSED)
    made = Played(endpoints)
    endpoints.wait_for_state("bridge", CLEAR)
    endpoints.rig.settle()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("manner", "code"),
    [("wrong", "bad_response"), ("twice", "two_answers"), ("repeats", "stale_challenge")],
)
def test_answers_that_prove_nothing_stop_the_moving_arm(endpoints, rig, played, manner, code):
    refusals = endpoints.status("bridge").refusals
    mark = rig.jog(left_y=-0.7)
    played.answer = getattr(played, manner)
    told_still(rig, mark, manner)
    latched(endpoints, "bridge")
    assert endpoints.status("bridge").state == LAPSED
    rig.wait(lambda: endpoints.status("bridge").refusals > refusals, "refusals are counted")
    lasts = [rig.arbiter().last_refusal, *rig.arbiter().earlier_refusals]
    assert (code, "bridge") in [(last.code, last.source) for last in lasts]
    assert not endpoints.reset().success


@pytest.mark.parametrize("level", [1, 2, 200])
def test_rule1_an_objection_is_obeyed_even_if_it_answers_nothing(endpoints, rig, played, level):
    mark = rig.jog(left_y=-0.7)
    played.say(EStopCheckIn(challenge=1, response=1, level=level, reason="leak"))
    told_still(rig, mark, "objection")
    latched(endpoints, "bridge")
    assert rig.arbiter().estop_level == (1 if level == 1 else EStop.CUT)
    assert (rig.arbiter().estop_source, rig.arbiter().estop_reason) == ("endpoint bridge", "leak")
    stays_still(rig, "an objection, stick still held")


def test_rule7_an_endpoint_whose_publisher_disappears_stops_the_arm_without_a_timeout(
    endpoints, rig, played
):
    mark = rig.jog(left_y=-0.7)
    played.vanish()
    told_still(rig, mark, "its publisher disappeared")
    latched(endpoints, "bridge")
    assert "disappeared" in rig.arbiter().estop_reason, "and not: no answer in time"
