"""What may follow a stop: standby for an arm that did not obey, disabled motors for a cut."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from reach_alpha5_common.command import StopLevel
from reach_alpha5_driver.protocol.packets import Mode, mode_frames


class Beyond(enum.IntEnum):
    """What is written behind a stop, in the same write; the higher one counts."""

    NOTHING = 0
    STANDBY = 1
    DISABLE = 2


BEYOND_FRAMES: Final[Mapping[Beyond, bytes]] = MappingProxyType(
    {
        Beyond.NOTHING: b"",
        Beyond.STANDBY: mode_frames(Mode.STANDBY),
        Beyond.DISABLE: mode_frames(Mode.DISABLE),
    }
)

BEYOND_LEVEL: Final[Mapping[StopLevel, Beyond]] = MappingProxyType(
    {
        StopLevel.NONE: Beyond.NOTHING,
        StopLevel.SETTLE_THEN_CUT: Beyond.NOTHING,  # the power is cut once the arm rests
        StopLevel.CUT: Beyond.DISABLE,
    }
)


STILL_MOVING: Final[Mapping[Beyond, str]] = MappingProxyType(
    {
        Beyond.NOTHING: "still_moving",
        Beyond.STANDBY: "still_moving_standby",
        Beyond.DISABLE: "still_moving_disable",
    }
)
"""Causes of the stops that are written because the arm goes on moving."""
