"""The operating states of the driver, and the only ways between them.

The arm may be moved in `EXECUTING` and nowhere else, and the table has exactly one way in: a
demand that arrives while `ENABLED`. An event that a state does not list changes nothing, so
whatever was not thought of leaves the arm as still as it was.
"""

from __future__ import annotations

import enum


class State(enum.IntEnum):
    """Operating state; the numbers are those of `ArmState.state`."""

    NONE = 0
    """No arm: the port is closed or nothing answers."""
    IDLE = 1
    """The arm answers; nobody is engaged."""
    ENABLED = 2
    """Engaged and still."""
    EXECUTING = 3
    """A demand stands."""
    MAJOR_FAULT = 4
    """Latched; only a reset leads out."""
    MINOR_FAULT = 5
    """Stopped; a reset leads out, or the end of what it is about where a parameter allows that."""


class Event(enum.Enum):
    """What can happen to the operating state."""

    ARM_ANSWERS = "the first fresh position after silence"
    ARM_SILENT = "the port closed, or no joint has a fresh position"
    ENGAGE = "a command that asks for no motion, or silence after one long enough"
    DISENGAGE = "an e-stop, a hold, a stale posture, or who asked for motion fell silent"
    MOVE = "a demand for motion was taken"
    REST = "the demand ended: stopped, neutral, expired or refused"
    FAULT = "a major fault latched"
    MINOR = "a minor fault was found"
    RECOVER = "the minor faults have ended, and may end by themselves"
    CLEAR = "a reset was taken"


TRANSITIONS: dict[State, dict[Event, State]] = {
    State.NONE: {
        Event.ARM_ANSWERS: State.IDLE,
        Event.FAULT: State.MAJOR_FAULT,
        Event.MINOR: State.MINOR_FAULT,
    },
    State.IDLE: {
        Event.ENGAGE: State.ENABLED,
        Event.ARM_SILENT: State.NONE,
        Event.FAULT: State.MAJOR_FAULT,
        Event.MINOR: State.MINOR_FAULT,
    },
    State.ENABLED: {
        Event.MOVE: State.EXECUTING,
        Event.DISENGAGE: State.IDLE,
        Event.ARM_SILENT: State.NONE,
        Event.FAULT: State.MAJOR_FAULT,
        Event.MINOR: State.MINOR_FAULT,
    },
    State.EXECUTING: {
        Event.REST: State.ENABLED,
        Event.DISENGAGE: State.IDLE,
        Event.ARM_SILENT: State.NONE,
        Event.FAULT: State.MAJOR_FAULT,
        Event.MINOR: State.MINOR_FAULT,
    },
    State.MAJOR_FAULT: {
        # What the arm did meanwhile is not known here: whether it answers is found out afresh.
        Event.CLEAR: State.NONE,
    },
    State.MINOR_FAULT: {
        Event.CLEAR: State.NONE,
        Event.RECOVER: State.NONE,
        Event.FAULT: State.MAJOR_FAULT,
    },
}


def after(state: State, event: Event) -> State:
    """Return the state that follows `event` in `state`."""
    return TRANSITIONS[state].get(event, state)
