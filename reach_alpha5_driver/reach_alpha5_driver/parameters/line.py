"""Parameters of the line to the arm: the port, its schedule, and what is done when it is lost."""

from __future__ import annotations

from reach_alpha5_common.parameters import Parameter
from reach_alpha5_driver.backoff import BackoffConfig
from reach_alpha5_driver.schedule import TELEMETRIES, WIRINGS, ScheduleConfig

_SCHEDULE = ScheduleConfig()
_BACKOFF = BackoffConfig()

SCHEDULE = (
    Parameter("baud_rate", _SCHEDULE.baud_rate, "Speed of the line.", "baud", (9600, 1_000_000)),
    Parameter(
        "wiring",
        _SCHEDULE.wiring,
        "`rs232`: both ways at once. `rs485`: one pair of wires, one device asked at a time.",
        choices=WIRINGS,
    ),
    Parameter(
        "telemetry",
        _SCHEDULE.telemetry,
        "`request`: the driver asks for each report. `heartbeat`: the arm reports by itself; not "
        "on RS-485.",
        choices=TELEMETRIES,
    ),
    Parameter(
        "telemetry_rate",
        _SCHEDULE.telemetry_rate,
        "Reports of position, velocity and current per joint. 0: as many as the line can carry. "
        "More than that is refused at start.",
        "Hz",
        (0.0, 255.0),
    ),
    Parameter(
        "control_rate",
        _SCHEDULE.control_rate,
        "How often joint rates are computed anew and sent while a demand stands.",
        "Hz",
        (10.0, 100.0),
    ),
    Parameter(
        "telemetry_window",
        _SCHEDULE.telemetry_window,
        "Reply bytes on order at once on RS-232. More keeps a slow adapter's line busy, and makes "
        "what is reported older.",
        "bytes",
        (30, 1000),
    ),
    Parameter(
        "request_timeout",
        _SCHEDULE.request_timeout,
        "Time after which a request counts as unanswered.",
        "s",
        (0.02, 1.0),
    ),
    Parameter(
        "slow_telemetry_period",
        _SCHEDULE.slow_telemetry_period,
        "Time between two reports of a joint's mode, temperature, humidity, voltage and status.",
        "s",
        (0.1, 60.0),
    ),
    Parameter(
        "turnaround",
        _SCHEDULE.turnaround,
        "Quiet on RS-485 after an answer, before the driver talks.",
        "s",
        (0.0, 0.05),
    ),
    Parameter(
        "answer_latency",
        _SCHEDULE.answer_latency,
        "What an exchange on RS-485 takes beside its bytes, in device, adapter and computer: for "
        "the plan of the line.",
        "s",
        (0.0, 0.1),
    ),
)
"""The fields of `ScheduleConfig`."""

BACKOFF = (
    Parameter(
        "reconnect_period",
        _BACKOFF.reconnect_period,
        "Time until the first attempt to open a lost or missing port; it doubles from there.",
        "s",
        (0.05, 60.0),
    ),
    Parameter(
        "reconnect_period_max",
        _BACKOFF.reconnect_period_max,
        "Longest time between two attempts to open the port; while the arm may be moving, it is "
        "reconnect_period.",
        "s",
        (0.05, 60.0),
    ),
)
"""The fields of `BackoffConfig`."""

LINE = (
    Parameter(
        "serial_port",
        "/dev/ttyUSB0",
        "The arm's port: a device path, or `socket://HOST:PORT` of a serial server.",
    ),
    *SCHEDULE,
    *BACKOFF,
)
