"""Settings of the driver's core."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CoreConfig:
    """Settings in s, Hz and bytes; the node's parameter table documents each."""

    baud_rate: int = 115200
    control_rate: float = 50.0
    stale_after: float = 0.25
    max_command_lifetime: float = 0.5
    stop_confirm_time: float = 0.4
    stop_repeat_period: float = 0.1
    telemetry_window: int = 240
    request_timeout: float = 0.1
    slow_telemetry_period: float = 2.0
