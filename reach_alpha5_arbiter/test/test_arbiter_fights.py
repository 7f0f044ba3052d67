"""Fights over DDS: for the lease, with clocks, floods and flapping links, and a held-up arbiter.

What is judged is what reaches the driver. Each source asks for a direction of its own, so that it
can be seen whose a motion is.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, pairwise
from pathlib import Path
from statistics import median, quantiles

import pytest
from arbiter_fights_afar import Afar
from arbiter_fights_rig import (
    DIRECTIONS,
    PRESSES,
    STALLS,
    Peers,
    Rig,
    environment,
    motion,
    rig,
    strangers_motion,
    until,
)
from sensor_msgs.msg import Joy

from reach_alpha5_common.messages import gripper_command, nanoseconds, seconds
from reach_alpha5_msgs.msg import ArbiterState, DriverCommand, GripperCtrl

HERE = Path(__file__).parent
HOUR = 3600
DAY = 24 * HOUR
NANO = 1_000_000_000

ROUNDS = 40
"""In which each of two that fight takes the lease once."""

FLOODS = 8
"""As many rounds without a flood alternate with as many during one."""

SAMPLES = 40
"""Latencies that are taken in each round."""

SLOWER = {"median": 2.5, "90 %": 4.0}
"""How much slower the owner's commands may be during a flood: the executor takes one message of
each topic in turn, so that a command waits for one message of the flood at most."""


@pytest.fixture(scope="module")
def shared() -> Iterator[Rig]:
    with rig() as made:
        yield made


@pytest.fixture
def peers(shared: Rig) -> Iterator[Peers]:
    """The peers of the shared arbiter, all quiet."""
    yield shared.peers
    shared.peers.leave()


class Clock:
    """The wall clock of an arbiter."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "offset"
        self.set(0)

    def set(self, ahead: int) -> None:
        """Set it to so many seconds ahead of the true time."""
        new = self.file.with_suffix(".new")
        new.write_text(str(ahead))
        new.replace(self.file)


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Clock:
    return Clock(tmp_path_factory.mktemp("clock"))


@pytest.fixture(scope="module")
def clocked(clock: Clock) -> Iterator[Rig]:
    """An arbiter whose wall clock can be set."""
    with rig(
        (str(HERE / "arbiter_fights_clock.py"), str(clock.file)), command_lifetime=0.5
    ) as made:
        yield made


@pytest.fixture
def clocked_peers(clocked: Rig, clock: Clock) -> Iterator[Peers]:
    yield clocked.peers
    clock.set(0)
    clocked.peers.leave()


# ---- the lease ----------------------------------------------------------------------------------


def test_rule4_U16_two_that_fight_for_the_lease_never_move_the_arm_both(peers: Peers) -> None:
    names = ("teleop", "app")
    for name in names:
        peers.arm_source(name)
    heard, told = len(peers.heard), len(peers.states)
    before = {name: peers.status(name).refusals for name in names}
    counted = {name: peers.all_refused(name) for name in names}
    epochs: dict[int, str] = {}
    peers.pushing.update(names)
    for name in names * ROUNDS:
        # Each takes it, lets go as it must, and moves the arm, while the other goes on pushing.
        answer = peers.take(name)
        assert (answer.success, answer.owner) == (True, name)
        assert epochs.setdefault(answer.lease_epoch, name) == name
        since = len(peers.heard)
        until(
            lambda n=name, s=since: moves(peers, n, s) or peers.let_go(n), f"{name} moves the arm"
        )
    peers.pushing.clear()
    for name in names:
        peers.let_go(name)
    until(lambda: peers.state.activity == ArbiterState.STILL, "it is over")

    states, words = peers.states[told - 1 :], peers.heard[heard:]
    for state in states:
        if state.owner:
            assert epochs.setdefault(state.lease_epoch, state.owner) == state.owner
    wrong, right = strangers_motion(states, words)
    assert wrong == []
    assert min(right[name] for name in names) > ROUNDS / 2  # as a rule, of each round some
    # The same without the states: between the motion of one and of the other the arm is stopped.
    for one, next_one in pairwise(words):
        assert motion(next_one) in (0.0, motion(one)) or motion(one) == 0.0
    # Two counters, of the source and of the codes, agree on how many were refused.
    for name in names:
        until(
            lambda n=name: (
                peers.all_refused(n) - counted[n] == peers.status(n).refusals - before[n]
            ),
            f"the refusals of {name} are counted by their codes",
        )
        assert peers.all_refused(name) >= counted[name] + ROUNDS


