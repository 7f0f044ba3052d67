"""How the line is wired and what shall share it: the settings that all of the schedule reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reach_alpha5_driver.line import BITS_PER_BYTE
from reach_alpha5_driver.protocol.ids import PacketId

RS232: Final = "rs232"
RS485: Final = "rs485"
WIRINGS: Final = (RS232, RS485)

REQUEST: Final = "request"
HEARTBEAT: Final = "heartbeat"
TELEMETRIES: Final = (REQUEST, HEARTBEAT)

FAST: Final = (PacketId.POSITION, PacketId.VELOCITY, PacketId.CURRENT)
"""What each device reports as often as the line can carry it."""

SLOW: Final = (
    PacketId.HARDWARE_STATUS,
    PacketId.MODE,
    PacketId.TEMPERATURE,
    PacketId.HUMIDITY,
    PacketId.VOLTAGE,
)
"""What each device reports now and then. The status comes first: a device also sends it unasked,
which must not be taken for the end of the answer."""


@dataclass(frozen=True, slots=True)
class ScheduleConfig:
    """Settings in s, Hz and bytes."""

    baud_rate: int = 115200
    """Speed of the line."""
    wiring: str = RS232
    """`rs232`: full duplex. `rs485`: one pair of wires, on which one may talk at a time."""
    telemetry: str = REQUEST
    """`request`: the driver asks for each report. `heartbeat`: the arm reports by itself."""
    telemetry_rate: float = 0.0
    """Reports of position, velocity and current per joint; 0 = as many as the line can carry."""
    control_rate: float = 50.0
    """How often joint rates are sent while a demand stands."""
    telemetry_window: int = 240
    """Reply bytes on order at once on RS-232."""
    request_timeout: float = 0.1
    """Time after which a request counts as unanswered."""
    slow_telemetry_period: float = 2.0
    """Time between two reports of a joint's slow values."""
    turnaround: float = 0.0005
    """Quiet on RS-485 after an answer before the driver talks."""
    answer_latency: float = 0.003
    """What an exchange on RS-485 takes beside its bytes: the device, adapter and computer."""

    @property
    def half_duplex(self) -> bool:
        """Whether both directions share the wires."""
        return self.wiring == RS485

    @property
    def bytes_per_second(self) -> float:
        """What the line carries, each way on RS-232, both ways together on RS-485."""
        return self.baud_rate / BITS_PER_BYTE
