"""Who judges a virtual run: by the truth of the simulated arm and the bytes, not by the driver.

What the driver says of itself is looked at for one thing alone, as it is the thing in question:
where it believes the joints to be.
"""

from __future__ import annotations

import math
import struct
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from driver_rig import BOUNDS
from virtual_permission import Permission

from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.devices import BY_ID, DEVICES, Device
from reach_alpha5_driver.protocol.codec import Frame
from reach_alpha5_driver.protocol.decoder import StreamDecoder
from reach_alpha5_driver.protocol.packets import PacketId
from reach_alpha5_driver.sim.simulation import Simulation

TRANSIT = 0.25
"""Longest way of a report from the encoder to the driver, faults and all [s]."""

SENSOR_NOISE = {"rad": 0.003, "m": 0.000003}
"""Six times the standard deviation of the simulated encoders [rad, m]."""

MOVING = {"rad": 0.04, "m": 0.0003}
"""True speed [rad/s, m/s] that measurements cannot miss, noise and all."""

CREEP = {"rad": 0.06, "m": 0.0012}
"""Way [rad, m] that a joint may go more slowly than `MOVING` before a stop must follow."""

CONFIRM = CoreConfig().stop_confirm_time
REPEAT = CoreConfig().stop_repeat_period

HEARING = 0.25
"""Time until the driver has heard that a joint moves, at the latest [s]."""

PATIENCE = CONFIRM + REPEAT + HEARING
"""Time in which a joint must be still, if the first stop or the second gets through [s]."""

LOST_STOPS = 4
"""In a row, all without effect on the same joint, that are put up with on a line that damages
frames: at the highest rate one in a hundred is."""

MOVING_PACKETS = frozenset(
    {
        PacketId.POSITION,
        PacketId.CURRENT,
        PacketId.POSITION_VELOCITY,
        PacketId.INDEXED_RELATIVE_POSITION,
        PacketId.RELATIVE_POSITION,
        PacketId.PRESET_GO,
    }
)
"""What moves a joint beside a velocity. The driver sends none of it here, but damage may make it
of something else."""

GOOD_REPORTS = 3
"""Whole, true reports of a joint after which its position must be believed."""

MOST_WAKEUPS = 30
"""In a row that may be asked for at once: more is a busy loop."""

GROWTH = 4000
"""Most entries and bytes that a core keeps beyond what it has from the start, whatever it has been
through."""

MOST_KEPT = 20
"""Violations of one run that are kept."""

OWN = "reach_alpha5_"
"""Objects of these packages are looked into for what they keep."""


@dataclass(slots=True)
class Watched:
    """One joint, while it should be still."""

    told_at: float = -math.inf
    """When its electronics last heard something that may move it, or could hear again."""
    since: float = -math.inf
    """It should have been still from this time on."""
    start: float = math.nan
    """Where it was after the time to come to rest, or when it last moved fast [rad, m]."""