def stopped_for(peers: Peers, cause: str) -> bool:
    """Say why the arm was stopped last; an arbiter that the machine held up did so before."""
    return peers.state.last_stop_cause in (cause, "lapsed")


def moves(peers: Peers, name: str, since: int) -> bool:
    """Say whether a source has moved the arm since a place in what the driver heard."""
    return any(motion(word) == DIRECTIONS[name] for word in peers.heard[since:])


def after_the_stop(peers: Peers, since: int) -> list[float]:
    """Return which way the words after the first stop since a place move the arm."""
    until(lambda: DriverCommand.STOP in [w.kind for w in peers.heard[since:]], "the stop")
    kinds = [word.kind for word in peers.heard[since:]]
    return [motion(word) for word in peers.heard[since + kinds.index(DriverCommand.STOP) :]]


def test_rule3_rule4_who_takes_the_lease_in_mid_jog_stops_the_arm_and_starts_from_neutral(
    peers: Peers,
) -> None:
    peers.arm_source("app")
    since = peers.jog("teleop")
    peers.pushing.add("teleop")
    assert peers.take("app").success
    assert stopped_for(peers, "lease_taken")
    early = peers.refused_again("app", "neutral_required")
    late = peers.refused_again("teleop", "not_owner")
    peers.pushing.add("app")
    until(early, "it pushes before it has let go")
    # What the one before goes on saying, and what of it was on its way, moves nothing.
    until(late, "the one before is refused")
    assert not any(after_the_stop(peers, since))
    until(
        lambda: moves(peers, "app", since) or peers.let_go("app"),
        "it moves the arm after its neutral",
    )
    assert set(after_the_stop(peers, since)) == {0.0, DIRECTIONS["app"]}


# ---- heartbeats ---------------------------------------------------------------------------------


def test_rule3_rule7_a_presence_that_flaps_stops_the_arm_each_time(peers: Peers) -> None:
    for _ in range(3):
        since = peers.jog("teleop")
        peers.pushing.add("teleop")
        refused = peers.refused_again("teleop", "neutral_required")
        for _ in range(10):
            peers.beat("teleop", present=False)
            peers.beat("teleop", present=True)
        until(refused, "it pushes on, and is refused")
        assert not any(after_the_stop(peers, since))
        assert stopped_for(peers, "source_gone")
        peers.pushing.clear()


def test_rule3_U1_heartbeats_about_as_late_as_they_may_be_never_resume_a_motion(
    peers: Peers,
) -> None:
    timeout = STALLS["teleop.heartbeat_timeout"]
    losses = 0
    for share in (0.9, 1.0, 1.0, 1.1):
        since = peers.jog("teleop")
        peers.pushing.add("teleop")
        peers.beating.clear()
        peers.beat("teleop")
        late = time.monotonic() + share * timeout
        until(lambda late=late: time.monotonic() >= late, "the silence")
        peers.beating.add("teleop")
        commands = peers.status("teleop").commands
        until(lambda c=commands: peers.status("teleop").commands > c + 5, "it pushes on")
        until(lambda: peers.status("teleop").present, "it is back")
        if DriverCommand.STOP in [word.kind for word in peers.heard[since:]]:
            losses += 1
            until(peers.refused_again("teleop", "neutral_required"), "neutral first")
            assert not any(after_the_stop(peers, since))
        peers.pushing.clear()
    assert losses


# ---- two clients --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["heartbeat", "command"])
def test_rule4_a_second_client_of_a_source_stops_the_arm_until_one_of_them_is_silent(
    peers: Peers, way: str
) -> None:
    other = peers.another_writer("teleop")
    until(other.get_subscription_count, "the second writer is known")
    since = peers.jog("teleop")
    peers.pushing.add("teleop")

    def speak() -> None:
        # It asks for the very same: it is one too many whatever it says.
        if way == "heartbeat":
            peers.beat("teleop", client="2")
        else:
            other.publish(peers.command("teleop", DIRECTIONS["teleop"]))

    refused = peers.refused_again("teleop", "two_clients", 5)
    until(lambda: speak() or peers.status("teleop").clients == 2, "two are reported")
    until(lambda: speak() or refused(), "both are refused")
    assert stopped_for(peers, "two_clients")
    assert peers.state.owner == ""
    until(lambda: peers.status("teleop").clients == 1, "one of them is silent")
    until(peers.refused_again("teleop", "neutral_required"), "neutral first")
    assert not any(after_the_stop(peers, since))
    peers.pushing.clear()
    peers.jog("teleop")
    peers.destroy_publisher(other)


