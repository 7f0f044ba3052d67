"""Device, packet and mode ids as the arm's own electronics know them."""

from __future__ import annotations

import enum

AXES = {1: "a", 2: "b", 3: "c", 4: "d", 5: "e"}
"""Device id to axis: jaws, wrist, elbow, shoulder, base."""

BASE_DEVICE = 5
"""The base joint's electronics also join the arm to the line."""

ALL_DEVICES = 0xFF
"""Device id of a frame that every device obeys."""

DEVICE_UNITS_PER_SI = {1: 1000.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 1.0}
"""The jaws speak mm and mm/s, the other joints rad and rad/s."""


class Packet(enum.IntEnum):
    """Packets that this firmware knows."""

    MODE = 0x01
    VELOCITY = 0x02
    POSITION = 0x03
    CURRENT = 0x05
    POSITION_VELOCITY = 0x0C
    INDEXED_RELATIVE_POSITION = 0x0D
    RELATIVE_POSITION = 0x0E
    POSITION_LIMITS = 0x10
    VELOCITY_LIMITS = 0x11
    CURRENT_LIMITS = 0x12
    FACTORY_CLIMATE = 0x28
    SAVE = 0x50
    PRESET_GO = 0x55
    PRESET_CAPTURE = 0x56
    PRESET_VALUES_0 = 0x57
    PRESET_NAME_0 = 0x5B
    REQUEST = 0x60
    SERIAL_NUMBER = 0x61
    MODEL_NUMBER = 0x62
    HUMIDITY = 0x65
    TEMPERATURE = 0x66
    HARDWARE_STATUS = 0x68
    SOFTWARE_VERSION = 0x6C
    VOLTAGE = 0x90
    HEARTBEAT_PACKETS = 0x91
    HEARTBEAT_FREQUENCY = 0x92


CONTROL = frozenset(
    {
        Packet.VELOCITY,
        Packet.POSITION,
        Packet.CURRENT,
        Packet.POSITION_VELOCITY,
        Packet.RELATIVE_POSITION,
        Packet.INDEXED_RELATIVE_POSITION,
    }
)
"""Control frames: demands on one motor, which also switch its mode."""


class Mode(enum.IntEnum):
    """Modes of a joint that this firmware can be in."""

    STANDBY = 0x00
    DISABLE = 0x01
    POSITION = 0x02
    VELOCITY = 0x03
    CURRENT = 0x04
    INDEXED_RELATIVE_POSITION = 0x13
    PRESET = 0x14
    ZERO_VELOCITY = 0x15
    POSITION_VELOCITY = 0x1C
    HOLD = 0x1D
    PASSIVE = 0x26
