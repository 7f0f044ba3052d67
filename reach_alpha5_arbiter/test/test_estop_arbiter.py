"""E-stop endpoints and the arbiter's core: what they stop, and what it takes until it moves."""

from __future__ import annotations

import pytest

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.codes import StopCause
from reach_alpha5_arbiter.config import ArbiterConfig, SourceConfig
from reach_alpha5_arbiter.core import MotionArbiter
from reach_alpha5_arbiter.endpoint import EndpointConfig, EndpointState, answer_to
from reach_alpha5_common.command import STILL, Cartesian, CommandKind, GripperCommand, StopLevel

NONE, SETTLE, CUT = StopLevel
FORWARD = GripperCommand(arm_input=2, cartesian=Cartesian(x=0.5))
TICK = 0.05


class Ship:
    """The core, an arm that is ready, a pad, and endpoints that answer while they are told to."""

    def __init__(self, *endpoints: EndpointConfig) -> None:
        self.arbiter = MotionArbiter(
            ArbiterConfig((SourceConfig("pad", person=True),), endpoints=endpoints), session=9
        )
        self.now = 0.0
        self.level: dict[str, int | None] = dict.fromkeys((each.name for each in endpoints), NONE)
        """What each says with its answers; None = it is silent."""
        self.said: list[events.Output] = []

    def tell(self, event: events.Event) -> list[events.Output]:
        outputs = self.arbiter.handle(event, self.now)
        self.said += outputs
        for output in outputs:
            if isinstance(output, events.Challenge):
                level = self.level[output.endpoint]
                if level is not None:
                    self.check_in(output.endpoint, output.challenge, level)
        return outputs

    def check_in(self, name: str, challenge: int, level: int) -> None:
        response = answer_to(challenge)
        self.tell(events.CheckIn(name, challenge, response, level, f"{name} says so"))

    def run(self, seconds: float) -> None:
        """Let time pass, with an arm and a pad that are there."""
        for _ in range(round(seconds / TICK)):
            self.now += TICK
            self.tell(events.ArmReport(2, True, False, 0, 0, True))
            self.tell(events.JointFeedback(True))
            self.tell(events.Heartbeat("pad", "pad-1", True))
            self.tell(events.Tick())

    def push(self) -> None:
        """Let go of the pad, then push it."""
        self.tell(events.Command("pad", STILL, stamp=0, wall=0))
        self.tell(events.Command("pad", FORWARD, stamp=0, wall=0))

    def reset(self) -> events.Reply:
        (reply,) = (o for o in self.tell(events.Reset()) if isinstance(o, events.Reply))
        return reply

    def words(self, kind: CommandKind) -> list[events.Send]:
        sends = [o for o in self.said if isinstance(o, events.Send)]
        return [send for send in sends if send.command.kind is kind]

    def state_of(self, name: str) -> EndpointState:
        return self.arbiter.state.endpoints[name].state

    @property
    def seen(self) -> tuple[StopLevel, str, bool]:
        snapshot = self.arbiter.snapshot(self.now)
        return snapshot.estop_level, snapshot.estop_source, snapshot.permitted


DECK = EndpointConfig("deck", 1.0, SETTLE)
BRIDGE = EndpointConfig("bridge", 2.0, CUT)


@pytest.fixture
def under_way() -> Ship:
    """Two endpoints are clear, and the arm moves."""
    ship = Ship(DECK, BRIDGE)
    ship.run(1.0)
    assert ship.reset().success
    ship.push()
    assert ship.words(CommandKind.INPUT)
    assert ship.seen == (NONE, "", True)
    ship.said.clear()
    return ship


def test_a_new_arbiter_is_stopped_by_endpoints_that_are_awaited() -> None:
    ship = Ship(DECK, BRIDGE)
    ship.level = {"deck": None, "bridge": None}
    assert ship.seen == (CUT, "endpoint bridge", False)
    ship.run(5.0)
    ship.push()
    reply = ship.reset()
    assert (reply.success, reply.code) == (False, "endpoint_not_clear")
    assert "deck" in reply.message and "bridge" in reply.message
    ship.push()
    assert not ship.words(CommandKind.INPUT)


def test_an_arbiter_without_endpoints_waits_for_none() -> None:
    ship = Ship()
    ship.run(0.1)
    ship.push()
    assert ship.words(CommandKind.INPUT)


def test_to_check_in_and_to_reset_permits_motion_and_causes_none() -> None:
    ship = Ship(DECK, BRIDGE)
    ship.run(1.0)
    assert ship.seen[0] is CUT, "to be there is not to reset"
    ship.push()
    assert ship.reset().success
    ship.run(1.0)
    assert not ship.words(CommandKind.INPUT), "what was pushed before the reset"
    ship.tell(events.Command("pad", FORWARD, stamp=0, wall=0))
    assert not ship.words(CommandKind.INPUT), "not neutral since the reset"
    ship.push()
    assert ship.words(CommandKind.INPUT)