# ---- clocks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [HOUR, -HOUR], ids=["forward", "back"])
def test_rule6_a_clock_of_the_arbiter_that_is_set_in_mid_jog_prolongs_no_motion(
    clocked_peers: Peers, clock: Clock, ahead: int
) -> None:
    peers = clocked_peers

    def tells_the_time_of_the_clock() -> bool:
        now = peers.get_clock().now().nanoseconds
        told = nanoseconds(peers.inputs()[-1].header.stamp)
        return abs((told - now) / NANO - ahead) < HOUR / 2

    causes = {
        # For the arbiter a release comes from the future when its own clock was set back.
        "release": "neutral" if ahead > 0 else "command_refused",
        "lifetime": "lifetime_ended",
        "silence": "source_silent",
    }
    for way, cause in causes.items():
        # What stands goes on: it is as old as it is, whatever the clock says.
        for _ in range(PRESSES):
            clock.set(0)
            since = peers.jog("teleop", lifetime=2.0 if way == "lifetime" else 0.0)
            stops = peers.state.stops
            clock.set(ahead)
            until(
                lambda s=stops: tells_the_time_of_the_clock() or peers.state.stops > s,
                "motion goes on, and is stamped by the new time",
            )
            if peers.state.stops == stops:
                break
        if way == "release":
            peers.let_go("teleop")
        elif way == "silence":
            peers.beating.clear()
        until(lambda s=stops: peers.state.stops > s, f"the end by {way}")
        assert stopped_for(peers, cause)
        assert not any(after_the_stop(peers, since))


@pytest.fixture
def afar(peers: Peers, tmp_path: Path) -> Iterator[Afar]:
    """The teleop as a process on a machine whose clock can be set; it is right at first."""
    made = Afar(peers.get_namespace(), "teleop", tmp_path, environment(), 0)
    peers.afar["teleop"] = made
    yield made
    peers.leave()
    del peers.afar["teleop"]
    made.close()


@pytest.mark.parametrize("ahead", [HOUR, -HOUR], ids=["forward", "back"])
def test_rule6_U6_a_sender_whose_clock_is_set_in_mid_jog_stops_the_arm_and_can_go_on(
    peers: Peers, afar: Afar, ahead: int
) -> None:
    since = peers.jog("teleop")
    code = "future_stamp" if ahead > 0 else "stale_stamp"
    refused = peers.refused_again("teleop", code)
    afar.set(ahead)
    peers.pushing.add("teleop")
    until(refused, code)
    assert not any(after_the_stop(peers, since))
    assert stopped_for(peers, "command_refused")
    peers.pushing.clear()
    if ahead > 0:
        # Nothing of it is remembered: with the right time it is as before.
        afar.set(0)
    else:
        # Its first neutral is refused too, and restarts the order.
        refused = peers.refused_again("teleop", code, 1)
        peers.let_go("teleop")
        until(refused, "the first neutral is stale")
    peers.jog("teleop")


def test_rule6_U6_a_clock_that_is_a_day_behind_works_and_times_out_as_any_other(
    peers: Peers, afar: Afar
) -> None:
    afar.set(-DAY)
    peers.jog("teleop", lifetime=2.0)
    until(lambda: stopped_for(peers, "lifetime_ended"), "its lifetime ends")
    since = peers.jog("teleop")
    peers.beating.clear()
    assert not any(after_the_stop(peers, since))
    until(lambda: stopped_for(peers, "source_silent"), "its heartbeat ends")


def test_rule6_a_clock_that_is_a_day_ahead_moves_nothing(peers: Peers, afar: Afar) -> None:
    afar.set(DAY)
    peers.beating.add("teleop")
    until(lambda: peers.status("teleop").present, "it is heard")
    since, refused = len(peers.heard), peers.refused_again("teleop", "future_stamp")
    peers.let_go("teleop")
    peers.pushing.add("teleop")
    until(refused, "future_stamp")
    assert peers.inputs(since) == []
    assert peers.status("teleop").neutral_required


@pytest.mark.parametrize("ahead", [DAY, -DAY, -2], ids=["future", "yesterday", "just now"])
def test_rule3_a_stamp_that_is_wrong_alone_is_refused_as_said_again(
    peers: Peers, ahead: int
) -> None:
    since = peers.jog("teleop")
    refused = peers.refused_again("teleop", "replayed")
    peers.ahead["teleop"] = ahead
    peers.pushing.add("teleop")
    until(refused, "replayed")
    assert not any(after_the_stop(peers, since))
    assert stopped_for(peers, "command_refused")
    # A neutral of that kind arms nobody either.
    peers.pushing.clear()
    refused = peers.refused_again("teleop", "replayed", 1)
    peers.let_go("teleop")
    until(refused, "its neutral is refused")
    assert peers.status("teleop").neutral_required
    peers.ahead["teleop"] = 0
    peers.jog("teleop")


