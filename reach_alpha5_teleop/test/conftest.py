"""A pilot with a pad, for the tests of the pure modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import yaml
from hypothesis import settings

from reach_alpha5_common.command import GripperCommand
from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.core import ArbiterView, TeleopConfig, TeleopCore
from reach_alpha5_teleop.outputs import Output, Publish
from reach_alpha5_teleop.pad import JoyFrame
from reach_alpha5_teleop.profile import Profile, load

# No example is timed: the machine may be busy with something else.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

PERIOD = 0.02
"""Time [s] between two frames of the pilot's pad."""

CONNECTING = 15
"""Frames after which a pad that nobody touches is known."""


class Pilot:
    """Moves the controls of a pad by the names of its profile and feeds a core with the frames."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.core = TeleopCore(profile, TeleopConfig())
        self.now = 100.0
        self.values = dict.fromkeys(profile.axes, 0.0)
        self.held: set[str] = set()

    def frame(self) -> JoyFrame:
        """Return what the joystick driver publishes for the controls as they are."""
        axes = [0.0] * min(self.profile.axis_counts)
        for name, spec in self.profile.axes.items():
            away = -self.values[name] if spec.invert else self.values[name]
            axes[spec.index] = spec.rest + away * (
                1.0 - spec.rest if away > 0 else 1.0 + spec.rest
            )
        buttons = [0] * min(self.profile.button_counts)
        for name in self.held:
            buttons[self.profile.buttons[name]] = 1
        return JoyFrame(axes, buttons, round(self.now * 1e9))

    def send(self, frame: JoyFrame) -> list[Output]:
        self.now += PERIOD
        return self.core.on_joy(frame, self.now)

    def move(self, **values: float) -> list[Output]:
        """Move axes to the values as a hand does, and return what comes of the last frame.

        What goes far away from rest is seen half way there, so that it is no jump.
        """
        if any(abs(value) - abs(self.values[name]) > 0.5 for name, value in values.items()):
            half = {name: (value + self.values[name]) / 2.0 for name, value in values.items()}
            self.jump(**half)
        return self.jump(**values)

    def let_go(self, *axes: str) -> list[Output]:
        """Let axes spring back, for two frames: one alone does not count as rest."""
        self.values.update(dict.fromkeys(axes, 0.0))
        return self.hold(2)

    def jump(self, **values: float) -> list[Output]:
        """Have axes read the values from one frame to the next."""
        self.values.update(values)
        return self.send(self.frame())

    def hold(self, frames: int) -> list[Output]:
        """Keep everything where it is for so many frames."""
        return [output for _ in range(frames) for output in self.send(self.frame())]

    def press(self, *buttons: str) -> list[Output]:
        """Hold buttons down for two frames: the first is not believed of most of them."""
        self.held.update(buttons)
        return self.hold(2)

    def flash(self, *buttons: str) -> list[Output]:
        """Hold buttons down for one frame only, and let them go."""
        self.held.update(buttons)
        return self.hold(1) + self.release(*buttons)

    def release(self, *buttons: str) -> list[Output]:
        """Let buttons go, for two frames."""
        self.held.difference_update(buttons)
        return self.hold(2)

    def tap(self, button: str) -> list[Output]:
        return self.press(button) + self.release(button)

    def settle(self) -> list[Output]:
        """Touch nothing that moves, for as long as a new pad needs until its rests are known."""
        self.values = dict.fromkeys(self.values, 0.0)
        return self.hold(CONNECTING)

    def connect(self) -> Pilot:
        """Bring the pad in, untouched."""
        self.settle()
        return self

    def arm(self) -> Pilot:
        """Bring the pad in and hold the deadman."""
        self.connect().press("deadman")
        return self

    def wait(self, seconds: float) -> list[Output]:
        """Let time pass in ticks, the pad silent."""
        out = []
        for _ in range(round(seconds / 0.01)):
            self.now += 0.01
            out += self.core.tick(self.now)
        return out

    def hear(self, **view: object) -> list[Output]:
        """Let the arbiter say something."""
        return self.core.on_arbiter(ArbiterView(**view), self.now)


def commands(outputs: list[Output]) -> list[GripperCommand]:
    """Return the commands among the outputs."""
    return [output.command for output in outputs if isinstance(output, Publish)]


@pytest.fixture
def pilot() -> Pilot:
    return Pilot(profiles.find("xbox_game_controller"))


@pytest.fixture
def pilot_with() -> Callable[..., Pilot]:
    """Return a function that makes a pilot whose pad has some sections of its profile replaced."""

    def make(*, buttons: Mapping[str, int] | None = None, **sections: object) -> Pilot:
        text = (profiles.folder() / "xbox_game_controller.yaml").read_text()
        data = {**yaml.safe_load(text), **sections}
        data["buttons"] |= buttons or {}
        return Pilot(load(yaml.safe_dump(data)))

    return make


@pytest.fixture(params=profiles.names())
def any_pilot(request: pytest.FixtureRequest) -> Pilot:
    """One pilot for each profile that comes with the package."""
    return Pilot(profiles.find(request.param))


@pytest.fixture(name="commands")
def _commands():
    return commands
