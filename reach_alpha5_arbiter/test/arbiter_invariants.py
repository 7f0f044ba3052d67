"""What must hold after each event, whatever came before: one name each, and what it protects.

The judge demands by these names, `docs/proof.md` is made from them, and for each there is at least
one core in `arbiter_broken` that was broken so that the judge must see it.
"""

from __future__ import annotations

import enum


class Invariant(enum.Enum):
    """One thing that always holds, the rules and requirements that need it, and its text."""

    def __init__(self, protects: str, text: str) -> None:
        self.protects = tuple(protects.split())
        """Ids of `docs/rules.md`; a bare number is a rule."""
        self.text = text

    # ---- e-stop and fault ----------------------------------------------------------------------

    PRESS_IS_SAID = (
        "1 D4",
        "Each press of an e-stop is said to the driver at once, as a stop of its level or above.",
    )
    LEVEL_IS_SAID = ("1", "A stop says the most restrictive level that is latched.")
    ESTOP_STANDS = (
        "1 D4",
        "An e-stop is shown, with the most restrictive level that was pressed, until a reset.",
    )
    ESTOP_HOLDS = ("1 D4", "Nothing moves or fades while an e-stop is latched.")
    FAULT_STANDS = ("2 C11", "A fault is shown until a reset.")
    FAULT_HOLDS = ("2 C11", "Nothing moves or fades while a fault is latched.")
    RESET_IS_SAID = ("2 D4", "Each reset is said to the driver once, and nothing else says one.")
    RESET_MOVES_NOTHING = ("2 D4", "After a reset nothing moves or fades, and it grants nothing.")

    # ---- who may move --------------------------------------------------------------------------

    NEUTRAL_FIRST = (
        "3 U1 U7 U17",
        "What moves had a neutral command of its source first, since all that disarms it.",
    )
    HEARD_DRIVER_IS_STOPPED = (
        "3 U7 U17",
        "A driver that is heard for the first time, or again, is told to stop.",
    )
    OWNER_MOVES = ("4 C11 U16", "What moves or fades belongs to the source that holds the lease.")
    OWNER_IS_THERE = ("4 7 D6", "Who holds the lease is live.")
    LEASE_IS_FREE = (
        "4 C11 U16",
        "A lease that is held passes to another only if a person takes it, or moves an arm that "
        "is with goals; a free one to whoever asked for it.",
    )
    EPOCH_COUNTS = ("4", "The epoch grows whenever the owner changes, and is never less.")
    IDLE_LETS_GO = ("4 D3", "Who asked for no motion for its `idle_release` holds no lease.")
    PRESS_COUNTS = ("4 D5", "A moving command that is not refused is said at once, itself, once.")
    ONE_CLIENT = ("4 U16", "Nothing moves or fades for a source with two clients.")

    # ---- goals ---------------------------------------------------------------------------------

    GOAL_STANDS = ("4 5 C11", "Set-points are said only of a goal that was taken and not ended.")
    GOAL_BEGINS_WHERE_IT_IS = (
        "5 U17",
        "A goal begins where the joints were measured of late, and at rest.",
    )
    WAITS_FOR_REST = (
        "5 C6 C11",
        "What replaces or preempts a goal, and the next goal, are said only when the arm was "
        "confirmed to rest after it.",
    )
    ONE_MOTION = ("5 C6", "A goal and a command are never said side by side.")
    ONE_WAITS = ("5 C6", "One goal at most waits while another has the arm.")
    GOAL_GIVES_WAY = (
        "5 C6 C11",
        "A goal that is cancelled, replaced or preempted slows down or is stopped, at once.",
    )
    GOAL_SLOWS_IN_TIME = ("5 C11", "A goal that slows down is stopped within `goal_stop_time`.")
    PATH_IS_KEPT = (
        "C11",
        "Set-points are on the path of their goal and never go back, also while it slows down.",
    )
    PATH_IS_WATCHED = ("C11", "A goal is stopped when a joint leaves its path by its tolerance.")
    GOAL_IS_WATCHED = (
        "C11 U12",
        "A goal is stopped when the joints are not measured within `feedback_timeout`.",
    )
    GOAL_IS_ANSWERED = ("C11 C6", "Each goal is answered once.")
    ANSWER_COMES_LAST = (
        "5 C6 U12",
        "A goal is answered when its motion has ended: confirmed, or overdue and latched.",
    )
    SUCCESS_IS_MEASURED = (
        "C11 U12",
        "Success is said only if the joints were measured where they should be, and nothing came "
        "between.",
    )
    CANCEL_IS_ASKED = ("C11", "A goal is answered as cancelled only if its client cancelled it.")
    VETO_COUNTS = ("C12", "A joint target that the check of one's own objects to moves nothing.")

    # ---- streams, endpoints, the link ----------------------------------------------------------

    STREAM_IS_OPEN = ("R3", "A source's set-point counts on its own open stream alone.")
    STREAM_ENDS = (
        "R3 3",
        "A stream is closed by idleness and by all that disarms its source but a refused command.",
    )
    SETPOINT_ENDS = (
        "R3 6 S2",
        "A source's set-point has a lifetime of at most `command_lifetime`.",
    )
    ENDPOINTS_ARE_ASKED = (
        "1",
        "Each e-stop endpoint gets another challenge within a quarter of its time-out.",
    )
    ENDPOINTS_HOLD = (
        "1",
        "Nothing moves or fades unless every e-stop endpoint has answered in time without "
        "objection.",
    )
    RESET_NEEDS_ENDPOINTS = ("1 2", "A reset is refused while an e-stop endpoint is not clear.")
    PERMIT_IS_TRUE = (
        "1 2",
        "Motion is shown as permitted only if nothing is latched and every endpoint is clear.",
    )
    LINK_HOLDS = ("C12", "Nothing moves or fades while the upstream link is not there.")

    # ---- how long ------------------------------------------------------------------------------

    SAID_AS_IT_IS = (
        "8 B5 B6 B7",
        "What is said is the owner's newest command, unchanged: jaws, wrist, arm input and speed.",
    )
    COMMAND_STANDS = ("6 B7", "Motion is said only while a command stands.")
    KEPT_UP = ("6 B7", "A command that stands is said again after `repeat_period`.")
    NEWEST_COUNTS = ("6 C11 U7", "A command older than one that was obeyed is refused.")
    ORDER_IS_CERTAIN = (
        "6 C11",
        "A moving command that may be older than one on another topic is refused.",
    )
    FUTURE_IS_REFUSED = ("6 U6", "A command from further ahead than `max_future` is refused.")
    SAID_AGAIN_MOVES_NOTHING = (
        "3 6 U7",
        "What a bag says again is refused, moves nothing, and is no sign of life of anybody; a "
        "command ends what its source asked for.",
    )
    LIFETIME_ENDS = ("6 S2", "Nothing stands when its lifetime is over.")
    DEMAND_IS_BOUNDED = (
        "6 12 U1 U6",
        "Motion is said for no longer than `command_lifetime`, its own lifetime and the time-out "
        "of its source allow.",
    )
    LAPSED_ENDS = (
        "6 12 3",
        "Motion that was not said again within `command_lifetime` has ended, and needs a neutral "
        "command: the driver has ended it by itself.",
    )
    TWIST_ENDS = ("6 S2", "A twist that moves has a lifetime, of at most `max_twist_lifetime`.")
    SILENT_MOVES_NOTHING = (
        "6 B7 D6 U1",
        "Nothing moves or fades for a source that is not heard within its time-out.",
    )
    GONE_MOVES_NOTHING = ("7 D6", "Nothing moves or fades for a source that is gone outright.")
    RELEASE_STOPS = ("8 B5 B7 U4", "After a neutral command of the owner nothing stands.")

    # ---- the stop ------------------------------------------------------------------------------

    STOP_IS_WHOLE = ("8 9 U11", "A stop asks for nothing beside: it is for all joints.")
    STOP_ONCE = (
        "9 D7",
        "No stop is said while nothing moves, but for an e-stop, a driver that is heard, a stop "
        "that was not confirmed, and the exit.",
    )
    NO_ZEROES = ("9 D7", "What asks for no motion is not said as motion.")
    ONLY_ASKED_STOPS_FADE = (
        "9",
        "A stop leaves time, and then `ease_time`, exactly if the owner asked for it by a neutral "
        "command and nothing is latched.",
    )
    FADING_IS_CUT = ("9", "Motion fades until it rests or until it is stopped at once.")
    REST_IS_CONFIRMED = (
        "9 D7 U12",
        "STILL comes after a stop only when the joints and the driver have said since that the "
        "arm rests, or when that was overdue.",
    )
    CONFIRMED_IN_TIME = (
        "9 D7",
        "A stop is confirmed within `stop_confirm_timeout`, else said once more.",
    )
    STATE_IS_TRUE = ("9 D7", "The state shows motion exactly while motion was said last.")

    # ---- the rest ------------------------------------------------------------------------------

    MALFORMED_IS_REFUSED = (
        "10",
        "A command with a number that is not finite or not in its range, or with two inputs, is "
        "refused.",
    )
    REFUSAL_IS_EXPLAINED = ("10", "A refusal has a code, a reason, a source, and counts on.")
    REFUSAL_ENDS = ("10 3", "After a refused command nothing of its source moves or fades.")
    STOP_IS_LAST = ("11 U13", "The last word before the exit is a stop.")
    SILENT_AFTER_EXIT = ("11 U13", "Nothing is said after the exit.")
    READY_DRIVER = (
        "2 18 U12 U15",
        "Nothing moves or fades unless the driver is heard, active, powered, without latch, fault "
        "or hold, and not in service mode.",
    )
    OBEDIENT_DRIVER = (
        "9 D7 U12",
        "Motion ends that the driver has for `driver_timeout` said not to be engaged for.",
    )
    WORDS_ARE_KNOWN = ("10", "What is said is a STOP, a RESET, or motion of its own kind.")
    SEQUENCE_GROWS = ("6", "Each word has the number after that of the word before.")


class Unsafe(AssertionError):
    """The arbiter did what it must not."""

    def __init__(self, *invariants: Invariant) -> None:
        super().__init__("; ".join(f"{each.name}: {each.text}" for each in invariants))
        self.invariants = invariants

    def __reduce__(self) -> tuple[type[Unsafe], tuple[Invariant, ...]]:
        return Unsafe, self.invariants


class Findings:
    """What is broken at one event: all of it, since one mistake may break several invariants."""

    def __init__(self) -> None:
        self._broken: list[Invariant] = []

    def demand(self, holds: bool, invariant: Invariant) -> bool:
        """Note the invariant if it does not hold; return whether it does."""
        if not holds:
            self._broken.append(invariant)
        return holds

    def close(self) -> None:
        """End the event.

        Raises:
            Unsafe: something was found.
        """
        if self._broken:
            broken = dict.fromkeys(self._broken)
            self._broken.clear()
            raise Unsafe(*broken)