# ---- an arbiter that is held up, or killed ------------------------------------------------------


def held_up(shared: Rig, pause: float, meanwhile: Callable[[], object]) -> int:
    """Stop the arbiter's process for a while [s], and do something meanwhile.

    Returns how much the driver had heard before it went on.
    """
    peers, process = shared.peers, shared.process
    assert process is not None
    heard = len(peers.heard)
    # Not while it is about to say something.
    until(lambda: len(peers.heard) > heard, "it says something")
    process.send_signal(signal.SIGSTOP)
    try:
        meanwhile()
        over = time.monotonic() + pause
        until(lambda: time.monotonic() >= over, "the pause")
        return len(peers.heard)
    finally:
        process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("stick", ["let go", "held"])
def test_rule3_what_waited_for_an_arbiter_that_was_held_up_moves_nothing(
    shared: Rig, peers: Peers, stick: str
) -> None:
    for _ in range(PRESSES):
        peers.jog("teleop")
        if stick == "held":
            peers.pushing.add("teleop")
        refused = peers.refused_again("teleop", "neutral_required")
        since = held_up(shared, 0.4, lambda: stick == "held" or peers.let_go("teleop"))
        assert after_the_stop(peers, since) is not None
        if stick == "held":
            until(refused, "it is refused until it lets go")
        assert peers.inputs(since) == []
        peers.pushing.clear()
        # Had the machine stalled as well, another time-out may have been the first.
        if peers.state.last_stop_cause == "lapsed":
            break
    else:
        raise AssertionError("held up for longer each time")
    peers.jog("teleop")


def test_rule3_an_arbiter_that_is_killed_and_started_again_moves_nothing_before_a_neutral() -> (
    None
):
    with rig() as own:
        peers = own.peers
        assert own.process is not None
        peers.jog("teleop")
        peers.pushing.add("teleop")
        own.process.kill()
        own.process.wait()
        # Nothing that it has said lasts: the driver stops by itself.
        assert all(0.0 < seconds(word.lifetime) <= 0.25 for word in peers.inputs())
        peers.forget()
        own.start()
        until(peers.refused_again("teleop", "neutral_required"), "it pushes on, and is refused")
        until(lambda: peers.heard, "the new one says something")
        assert [(w.sequence, w.kind) for w in peers.heard] == [(1, DriverCommand.STOP)]
        until(
            lambda: moves(peers, "teleop", 0) or peers.let_go("teleop"),
            "it moves the arm after its neutral",
        )


# ---- a pad with a glitch ------------------------------------------------------------------------


class Pilot:
    """A pad that publishes at 50 Hz, and the teleop node that reads it."""

    DEADMAN = 9

    def __init__(self, peers: Peers) -> None:
        self.deadman = False
        self.next: list[Joy] = []
        """What is published before what the hands do."""
        self.frames = 0
        self.said: list[GripperCtrl] = []
        self._node = peers
        self._joy = peers.create_publisher(Joy, "joy", 10)
        peers.create_subscription(GripperCtrl, "teleop/gripper_ctrl", self.said.append, 1000)
        peers.create_timer(0.02, self._publish)
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "reach_alpha5_teleop.node", "--ros-args"),
                *("-r", f"__ns:={peers.get_namespace()}"),
            ],
            env=environment(),
        )

    def frame(self, deadman: bool, axes: float = 0.0) -> Joy:
        """Return a frame with all sticks at one value."""
        frame = Joy(axes=[axes] * 4 + [0.0] * 2, buttons=[0] * 15)
        frame.buttons[self.DEADMAN] = int(deadman)
        return frame

    def _publish(self) -> None:
        frame = self.next.pop(0) if self.next else self.frame(self.deadman)
        frame.header.stamp = self._node.get_clock().now().to_msg()
        self._joy.publish(frame)
        self.frames += 1

    def hold(self, deadman: bool) -> None:
        """Hold the deadman or let go of it, for some frames."""
        self.deadman = deadman
        self.wait()

    def glitch(self, deadman: bool) -> None:
        """Let one frame show all sticks at full scale, and some more what is true."""
        self.next.append(self.frame(deadman, 1.0))
        self.wait()

    def wait(self) -> None:
        seen = self.frames
        until(lambda: self.frames > seen + 10, "frames of the pad")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def pilot(peers: Peers) -> Iterator[Pilot]:
    made = Pilot(peers)
    try:
        until(lambda: peers.status("teleop").present, "the pad is there")
        yield made
    finally:
        made.close()


