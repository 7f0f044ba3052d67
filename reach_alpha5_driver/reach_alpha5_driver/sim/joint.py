"""Dynamics of one joint: what the motor does with the demand that its electronics hold.

Everything here is in device units: rad and rad/s, for the jaws mm and mm/s; currents in mA.
A demand stays until the next one: no arm firmware is known to have a command watchdog.
"""

from __future__ import annotations

import math

from reach_alpha5_driver.sim.ids import Mode
from reach_alpha5_driver.sim.joint_spec import (
    ENDS_RUNAWAY,
    FULL_TURN,
    POSITIONING,
    UNLIMITED,
    UNPOWERED,
    JointSpec,
    Range,
    Runaway,
    clamp,
)

STEP = 0.002
"""Longest integration step while the velocity changes [s]."""

AMBIENT = 15.0
"""Temperature of the water [°C]."""

HEATING = 220.0
"""Steady heating of a motor [°C/A²]. A guess: 35 °C above the water at the rated 400 mA."""

THERMAL_TIME = 300.0
"""Time constant of a motor's heating [s]. A guess."""

CONTACT_STIFFNESS = 1000.0
"""Current that pushes the jaws one mm further into an object [mA/mm]. A guess."""


class Joint:
    """One joint and the demand that it follows. Positions and demands are in device units."""

    def __init__(self, spec: JointSpec, position: float, now: float) -> None:
        self.spec = spec
        self.position = position
        self.velocity = 0.0
        self.current = 0.0
        """Signed motor current [mA]."""
        self.temperature = AMBIENT
        self.mode = Mode.STANDBY
        self.position_limits = spec.position_limits
        self.velocity_limits: Range = (-spec.speed, spec.speed)
        self.current_limits: Range = (-spec.current_limit, spec.current_limit)
        self.load = 0.0
        """Current that holds the joint against gravity [mA]."""
        self.blocked = False
        """Something outside holds the joint: it cannot move, whatever the motor does."""
        self.runaway = Runaway.NONE
        self.mode_stuck = False
        """Control frames do not switch the mode, so only MODE frames lead to another one."""
        self.temperature_held = False
        """The temperature is set from outside, and does not follow the current."""
        self.contact: float | None = None
        """Position below which an object resists, or None."""
        self._target = 0.0
        self._speed = spec.speed
        self._index = position
        self._expires = math.inf
        self._time = now

    def set_mode(self, mode: Mode) -> bool:
        """Obey a MODE frame: the joint comes to rest in the new mode. False: ignored."""
        if self.mode in UNPOWERED and mode not in UNPOWERED | {Mode.STANDBY}:
            return False
        if self._runs_away and mode not in ENDS_RUNAWAY[self.runaway]:
            return False
        self.mode = mode
        self._index = self.position
        self._speed = self._fastest
        self._target = self.position if mode in POSITIONING else 0.0
        self._expires = math.inf
        return True

    def demand_velocity(self, velocity: float) -> bool:
        """Turn at `velocity`, clamped to the limits, for ever. False: ignored."""
        return self._follow(Mode.VELOCITY, clamp(velocity, self.velocity_limits))

    def demand_current(self, current: float) -> bool:
        """Push with `current` [mA], clamped to the limits. False: ignored."""
        return self._follow(Mode.CURRENT, clamp(current, self.current_limits))

    def demand_position(
        self, position: float, mode: Mode = Mode.POSITION, speed: float = math.inf
    ) -> bool:
        """Go to `position`, not faster than `speed`. False: ignored, as out of the limits.

        A joint that turns for ever takes the shorter way.
        """
        if not self._allows(position):
            return False
        if self.spec.stops is None:
            position = self.position + math.remainder(position - self.position, FULL_TURN)
        return self._follow(mode, position, min(abs(speed), self._fastest))

    def demand_relative(self, offset: float) -> bool:
        """Go `offset` away from where the joint is now. False: ignored."""
        target = self.position + offset
        return self._allows(target) and self._follow(Mode.POSITION, target)

    def demand_indexed(self, offset: float) -> bool:
        """Go `offset` away from where the joint was when it came into the indexed mode."""
        mode = Mode.INDEXED_RELATIVE_POSITION
        index = self._index if self.mode is mode else self.position
        if not self._allows(index + offset) or not self._follow(mode, index + offset):
            return False
        self._index = index
        return True

    def demand_preset(self, position: float, expires: float) -> bool:
        """Go to `position` until the time `expires` [s], and then stop. False: ignored."""
        if not self.demand_position(position, Mode.PRESET):
            return False
        self._expires = expires
        return True

    def power_off(self) -> None:
        """Lose the demand, as the electronics do without supply; limits come from flash."""
        self.mode = Mode.STANDBY
        self._target = 0.0
        self._expires = math.inf

    def place(self, position: float) -> None:
        """Put the joint somewhere between its stops, at rest, by magic."""
        if self.spec.stops is not None:
            position = clamp(position, self.spec.stops)
        self.position = position
        self.velocity = 0.0
        self._index = position
        if self.mode in POSITIONING:
            self._target = position

    @property
    def reported_position(self) -> float:
        """Position as the encoder tells it: within one turn where the joint has no stops."""
        return self._reported(self.position)

    def advance(self, now: float) -> None:
        """Move on to the time `now` [s, monotonic]."""
        while self._time < now:
            span = (min(now, self._expires) if self._time < self._expires else now) - self._time
            if self._is_steady(span):
                self.position += self.velocity * span
                self._settle(0.0, span, self.velocity)
            else:
                before, step = (self.position, self.velocity), min(STEP, span)
                self._step(step)
                if (self.position, self.velocity) == before:  # something holds it: so it stays
                    self._settle(0.0, span - step, self._wanted(self.position))
                else:
                    span = step
            self._time += span

    @property
    def _fastest(self) -> float:
        return max(abs(bound) for bound in self.velocity_limits)

    def _allows(self, position: float) -> bool:
        low, high = self.position_limits
        return self.position_limits == UNLIMITED or low <= position <= high

    def _reported(self, position: float) -> float:
        return position if self.spec.stops is not None else position % FULL_TURN

    @property
    def _runs_away(self) -> bool:
        return self.runaway is not Runaway.NONE and self._demanded(self.position) != 0.0

    def _follow(self, mode: Mode, target: float, speed: float | None = None) -> bool:
        if self.mode in UNPOWERED or self._runs_away:
            return False
        if mode is not self.mode:
            if self.mode_stuck:
                return False
            self._index = self.position
        self.mode = mode
        self._target = target
        self._speed = self._fastest if speed is None else speed
        self._expires = math.inf
        return True

    def _is_steady(self, span: float) -> bool:
        """Whether the velocity stays as it is for `span` [s], so that one step is exact.

        Everything that slows a joint down grows on the way, so that it is enough to look at both
        ends.
        """
        velocity = self.velocity
        if self._wanted(self.position) != velocity:
            return False
        if velocity == 0.0:
            return True
        end = self.position + velocity * span
        if self.spec.stops is not None and not self.spec.stops[0] < end < self.spec.stops[1]:
            return False
        if self.blocked or self._squeeze(end) > 0.0:
            return False
        return self._wanted(end) == velocity

    def _step(self, step: float) -> None:
        before = self.velocity
        change = self.spec.acceleration * step
        velocity = before + clamp(self._wanted(self.position) - before, (-change, change))
        position = self.position + velocity * step
        if self.spec.stops is not None and position != clamp(position, self.spec.stops):
            position, velocity = clamp(position, self.spec.stops), 0.0
        resisted = velocity < 0.0 and self._squeeze(position) > self._strength
        if self.blocked or resisted:
            position, velocity = self.position, 0.0
        self.position, self.velocity = position, velocity
        self._settle((velocity - before) / step, step, self._wanted(position))

    def _wanted(self, position: float) -> float:
        """Velocity that the mode asks for at `position`, slowed to stop at the limits."""
        return self._limited(self._demanded(position), position)

    def _demanded(self, position: float) -> float:
        if self._time >= self._expires:
            return 0.0
        if self.mode is Mode.VELOCITY:
            return self._target
        if self.mode is Mode.CURRENT:
            return self._pushed()
        if self.mode in POSITIONING:
            error = self._target - position
            return math.copysign(min(self._speed, self._braking(abs(error))), error)
        return 0.0

    def _pushed(self) -> float:
        """Speed at which friction eats up what the current has left after the load."""
        surplus = self._target - self.load
        friction = self.spec.running_current / 2.0
        if abs(surplus) <= friction:
            return 0.0
        speed = self.spec.speed * (abs(surplus) - friction) / friction
        return math.copysign(min(speed, self._fastest), surplus)

    def _limited(self, velocity: float, position: float) -> float:
        if self.position_limits == UNLIMITED or velocity == 0.0:
            return velocity
        low, high = self.position_limits
        position = self._reported(position)
        room = high - position if velocity > 0.0 else position - low
        return math.copysign(min(abs(velocity), self._braking(room)), velocity)

    def _braking(self, distance: float) -> float:
        """Speed from which the joint can still stop within `distance`; 0 when almost there."""
        if distance <= self.spec.speed * 1e-3:
            return 0.0
        # The second bound keeps the last steps of the ramp from swinging over the target.
        return min(math.sqrt(1.8 * self.spec.acceleration * distance), distance / (5 * STEP))

    def _squeeze(self, position: float) -> float:
        """Current that an object takes to be pressed down to `position` [mA]."""
        if self.contact is None:
            return 0.0
        return max(0.0, self.contact - position) * CONTACT_STIFFNESS

    @property
    def _strength(self) -> float:
        """Current with which the jaws may press on an object [mA]."""
        limit = self.current_limits[1]
        return min(limit, abs(self._target)) if self.mode is Mode.CURRENT else limit

    def _settle(self, acceleration: float, duration: float, wanted: float) -> None:
        """Draw the current that the movement takes, and warm up by it."""
        self.current = clamp(self._needed(acceleration, wanted), self.current_limits)
        if self.temperature_held:
            return
        goal = AMBIENT + HEATING * (self.current / 1000.0) ** 2
        self.temperature = goal + (self.temperature - goal) * math.exp(-duration / THERMAL_TIME)

    def _needed(self, acceleration: float, wanted: float) -> float:
        if self.mode in UNPOWERED or self.mode is Mode.STANDBY:
            return 0.0  # the gear holds the joint without the motor's help
        if self.mode is Mode.CURRENT:
            return self._target
        if self.velocity == 0.0 and wanted != 0.0:
            return math.copysign(math.inf, wanted)  # stalled: pushes with all that it may
        running = self.spec.running_current * self.velocity / self.spec.speed
        squeezing = -self._squeeze(self.position) if wanted < 0.0 else 0.0
        return self.load + running + self.spec.inertia_current * acceleration + squeezing
