"""Reading the byte log of a simulated arm: what its joints were told, and in which order."""

from reach_alpha5_driver.sim.ids import ALL_DEVICES, AXES
from reach_alpha5_driver.sim.log import TO_DRIVER
from reach_alpha5_motion.model import B

BASE, SHOULDER, JAWS = 5, 4, 1
"""Device ids."""

STOP = [(device, 0.0) for device in (ALL_DEVICES, *AXES)]
"""A whole stop: velocity zero to all at once, then to each joint."""

MODES = 4
"""How many presses of the mode button lead back to the first mode."""

PAUSE_NS = 300_000_000
"""Longer than what was said last stands."""

STOP_NS = 6_000_000
"""How long a whole stop takes on the line, at most: its first bytes end all motion."""


def told_still(rig, mark, what, seconds=10.0):
    """Wait until a whole stop is the last thing that the joints were told since `mark`."""

    rig.wait(
        lambda: ends_with_a_stop(rig.stack.wire(mark).velocities()),
        f"all five joints told to stop: {what}",
        seconds,
    )


def after_reports(rig, frames):
    """Return what passes over the line while the arm sends so many frames."""
    mark = rig.stack.mark()
    rig.wait(lambda: len(rig.stack.wire(mark).frames(TO_DRIVER)) > frames, "telemetry goes on")
    return rig.stack.wire(mark)


def stays_silent(rig, what, frames=300):
    """Demand that no control frame passes while the arm goes on reporting."""
    assert after_reports(rig, frames).velocities() == [], f"control frames after {what}"


def stays_stopped(rig, what, frames=300):
    """Demand that nothing moves a joint; a stop by a second reason for it may pass, no stream."""
    wire = after_reports(rig, frames)
    assert wire.motion_frames() == [], f"motion after {what}"
    assert len(wire.stops()) <= len(STOP), f"a stream of stops after {what}"


def stays_still(rig, what, frames=300):
    """Demand that nothing moves a joint while the arm reports so often."""
    assert after_reports(rig, frames).motion_frames() == [], f"motion after {what}"


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


def press_mode(rig, times=1):
    """Press the mode button, each press and release long enough to be seen."""
    for _ in range(times):
        for down in (1, 0):
            rig.pad.set(back=down)
            after_reports(rig, 30)


def to_deployed(rig):
    """Bring the arm to the middle of its workspace, and the wrist off its limit."""
    rig.pad.set(lb=1, right_trigger=-1.0)
    rig.pad.set(a=1)
    rig.wait(lambda: rig.client.last("gripper_tel").gripper.moving_to.pose, "moving to a pose")
    rig.wait(lambda: not rig.client.last("gripper_tel").gripper.moving_to.pose, "deployed", 90.0)
    rig.settle()
    rig.jog_until(lambda _: rig.arm().joints[B].position > 0.5, "the wrist turns", right_x=-1.0)
    rig.settle()
