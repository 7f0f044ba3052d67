"""Whatever a pad, the arbiter and time do: what must hold of every command."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.core import ArbiterView, TeleopConfig, TeleopCore
from reach_alpha5_teleop.outputs import EStopPressed, Heartbeat, Publish
from reach_alpha5_teleop.pad import JoyFrame

PROFILE = profiles.find("xbox_game_controller")
AXES, BUTTONS = 6, 15

VALUES = st.sampled_from([0.0, 1.0, -1.0, 0.5, -0.05]) | st.floats(width=32)
FRAMES = st.builds(
    JoyFrame,
    st.lists(VALUES, min_size=AXES, max_size=AXES) | st.lists(VALUES, max_size=12),
    st.lists(st.integers(0, 1), min_size=BUTTONS, max_size=BUTTONS)
    | st.lists(st.integers(-(2**31), 2**31 - 1), max_size=25),
    st.integers(0, 3) | st.integers(),
)
VIEWS = st.builds(
    ArbiterView,
    owner=st.sampled_from(["", "teleop", "app"]),
    estop=st.booleans(),
    fault=st.booleans(),
    neutral_required=st.booleans(),
)
EVENTS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.02, 0.3, 0.6]), FRAMES | VIEWS | st.sampled_from("tg")),
    max_size=60,
)


class Watch:
    """Feeds a core and checks each answer against the frames alone."""

    def __init__(self) -> None:
        self.core = TeleopCore(PROFILE, TeleopConfig())
        self.now = 0.0
        self.moving = False
        self.moved = 0
        self.before: JoyFrame | None = None
        self.latched = False

    def feed(self, pause: float, event: JoyFrame | ArbiterView | str) -> None:
        self.now += pause
        if isinstance(event, JoyFrame):
            out = self.core.on_joy(event, self.now)
        elif isinstance(event, ArbiterView):
            self.latched = event.latched
            out = self.core.on_arbiter(event, self.now)
        elif event == "t":
            out = self.core.tick(self.now)
        else:
            out = self.core.on_pad_gone(self.now)
        for output in out:
            if isinstance(output, Publish):
                self.check(output, event)
        if Heartbeat(False) in out[-1:]:
            assert not self.core.present
        if isinstance(event, str | ArbiterView) or self.refused(event):
            assert not any(isinstance(o, Publish) and not o.command.is_neutral for o in out)
        if self.refused(event):
            assert not self.moving, "a refused frame leaves nothing moving"
        if isinstance(event, JoyFrame) and any(isinstance(o, EStopPressed) for o in out):
            assert not self.moving
        if isinstance(event, JoyFrame):
            self.before = None if self.refused(event) else event

    def armed_by(self, push: JoyFrame) -> bool:
        """Say whether a push moves the arm now."""
        self.feed(0.02, push)
        return self.moving

    def check(self, output: Publish, event: object) -> None:
        command = output.command
        assert command.problem() is None
        self.moving = not command.is_neutral
        if command.is_neutral:
            return
        self.moved += 1
        assert isinstance(event, JoyFrame)
        assert event.buttons[PROFILE.buttons["deadman"]] == 1
        assert event.buttons[PROFILE.buttons["estop"]] == 0
        assert 0.0 < command.lifetime <= 0.5
        assert not self.latched
        assert self.before is not None, "one valid frame alone moves nothing"
        if command.gripper_velocities.grip:
            assert self.held(event) & self.held(self.before), "nor does one press"

    @staticmethod
    def held(frame: JoyFrame) -> set[str]:
        """Return which buttons of the jaws a frame shows held."""
        return {
            name for name in ("jaws_open", "jaws_close") if frame.buttons[PROFILE.buttons[name]]
        }

    @staticmethod
    def refused(event: object) -> bool:
        """Say whether it is a frame that breaks a rule which needs no memory."""
        return isinstance(event, JoyFrame) and not (
            len(event.axes) == AXES
            and len(event.buttons) in (15, 21)
            and all(abs(value) <= 1.0 + 1e-6 for value in event.axes)
            and all(button in (0, 1) for button in event.buttons)
        )


@settings(max_examples=300)
@given(EVENTS)
def test_any_stream_moves_only_with_the_deadman_and_in_range(events):
    watch = Watch()
    for pause, event in events:
        watch.feed(pause, event)
    watch.feed(0.6, "t")
    assert not watch.moving, "silence leaves nothing moving"


@pytest.mark.parametrize("seed", range(3))
def test_lively_pilot_with_a_bad_cable_moves_the_arm_and_only_rightly(seed):
    """Random like a person's: controls change one at a time, so that motion does happen."""
    chance = random.Random(seed)
    watch = Watch()
    axes, buttons = [0.0] * AXES, [0] * BUTTONS
    for step in range(20_000):
        if chance.random() < 0.1:
            axes[chance.randrange(AXES)] = chance.choice([0.0, 0.0, chance.uniform(-1.0, 1.0)])
        if chance.random() < 0.05:
            # The deadman more often than the others.
            index = chance.choice([chance.randrange(BUTTONS), PROFILE.buttons["deadman"]])
            buttons[index] = 1 - buttons[index]
        frame = JoyFrame(list(axes), list(buttons), step)
        if chance.random() < 0.01:
            frame = JoyFrame(axes[: chance.randrange(AXES)], buttons, step)
        if chance.random() < 0.01:
            view = ArbiterView(
                chance.choice(["", "teleop", "app"]), neutral_required=chance.random() < 0.5
            )
            watch.feed(0.0, view)
        watch.feed(0.7 if chance.random() < 0.002 else 0.02, frame)
    assert watch.moved > 100, "else this shows nothing"


@pytest.mark.parametrize("seed", range(3))
def test_U3_wild_frames_between_those_of_a_pad_at_rest_never_move_anything(seed):
    """Whatever they hold, as long as no two come in a row; the deadman is held throughout."""
    chance = random.Random(seed)
    watch = Watch()
    calm = [0] * BUTTONS
    for step in range(10_000):
        calm[PROFILE.buttons["deadman"]] = int(step > 20)
        watch.feed(0.02, JoyFrame([0.0] * AXES, list(calm), 2 * step))
        if step > 30 and chance.random() < 0.3:
            axes = [chance.choice([0.0, 1.0, -1.0, chance.choice([1, -1]) * 0.7])] * AXES
            buttons = [
                button or int(chance.random() < 0.2 and index != PROFILE.buttons["estop"])
                for index, button in enumerate(calm)
            ]
            watch.feed(0.005, JoyFrame(axes, buttons, 2 * step + 1))
    assert watch.moved == 0
    assert watch.armed_by(JoyFrame([0.0, 0.5, 0.0, 0.0, 0.0, 0.0], calm, 20_000))
