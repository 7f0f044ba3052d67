"""Reading the byte log of a simulated arm: what its joints were told, and in which order."""

from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES
from reach_alpha5_driver.sim.log import TO_DRIVER

BASE, SHOULDER, JAWS = 5, 4, 1
"""Device ids."""

STOP = [(device, 0.0) for device in (ALL_DEVICES, *AXES)]
"""A whole stop: velocity zero to all at once, then to each joint."""

PAUSE_NS = 300_000_000
"""Longer than what was said last stands."""

STOP_NS = 6_000_000
"""How long a whole stop takes on the line, at most: its first bytes end all motion."""


def stays_still(rig, what, frames=300):
    """Demand that nothing moves a joint while the arm reports so often."""
    mark = rig.stack.mark()
    rig.wait(lambda: len(rig.stack.wire(mark).frames(TO_DRIVER)) > frames, "telemetry goes on")
    assert rig.stack.wire(mark).motion_frames() == [], f"motion after {what}"


def ends_with_a_stop(velocities):
    """Whether the last thing that the joints were told is a whole stop."""
    return has_a_stop(velocities[-len(STOP) :])


def rests(wire):
    """Whether a whole stop is the last thing that the joints were told, and has been for a while.

    A machine that stalls may stop the arm and go on.
    """
    told = wire.velocities()
    return ends_with_a_stop(told) and wire.entries[-1].time_ns > told[-1].time_ns + PAUSE_NS


def has_a_stop(velocities):
    """Whether a whole stop is among what the joints were told."""
    told = [(each.device_id, each.value) for each in velocities]
    return any(told[at : at + len(STOP)] == STOP for at in range(len(told)))


def stops_between(velocities, before, after):
    """Return what the joints were told between the last of one motion and the first of another.

    `before` and `after` say whether a velocity is of it.
    """
    last = max(at for at, told in enumerate(velocities) if before(told))
    first = min(at for at, told in enumerate(velocities) if after(told))
    assert last < first, "one motion began before the other had ended"
    return velocities[last + 1 : first]


def rates(velocities, first, second, since_ns):
    """Return pairs of what two joints were told since a time; the second is told after the first.

    The joints are told in turn, so that both of a pair are of the same moment.
    """
    last, found = {}, []
    for told in velocities:
        last[told.device_id] = told.value
        if told.device_id == second and told.time_ns > since_ns:
            found.append((last[first], told.value))
    return found
