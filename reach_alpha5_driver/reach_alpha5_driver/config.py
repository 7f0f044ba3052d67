"""Settings of the driver's core."""

from __future__ import annotations

from dataclasses import dataclass, field

from reach_alpha5_driver.agreement import AgreementConfig
from reach_alpha5_driver.comparison import ExpectedArm
from reach_alpha5_driver.grip import GripConfig
from reach_alpha5_driver.health import HealthConfig
from reach_alpha5_driver.identification import IdentificationConfig
from reach_alpha5_driver.schedule import ScheduleConfig


@dataclass(frozen=True, slots=True)
class CoreConfig:
    """Settings in s; the node's parameter table documents each."""

    stale_after: float = 0.25
    max_command_lifetime: float = 0.5
    stop_confirm_time: float = 0.4
    stop_repeat_period: float = 0.1
    stop_attempts: int = 3
    settle_time: float = 2.0
    minor_auto_reset: bool = False
    service_mode: bool = False
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    identification: IdentificationConfig = field(default_factory=IdentificationConfig)
    expected: ExpectedArm = field(default_factory=ExpectedArm)
    health: HealthConfig = field(default_factory=HealthConfig)
    agreement: AgreementConfig = field(default_factory=AgreementConfig)
    grip: GripConfig = field(default_factory=GripConfig)
