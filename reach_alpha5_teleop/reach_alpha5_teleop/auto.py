"""Teleop for a pad whose profile is found out: `detect` before `core`. Pure.

Whenever a pad comes in it is looked at anew, since another one may come that is as long. Until its
profile is known nothing of it counts but the e-stop, where the profile of the pad before says.
"""

from __future__ import annotations

from collections.abc import Sequence

from reach_alpha5_common.command import STILL
from reach_alpha5_common.refusal import Problem, RefusalLog
from reach_alpha5_teleop.core import PAD, ArbiterView, TeleopConfig, TeleopCore
from reach_alpha5_teleop.detect import Detector
from reach_alpha5_teleop.outputs import Heartbeat, Output, PadFound, Publish, Refused
from reach_alpha5_teleop.pad import JoyFrame
from reach_alpha5_teleop.profile import Profile


class AutoTeleop:
    """A `TeleopCore` once there is a pad that is known; its methods are the same."""

    def __init__(self, profiles: Sequence[Profile], config: TeleopConfig) -> None:
        """Choose the profile among `profiles`."""
        self._detector = Detector(profiles)
        self._config = config
        self._core: TeleopCore | None = None
        self._view: ArbiterView | None = None
        self.refusals = RefusalLog()

    def on_joy(
        self, frame: JoyFrame, now: float, objection: Problem | None = None
    ) -> list[Output]:
        """Take a frame of the pad; `objection` is why the shell would not believe it."""
        core = self._core
        # A gap that no tick has seen may have brought another pad, too.
        out = core.expire(now) if core is not None else []
        if core is None or not core.present:
            if core is not None:
                out += core.on_stranger(frame, now)
            found = objection or self._detector.see(frame, now)
            if isinstance(found, Problem):
                return out + self.refuse(found, now)
            if found is None:
                return out
            core = self._take(found, now)
            out.append(PadFound(found.name, core.mode))
        return out + core.on_joy(frame, now, objection)

    def _take(self, profile: Profile, now: float) -> TeleopCore:
        if self._core is not None:
            self._core.change_pad(profile)
            return self._core
        core = self._core = TeleopCore(profile, self._config, self.refusals)
        if self._view is not None:
            core.on_arbiter(self._view, now)
        return core

    def on_pad_gone(self, now: float) -> list[Output]:
        """Nobody publishes the pad any more."""
        return self._core.on_pad_gone(now) if self._core is not None else []

    def on_arbiter(self, view: ArbiterView, now: float) -> list[Output]:
        """Take what the arbiter says of itself and of us."""
        self._view = view
        return self._core.on_arbiter(view, now) if self._core is not None else []

    def on_reset_done(self, now: float) -> list[Output]:
        """Take that a reset was carried out, however late that is heard."""
        return self._core.on_reset_done(now) if self._core is not None else []

    def on_arm(self, blocked: bool) -> list[Output]:
        """Take whether the arm is held back from what is asked of it."""
        return self._core.on_arm(blocked) if self._core is not None else []

    def tick(self, now: float) -> list[Output]:
        """Let time pass, called once in every heartbeat period."""
        return self._core.tick(now) if self._core is not None else [Heartbeat(present=False)]

    def close(self, now: float) -> list[Output]:
        """Leave: one neutral command and a heartbeat that says so (D6, rule 11)."""
        if self._core is not None:
            return self._core.close(now)
        return [Publish(STILL), Heartbeat(present=False)]

    def refuse(self, problem: Problem, now: float, source: str = PAD) -> list[Output]:
        """Refuse something of `source`."""
        return [Refused(self.refusals.refuse(problem, source, now))]
