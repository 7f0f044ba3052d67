"""What `core` asks its shell to do."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_common.command import GripperCommand
from reach_alpha5_common.refusal import Refusal
from reach_alpha5_teleop.feedback import Cause
from reach_alpha5_teleop.modes import Mode


@dataclass(frozen=True, slots=True)
class Publish:
    """Publish this command."""

    command: GripperCommand


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Publish a heartbeat."""

    present: bool


@dataclass(frozen=True, slots=True)
class EStopPressed:
    """Publish an e-stop."""

    again: bool = False
    """The press was told before, and is not known to have latched."""


@dataclass(frozen=True, slots=True)
class ResetPressed:
    """Call the reset service."""


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """Tell the pilot what the sticks do now."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class PadFound:
    """Tell the pilot which pad is taken for which."""

    profile: str
    mode: Mode


@dataclass(frozen=True, slots=True)
class Refused:
    """Tell the pilot what was not obeyed."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Feel:
    """Let the pilot feel this."""

    cause: Cause


Output = (
    Publish | Heartbeat | EStopPressed | ResetPressed | ModeChanged | PadFound | Refused | Feel
)