def test_U3_a_glitch_to_full_scale_moves_nothing_with_the_deadman_or_without(
    peers: Peers, pilot: Pilot
) -> None:
    """One frame that is wrong but valid is not believed; what the next one says as well is."""
    since = len(peers.heard)
    pilot.hold(deadman=False)
    pilot.glitch(deadman=False)
    pilot.glitch(deadman=True)
    pilot.hold(deadman=True)
    for _ in range(PRESSES):
        pilot.glitch(deadman=True)
    assert all(gripper_command(command).is_neutral for command in pilot.said)
    assert peers.inputs(since) == []

    def push() -> bool:
        """On a machine that stalls the pad is absent in between, so more than once."""
        pilot.hold(deadman=False)
        pilot.hold(deadman=True)
        pilot.next += [pilot.frame(True, 1.0) for _ in range(3)]
        pilot.wait()
        return peers.inputs(since) != []

    until(push, "two in a row are a push")
    until(lambda: peers.state.activity == ArbiterState.STILL, "it is over")


# ---- a flood ------------------------------------------------------------------------------------


class Flooder:
    """A process that says one thing on a topic 10 000 times a second, or as often as it can."""

    RATE = 10_000.0

    def __init__(self, namespace: str, topic: str, kind: str) -> None:
        script = str(HERE / "arbiter_fights_flooder.py")
        self.sent = 0
        self.time = 0.0
        self.process = subprocess.Popen(
            [sys.executable, script, namespace, str(self.RATE), topic, kind],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._line() == ["ready"]

    def _line(self) -> list[str]:
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()

    def _say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    @contextmanager
    def flood(self) -> Iterator[None]:
        self._say("go")
        yield
        self._say("pause")
        sent, took = self._line()
        self.sent += int(sent)
        self.time += float(took)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class Probe:
    """How long it takes from a command of the owner to the word that the driver hears."""

    def __init__(self, peers: Peers, name: str) -> None:
        self._peers = peers
        self._name = name
        self._arrived = threading.Event()
        self._awaited = self._at = 0.0
        peers.create_subscription(DriverCommand, "driver_command", self._on_command, 1000)

    def _on_command(self, word: DriverCommand) -> None:
        if motion(word) == self._awaited and not self._arrived.is_set():
            self._at = time.monotonic()
            self._arrived.set()

    def latencies(self, number: int) -> list[float]:
        """Return them [s], one after the other; each command asks for another speed."""
        taken: list[float] = []
        for share in cycle(0.2 + n / (2 * number) for n in range(number)):
            self._arrived.clear()
            self._awaited = DIRECTIONS[self._name] * share
            began = time.monotonic()
            self._peers.say(self._name, share)
            if self._arrived.wait(2.0):
                taken.append(self._at - began)
            else:  # the machine has stalled, and the arm is stopped
                self._peers.jog(self._name)
            if len(taken) == number:
                return taken
        raise AssertionError


@pytest.mark.parametrize("kind", ["command", "heartbeat"])
def test_U16_a_flood_of_another_source_does_not_hold_up_the_commands_of_the_owner(
    peers: Peers, kind: str, record_property: Callable[[str, object], None]
) -> None:
    topic = {"command": "app/gripper_ctrl", "heartbeat": "app/heartbeat"}[kind]
    peers.jog("teleop")
    if kind == "command":
        peers.beating.add("app")
    probe, flooder = Probe(peers, "teleop"), Flooder(peers.get_namespace(), topic, kind)
    quiet: list[float] = []
    flooded: list[float] = []
    try:
        probe.latencies(SAMPLES)  # the first ones take longer
        for _ in range(FLOODS):
            quiet += probe.latencies(SAMPLES)
            refused = peers.all_refused("app")
            with flooder.flood():
                until(lambda: peers.status("app").present, "the flood or its heartbeat is heard")
                if kind == "command":
                    until(lambda r=refused: peers.all_refused("app") > r, "the flood")
                flooded += probe.latencies(SAMPLES)
    finally:
        flooder.close()
    record_property("flood [Hz]", flooder.sent / flooder.time)
    ratios = {
        "median": median(flooded) / median(quiet),
        "90 %": quantiles(flooded, n=10)[-1] / quantiles(quiet, n=10)[-1],
    }
    record_property("slower", ratios)
    assert flooder.sent > 10 * len(flooded)
    assert all(ratios[each] < SLOWER[each] for each in SLOWER), ratios
    assert peers.inputs()[-1].input.cartesian.x * DIRECTIONS["teleop"] > 0.0
