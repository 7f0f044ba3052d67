"""Packet ids and modes of the arm's protocol."""

from __future__ import annotations

import enum
from typing import Final


class PacketId(enum.IntEnum):
    """What a frame is about."""

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
    PRESET_VALUES_1 = 0x58
    PRESET_VALUES_2 = 0x59
    PRESET_VALUES_3 = 0x5A
    PRESET_NAME_0 = 0x5B
    PRESET_NAME_1 = 0x5C
    PRESET_NAME_2 = 0x5D
    PRESET_NAME_3 = 0x5E
    REQUEST = 0x60
    SERIAL_NUMBER = 0x61
    MODEL_NUMBER = 0x62
    HUMIDITY = 0x65
    TEMPERATURE = 0x66
    CLIMATE_67 = 0x67
    HARDWARE_STATUS = 0x68
    SOFTWARE_VERSION = 0x6C
    CLIMATE_6E = 0x6E
    VOLTAGE = 0x90
    HEARTBEAT_PACKETS = 0x91
    HEARTBEAT_FREQUENCY = 0x92
    END_POSITION = 0xA1
    END_VELOCITY = 0xA2
    BOX_0 = 0xA5
    BOX_1 = 0xA6
    BOX_2 = 0xA7
    BOX_3 = 0xA8
    CYLINDER_0 = 0xAB
    CYLINDER_1 = 0xAC
    CYLINDER_2 = 0xAD
    CYLINDER_3 = 0xAE
    COLLISION = 0xAF
    COORDINATES = 0xB1


class Mode(enum.IntEnum):
    """What a device does with its motor."""

    STANDBY = 0x00
    DISABLE = 0x01
    POSITION = 0x02
    VELOCITY = 0x03
    CURRENT = 0x04
    INDEXED_RELATIVE_POSITION = 0x13
    PRESET = 0x14
    ZERO_VELOCITY = 0x15
    KINEMATIC_17 = 0x17
    KINEMATIC_18 = 0x18
    KINEMATIC_1A = 0x1A
    POSITION_VELOCITY = 0x1C
    HOLD = 0x1D
    PASSIVE = 0x26


NEVER_SEND: Final = frozenset({0x51, 0x52, 0x53, 0x64, 0xFD, 0xFE, 0xFF})
"""Load, defaults, format, device id, reset, bootloader: they can make an arm useless."""
