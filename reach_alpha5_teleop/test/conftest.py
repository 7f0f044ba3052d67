"""A pilot with a pad, for the tests of the pure modules."""

from __future__ import annotations

import pytest
from hypothesis import settings

from reach_alpha5_common.command import GripperCommand
from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.core import ArbiterView, Output, Publish, TeleopConfig, TeleopCore
from reach_alpha5_teleop.pad import JoyFrame
from reach_alpha5_teleop.profile import Profile

# No example is timed: the machine may be busy with something else.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

PERIOD = 0.02
"""Time [s] between two frames of the pilot's pad."""


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
        """Move axes to the values and send one frame."""
        self.values.update(values)
        return self.send(self.frame())

    def press(self, *buttons: str) -> list[Output]:
        """Hold buttons down and send one frame."""
        self.held.update(buttons)
        return self.send(self.frame())

    def release(self, *buttons: str) -> list[Output]:
        """Let buttons go and send one frame."""
        self.held.difference_update(buttons)
        return self.send(self.frame())

    def tap(self, button: str) -> list[Output]:
        return self.press(button) + self.release(button)

    def connect(self) -> Pilot:
        """Bring the pad in, untouched."""
        self.send(self.frame())
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

    def hear(self, owner: str = "", latched: bool = False, neutral: bool = False) -> list[Output]:
        """Let the arbiter say something."""
        return self.core.on_arbiter(ArbiterView(owner, latched, neutral), self.now)


def commands(outputs: list[Output]) -> list[GripperCommand]:
    """Return the commands among the outputs."""
    return [output.command for output in outputs if isinstance(output, Publish)]


@pytest.fixture
def pilot() -> Pilot:
    return Pilot(profiles.find("xbox_game_controller"))


@pytest.fixture(params=profiles.names())
def any_pilot(request: pytest.FixtureRequest) -> Pilot:
    """One pilot for each profile that comes with the package."""
    return Pilot(profiles.find(request.param))


@pytest.fixture(name="commands")
def _commands():
    return commands