def test_each_endpoint_is_challenged_four_times_within_its_own_timeout(under_way: Ship) -> None:
    under_way.run(8.0)
    given = [o.endpoint for o in under_way.said if isinstance(o, events.Challenge)]
    assert given.count("deck") == pytest.approx(32, abs=7), "a tick late at most"
    assert given.count("bridge") == pytest.approx(16, abs=2)
    drawn = [o.challenge for o in under_way.said if isinstance(o, events.Challenge)]
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize("config", [DECK, BRIDGE])
def test_an_endpoint_that_falls_silent_stops_the_arm(
    under_way: Ship, config: EndpointConfig
) -> None:
    silent_since = under_way.now
    under_way.level[config.name] = None
    while not under_way.words(CommandKind.STOP):
        under_way.run(TICK)
    assert under_way.now <= silent_since + config.timeout + TICK
    (stop,) = under_way.words(CommandKind.STOP)
    assert (stop.cause, stop.command.stop_level) == (StopCause.ESTOP, config.lapse_level)
    assert under_way.seen == (config.lapse_level, f"endpoint {config.name}", False)
    under_way.level[config.name] = NONE
    under_way.run(1.0)
    assert under_way.state_of(config.name) is EndpointState.CLEAR
    under_way.push()
    assert len(under_way.words(CommandKind.STOP)) == 1
    assert under_way.seen == (config.lapse_level, f"endpoint {config.name}", False)


def test_rule7_an_endpoint_that_is_gone_stops_the_arm_at_once(under_way: Ship) -> None:
    outputs = under_way.tell(events.EndpointGone("bridge"))
    stops = [o for o in outputs if isinstance(o, events.Send)]
    assert [(s.command.kind, s.command.stop_level) for s in stops] == [(CommandKind.STOP, CUT)]


def test_the_most_restrictive_of_all_objections_counts_until_the_reset(under_way: Ship) -> None:
    under_way.level["deck"] = SETTLE
    under_way.run(1.0)
    assert under_way.seen == (SETTLE, "endpoint deck", False)
    under_way.level["bridge"] = CUT
    under_way.run(1.0)
    assert under_way.seen == (CUT, "endpoint bridge", False)
    assert [s.command.stop_level for s in under_way.words(CommandKind.STOP)] == [SETTLE, CUT]
    under_way.level["bridge"] = NONE
    under_way.run(1.0)
    assert under_way.seen == (CUT, "endpoint bridge", False)
    assert under_way.reset().code == "endpoint_not_clear", "deck objects still"
    under_way.level["deck"] = NONE
    under_way.run(1.0)
    assert under_way.reset().success
    assert under_way.seen == (NONE, "", True)


def test_an_objection_is_said_to_the_driver_at_once_and_not_with_every_answer(
    under_way: Ship,
) -> None:
    under_way.check_in("deck", 0, CUT)
    assert len(under_way.words(CommandKind.STOP)) == 1
    under_way.level["deck"] = CUT
    under_way.run(5.0)
    assert len(under_way.words(CommandKind.STOP)) == 1


def test_a_wrong_answer_is_refused_in_the_name_of_its_endpoint(under_way: Ship) -> None:
    outputs = under_way.tell(events.CheckIn("deck", 1, 2, NONE, ""))
    (refused,) = (o.refusal for o in outputs if isinstance(o, events.Refused))
    assert (refused.code, refused.source) == ("stale_challenge", "deck")


@pytest.mark.parametrize(
    "event", [events.CheckIn("dekc", 1, 2, CUT, ""), events.EndpointGone("dekc")]
)
def test_who_is_no_endpoint_is_refused(under_way: Ship, event: events.Event) -> None:
    outputs = under_way.tell(event)
    (refused,) = (o.refusal for o in outputs if isinstance(o, events.Refused))
    assert refused.code == "unknown_endpoint"


def test_a_relay_may_close_only_while_no_latch_stands_and_all_endpoints_are_clear(
    under_way: Ship,
) -> None:
    under_way.tell(events.EStopPress(SETTLE, "diver", ""))
    assert not under_way.seen[2], "an e-stop"
    under_way.reset()
    assert under_way.seen[2]
    under_way.tell(events.EndpointGone("deck"))
    assert not under_way.seen[2], "an endpoint"
    under_way.run(1.0)
    assert under_way.state_of("deck") is EndpointState.CLEAR
    assert not under_way.seen[2], "the latch that it has left"
    under_way.reset()
    under_way.tell(events.ArmReport(4, True, False, 0, 0, True))
    assert not under_way.seen[2], "a fault"