@dataclass(slots=True)
class Judge:
    """Looks on, and keeps what is wrong."""

    simulation: Simulation
    core: DriverCore
    stops_get_lost: bool
    """Whether the line damages frames on their way to the arm."""
    permission: Permission = field(default_factory=Permission)
    violations: list[str] = field(default_factory=list)
    worst_error: float = 0.0
    """Largest share of the possible that a believed position was away from the true one."""
    longest_motion: float = 0.0
    """Longest time that a joint moved after it should have been still and could have been [s]."""
    growth: int = 0
    """Most entries and bytes that the core kept beyond what it began with."""
    motion_frames: int = 0
    _written: StreamDecoder = field(default_factory=StreamDecoder)
    _received: StreamDecoder = field(default_factory=StreamDecoder)
    _watched: dict[int, Watched] = field(
        default_factory=lambda: {device.id: Watched() for device in DEVICES}
    )
    _line_at: float = math.inf
    """The line is open and takes bytes since this time; inf = it is not."""
    _good: dict[int, int] | None = None
    """Good reports by device since all faults ended; None = they have not."""
    _at_once: int = 0
    _began_with: int = 0

    def __post_init__(self) -> None:
        self._began_with = footprint(self.core)
        for device in self.simulation.devices.values():
            self._listen(device)

    # -- what happens

    def on_line(self, now: float) -> None:
        """Note that the line is open."""
        self._line_at = now
        self._written.receive(b"\0")
        self._received.receive(b"\0")

    def on_lost(self, now: float) -> None:
        """Note that the line is gone."""
        self._line_at = math.inf
        self.permission.withdraw(now, latch=False)

    def on_written(self, data: bytes, taken: int, stop: bool, now: float) -> None:
        """Look at bytes that the driver wanted to write, and the line took `taken` of them."""
        if stop:
            self._written.receive(b"\0")
        if taken < len(data):
            self._line_at = now
        for frame in self._written.receive(data[:taken]):
            if isinstance(frame, Frame) and frame.packet_id == PacketId.VELOCITY:
                (velocity,) = struct.unpack("<f", frame.payload)
                if velocity != 0.0:
                    self.motion_frames += 1
                    if now >= self.permission.until:
                        late = now - self.permission.until
                        self.blame(now, f"motion written {late:.4f} s after it was permitted")

    def on_received(self, data: bytes, now: float) -> None:
        """Look at bytes that the driver was given, and at what it believes after them."""
        self._check_beliefs(now)
        if self._good is not None:
            self._check_recovery(self._good, data, now)

    def on_turn(self, wakeup: float, now: float) -> None:
        """Look at everything after a turn of the loop that ends with a wish to wake up."""
        self._at_once = self._at_once + 1 if wakeup <= now and self._line_at < now else 0
        if self._at_once > MOST_WAKEUPS:
            self.blame(now, "busy loop")
        self._check_stillness(now)

    def on_calm(self) -> None:
        """Note that all faults have ended."""
        self._good = {device.id: 0 for device in DEVICES}

    def measure(self, now: float) -> None:
        """Count what the core keeps."""
        growth = footprint(self.core) - self._began_with
        self.growth = max(self.growth, growth)
        if growth > GROWTH:
            self.blame(now, f"the core keeps {growth} entries and bytes more than at first")

    def blame(self, now: float, text: str) -> None:
        """Keep what is wrong; after the first few, more of it tells nothing."""
        if len(self.violations) < MOST_KEPT:
            self.violations.append(f"at {now:.4f} s: {text}")

    # -- rules

    def _check_beliefs(self, now: float) -> None:
        belief = self.core.telemetry.belief
        for device in DEVICES:
            if belief.stale(device.index, now):
                continue
            joint, bounds = belief.joints[device.index], BOUNDS[device.index]
            error = abs(joint.position - self._position(device.id))
            possible = bounds.speed * (now - joint.position_at + TRANSIT) + bounds.margin
            share = error / (possible + SENSOR_NOISE[device.unit])
            self.worst_error = max(self.worst_error, share)
            if share > 1.0:
                self.blame(now, f"{device.joint} believed {error:.4f} {device.unit} off")

    def _check_recovery(self, good: dict[int, int], data: bytes, now: float) -> None:
        reported = set()
        for frame in self._received.receive(data):
            if isinstance(frame, Frame) and frame.packet_id == PacketId.POSITION:
                device = BY_ID.get(frame.device_id)
                if device is not None and self._is_true(device, frame.payload):
                    good[device.id] += 1
                    reported.add(device)
        for device in reported:
            believed_at = self.core.telemetry.belief.joints[device.index].position_at
            if good[device.id] >= GOOD_REPORTS and believed_at != now:
                count = good[device.id]
                self.blame(now, f"{device.joint} not believed after {count} good reports")

    def _check_stillness(self, now: float) -> None:
        patience = PATIENCE + (LOST_STOPS * REPEAT if self.stops_get_lost else 0.0)
        for device in DEVICES:
            watched = self._watched[device.id]
            since = max(self.permission.until, self._line_at, watched.told_at)
            if now < since or not self.simulation.devices[device.id].answers:
                continue
            position = self._position(device.id)
            speed = abs(self.simulation.arm.joints[device.id].velocity) / device.wire_per_si
            moves = speed > MOVING[device.unit]
            if moves or since != watched.since or now - since < CONFIRM:
                watched.since, watched.start = since, position
            crept = abs(position - watched.start)
            if moves:
                self.longest_motion = max(self.longest_motion, now - since)
            if moves and now - since > patience:
                self.blame(now, f"{device.joint} moves at {speed:.3f}, {now - since:.2f} s on")
            if crept > CREEP[device.unit]:
                self.blame(now, f"{device.joint} crept {crept:.4f} {device.unit}")

    # -- the truth

    def _listen(self, device) -> None:
        """Hear what the electronics of a joint hear, at the time they do."""
        watched, receive = self._watched[device.device_id], device.receive

        def overheard(packet_id, payload, now):
            asks = packet_id == PacketId.VELOCITY and any(payload)
            if device.answers and (asks or packet_id in MOVING_PACKETS):
                watched.told_at = now
            return receive(packet_id, payload, now)

        device.receive = overheard

    def interrupted(self, device_id: int, now: float) -> None:
        """Note that a device could not hear until now."""
        self._watched[device_id].told_at = now

    def _position(self, device_id: int) -> float:
        joint = self.simulation.arm.joints[device_id]
        return joint.position / BY_ID[device_id].wire_per_si

    def _is_true(self, device: Device, payload: bytes) -> bool:
        """Say whether a report is one that the joint can have made."""
        if len(payload) != 4:
            return False
        (value,) = struct.unpack("<f", payload)
        possible = BOUNDS[device.index].speed * TRANSIT + SENSOR_NOISE[device.unit]
        return abs(value / device.wire_per_si - self._position(device.id)) <= possible


def footprint(root: object) -> int:
    """Count the entries and bytes of all that an object of ours keeps, and what that keeps."""
    count, seen, waiting = 0, set(), [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, str | bytes | bytearray):
            count += len(thing)
        elif isinstance(thing, Mapping):
            count += len(thing)
            waiting += [*thing.keys(), *thing.values()]
        elif isinstance(thing, list | tuple | set | frozenset | deque):
            count += len(thing)
            waiting += thing
        elif type(thing).__module__.startswith(OWN):
            names = [n for kind in type(thing).__mro__ for n in getattr(kind, "__slots__", ())]
            waiting += [getattr(thing, n) for n in names if hasattr(thing, n)]
            waiting += getattr(thing, "__dict__", {}).values()
    return count
