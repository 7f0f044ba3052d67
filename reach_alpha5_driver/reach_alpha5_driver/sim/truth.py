"""The truth about a simulation, for tests and tools to judge by and to wait on. SI units."""

from __future__ import annotations

from typing import Any

from reach_alpha5_driver.sim.arm import MILLIAMPERE, scaled
from reach_alpha5_driver.sim.firmware import Device
from reach_alpha5_driver.sim.ids import AXES, DEVICE_UNITS_PER_SI
from reach_alpha5_driver.sim.line import Collision
from reach_alpha5_driver.sim.simulation import Simulation


def truth(simulation: Simulation, now: float) -> dict[str, Any]:
    """Return all that can be known at the monotonic time `now` [s], ready for JSON."""
    simulation.arm.advance(now)
    line = simulation.line
    return {
        "time": now,
        "joints": simulation.arm.state(),
        "devices": {
            AXES[device.device_id]: _device(device) for device in simulation.devices.values()
        },
        "crossed": {AXES[told]: AXES[moved] for told, moved in simulation.crossed.items()},
        "presets": [
            {"values": preset.values, "name": preset.name.rstrip(b"\0").decode("latin-1")}
            for preset in simulation.presets.slots
        ],
        "frames_received": simulation.decoder.counters.frames,
        "frames_damaged": simulation.decoder.counters.damaged,
        "replies_lost": simulation.replies_lost,
        "bytes_purged": simulation.purged,
        "collisions": line.collisions,
        "collision_kinds": {kind.value: line.collision_kinds[kind] for kind in Collision},
        "faults": {
            way: {"rates": faults.rates, "counts": dict(faults.counts)}
            for way, faults in simulation.faults.items()
        },
    }


def _device(device: Device) -> dict[str, Any]:
    joint, identity = device.joint, device.identity
    scale = 1.0 / DEVICE_UNITS_PER_SI[device.device_id]
    return {
        "powered": device.powered,
        "deaf": device.deaf,
        "latency": device.latency,
        "unknown": [f"{packet_id:02x}" for packet_id in sorted(device.unknown)],
        "runaway": joint.runaway.value,
        "mode_stuck": joint.mode_stuck,
        "flags": device.status.hex(),
        "humidity": device.humidity,
        "supply": device.supply,
        "temperature_held": joint.temperature_held,
        "model": identity.model,
        "serial": identity.serial,
        "firmware": ".".join(map(str, identity.firmware)),
        "position_limits": scaled(joint.position_limits, scale),
        "velocity_limits": scaled(joint.velocity_limits, scale),
        "current_limits": scaled(joint.current_limits, 1.0 / MILLIAMPERE),
        "heartbeat_frequency": device.flash.heartbeat_frequency,
        "heartbeat_packets": device.heartbeat_packets.hex(),
    }
