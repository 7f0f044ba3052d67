"""Cores that were broken on purpose, and what each of them must be caught by.

A core is broken where a mistake would be made: a row of a table, a check, a time-out, an event
that is not heard, a word that is not said, a state that is not so.
"""

from __future__ import annotations

from dataclasses import replace

from arbiter_bench import FORWARD, WALL
from arbiter_breaking import (
    GrantsOnReset,
    Immortal,
    KeepsTheDead,
    Remembers,
    Streams,
    SwallowsFirst,
    by_hand,
    configured,
    configured_sources,
    deaf,
    hearing,
    mute,
    patched,
    refusing,
    saying,
    showing,
    speaking,
    taking_for_free,
    unchecked,
    unminding,
    with_row,
)
from arbiter_broken_goals import GOAL_MISTAKES
from arbiter_catching import broken
from arbiter_invariants import Invariant as I

from reach_alpha5_arbiter import admission, events
from reach_alpha5_arbiter.codes import RefusalCode, StopCause
from reach_alpha5_arbiter.driver import BLOCKS, Standing
from reach_alpha5_arbiter.latches import Latches
from reach_alpha5_arbiter.motion import Motion
from reach_alpha5_arbiter.source import Place
from reach_alpha5_arbiter.tables import (
    ACTIVITY,
    ARMING,
    ESTOP,
    FAULT,
    Activity,
    ActivityEvent,
    Arming,
    ArmingEvent,
    FaultLatch,
    LatchEvent,
    Row,
    Word,
)
from reach_alpha5_common.command import (
    CommandKind,
    DriverCommand,
    GripperCommand,
    GripperVelocities,
    StopLevel,
)


def slow_jaws(command: DriverCommand) -> DriverCommand:
    """Return what is said, with the jaws as slow as the arm."""
    asked = command.input
    grip = asked.gripper_velocities.grip * (1.0 + asked.speed_modifier)
    return replace(command, input=replace(asked, gripper_velocities=GripperVelocities(grip)))


REST, JOG, EASE, END = Activity.STILL, Activity.JOGGING, Activity.EASING, Activity.ENDING
HALT, INSIST = ActivityEvent.HALT, ActivityEvent.INSIST

MUTE: dict[StopCause, I] = {
    StopCause.DRIVER_HEARD: I.HEARD_DRIVER_IS_STOPPED,
    StopCause.NEUTRAL: I.RELEASE_STOPS,
    StopCause.LIFETIME_ENDED: I.LIFETIME_ENDS,
    StopCause.LAPSED: I.LAPSED_ENDS,
    StopCause.COMMAND_REFUSED: I.REFUSAL_ENDS,
    StopCause.SOURCE_SILENT: I.SILENT_MOVES_NOTHING,
    StopCause.SOURCE_GONE: I.GONE_MOVES_NOTHING,
    StopCause.TWO_CLIENTS: I.ONE_CLIENT,
    StopCause.LEASE_TAKEN: I.OWNER_MOVES,
    StopCause.LEASE_RETURNED: I.NEUTRAL_FIRST,
    StopCause.STREAM_CLOSED: I.NEUTRAL_FIRST,
    StopCause.STREAM_IDLE: I.NEUTRAL_FIRST,
    StopCause.REPLACED: I.NEUTRAL_FIRST,
    StopCause.PREEMPTED: I.GOAL_SLOWS_IN_TIME,
    StopCause.GOAL_CANCELED: I.GOAL_SLOWS_IN_TIME,
    StopCause.GOAL_REACHED: I.STATE_IS_TRUE,
    StopCause.GOAL_STALLED: I.STATE_IS_TRUE,
    StopCause.PATH_LEFT: I.PATH_IS_WATCHED,
    StopCause.GOAL_MISSED: I.STATE_IS_TRUE,
    StopCause.NO_FEEDBACK: I.GOAL_IS_WATCHED,
    StopCause.UPSTREAM_LOST: I.LINK_HOLDS,
    StopCause.ESTOP: I.PRESS_IS_SAID,
    StopCause.FAULT: I.FAULT_HOLDS,
    StopCause.DRIVER_LOST: I.FAULT_HOLDS,
    StopCause.DRIVER_INACTIVE: I.READY_DRIVER,
    StopCause.DRIVER_IDLE: I.OBEDIENT_DRIVER,
    StopCause.ARM_DISCONNECTED: I.READY_DRIVER,
    StopCause.ARM_UNPOWERED: I.READY_DRIVER,
    StopCause.ARM_HELD: I.READY_DRIVER,
    StopCause.SERVICE_MODE: I.READY_DRIVER,
    StopCause.STOP_UNCONFIRMED: I.CONFIRMED_IN_TIME,
    StopCause.RESET: I.RESET_MOVES_NOTHING,
    StopCause.SHUTDOWN: I.STOP_IS_LAST,
}
"""For each cause of a stop: what a core breaks that does not say that stop."""

RARE = {StopCause.GOAL_STALLED, StopCause.GOAL_MISSED, StopCause.SERVICE_MODE}
"""Stops whose lack a walk finds only after a hundred thousand events: they are not waited for."""

SHADOWED = {Standing.SILENT, Standing.FAULTED}
"""Standings of the driver behind which another check stands: a walk of a hundred thousand events
has not seen the lack of theirs."""

DISARMING = {
    ArmingEvent.REFUSED: I.NEUTRAL_FIRST,
    ArmingEvent.LAPSED: I.NEUTRAL_FIRST,
    ArmingEvent.NOT_LIVE: I.NEUTRAL_FIRST,
    ArmingEvent.GRANT: I.NEUTRAL_FIRST,
    ArmingEvent.OUSTED: I.NEUTRAL_FIRST,
    ArmingEvent.RESET: I.NEUTRAL_FIRST,
    ArmingEvent.NOT_READY: I.NEUTRAL_FIRST,
}
"""Each thing that disarms: what a core breaks in which it does not. A LATCH alone is not missed:
while it stands every command is refused, which disarms, and so does the reset that clears it."""

CHECKS: dict[RefusalCode, I] = {
    RefusalCode.SOURCE_NOT_ALIVE: I.GONE_MOVES_NOTHING,
    RefusalCode.TWO_CLIENTS: I.ONE_CLIENT,
    RefusalCode.FUTURE_STAMP: I.FUTURE_IS_REFUSED,
    RefusalCode.STALE_STAMP: I.NEWEST_COUNTS,
    RefusalCode.ESTOP_LATCHED: I.ESTOP_HOLDS,
    RefusalCode.FAULT_LATCHED: I.FAULT_HOLDS,
    RefusalCode.UPSTREAM_LOST: I.LINK_HOLDS,
    RefusalCode.NO_STREAM: I.STREAM_IS_OPEN,
    RefusalCode.NOT_OWNER: I.LEASE_IS_FREE,
    RefusalCode.NEUTRAL_REQUIRED: I.NEUTRAL_FIRST,
}
"""Each check of a command: what a core breaks that lacks it."""

WRONG_ROWS = (
    broken(
        "a press says nothing while a stop is under way",
        with_row(ACTIVITY, Row(END, INSIST, END)),
        I.PRESS_IS_SAID,
    ),
    broken(
        "a weaker press weakens the e-stop",
        with_row(ESTOP, Row(StopLevel.CUT, LatchEvent.SETTLE, StopLevel.SETTLE_THEN_CUT)),
        I.LEVEL_IS_SAID,
    ),
    broken(
        "a fault does not latch",
        with_row(FAULT, Row(FaultLatch.CLEAR, LatchEvent.FAULT, FaultLatch.CLEAR)),
        I.FAULT_STANDS,
    ),
    broken(
        "a second reason says a second stop",
        with_row(ACTIVITY, Row(END, HALT, END, Word.STOP)),
        I.STOP_ONCE,
    ),
    broken(
        "a release while still says a stop",
        with_row(ACTIVITY, Row(REST, ActivityEvent.EASE, REST, Word.STOP)),
        I.STOP_ONCE,
    ),
    broken(
        "every stop fades",
        with_row(ACTIVITY, Row(JOG, HALT, EASE, Word.EASE)),
        I.ONLY_ASKED_STOPS_FADE,
    ),
    broken(
        "the stop that is asked for does not fade",
        with_row(ACTIVITY, Row(JOG, ActivityEvent.EASE, END, Word.STOP)),
        I.ONLY_ASKED_STOPS_FADE,
    ),
    broken(
        "whatever else waits until the motion has faded",
        with_row(ACTIVITY, Row(EASE, HALT, EASE)),
        I.REFUSAL_ENDS,
    ),
    broken(
        "a release is forgotten while the motion fades",
        with_row(ACTIVITY, Row(EASE, ActivityEvent.EASE, END)),
        I.FADING_IS_CUT,
    ),
    broken(
        "a stop is taken for rest",
        with_row(ACTIVITY, Row(JOG, HALT, REST, Word.STOP)),
        I.REST_IS_CONFIRMED,
    ),
)

WRONG_SETTINGS = (
    broken("long lifetimes", configured(command_lifetime=1.0), I.DEMAND_IS_BOUNDED),
    broken("rare repetitions", configured(repeat_period=0.12), I.KEPT_UP),
    broken("long twists", configured(max_twist_lifetime=100.0), I.TWIST_ENDS),
    broken("a far future", configured(max_future=1e6), I.FUTURE_IS_REFUSED),
    broken("much time to confirm", configured(stop_confirm_timeout=6.0), I.CONFIRMED_IN_TIME),
    broken("more time to fade", configured(ease_time=0.51), I.ONLY_ASKED_STOPS_FADE),
    broken(
        "much patience with the driver",
        configured(driver_timeout=2.0),
        I.HEARD_DRIVER_IS_STOPPED,
    ),
    broken(
        "much patience with a source",
        configured_sources("heartbeat_timeout", 2.0),
        I.DEMAND_IS_BOUNDED,
    ),
    broken(
        "much patience with an idle owner",
        configured_sources("idle_release", 2.0),
        I.IDLE_LETS_GO,
    ),
)


MISTAKES = (
    broken(
        "a source that is gone is not missed",
        deaf(events.SourceGone),
        I.OWNER_IS_THERE,
    ),
    broken("e-stops are not heard", deaf(events.EStopPress), I.PRESS_IS_SAID),
    broken("resets are not heard", deaf(events.Reset), I.RESET_IS_SAID),
    broken(
        "absence is heard as presence",
        hearing(
            lambda event: (
                replace(event, present=True) if isinstance(event, events.Heartbeat) else event
            )
        ),
        I.GONE_MOVES_NOTHING,
    ),
    broken(
        "all clients are one",
        hearing(
            lambda event: (
                replace(event, client_id="a")
                if isinstance(event, events.Heartbeat) and event.client_id
                else event
            )
        ),
        I.ONE_CLIENT,
    ),
    broken(
        "every e-stop is the least",
        hearing(
            lambda event: (
                replace(event, level=1)
                if isinstance(event, events.EStopPress) and event.level
                else event
            )
        ),
        I.PRESS_IS_SAID,
    ),
    broken(
        "a fault takes the place of the e-stop",
        patched(Latches, "failed", lambda self, *causes: Latches(fault=FaultLatch.LATCHED)),
        I.ESTOP_STANDS,
    ),
    broken(
        "an e-stop takes the place of the fault",
        patched(Latches, "pressed", lambda self, level, *text: Latches(estop=level)),
        I.FAULT_STANDS,
    ),
    broken(
        "automation takes the lease",
        patched(admission, "against_acquire", taking_for_free),
        I.LEASE_IS_FREE,
    ),
    broken(
        "topics may overtake each other",
        patched(Place, "is_ambiguous_with", lambda self, other: False),
        I.ORDER_IS_CERTAIN,
    ),
    broken(
        "the joints alone say that the arm rests",
        patched(Motion, "is_confirmed", property(lambda self: self.joints_rest)),
        I.REST_IS_CONFIRMED,
    ),
    broken(
        "the driver alone says that the arm rests",
        patched(Motion, "is_confirmed", property(lambda self: self.arm_rests)),
        I.REST_IS_CONFIRMED,
    ),
    broken(
        "nothing is malformed",
        patched(GripperCommand, "problem", lambda self: None),
        I.MALFORMED_IS_REFUSED,
    ),
    broken(
        "what a bag says is a sign of life",
        hearing(
            lambda event: (
                events.Heartbeat(event.source, "a", True)
                if isinstance(event, events.Replayed) and not event.stops
                else event
            )
        ),
        I.SAID_AGAIN_MOVES_NOTHING,
    ),
    broken(
        "what a bag asks is obeyed",
        hearing(
            lambda event: (
                events.Command(event.source, FORWARD, WALL, WALL)
                if isinstance(event, events.Replayed) and event.stops
                else event
            )
        ),
        I.SAID_AGAIN_MOVES_NOTHING,
    ),
    broken(
        "what a bag asks stops nothing",
        hearing(
            lambda event: (
                replace(event, stops=False) if isinstance(event, events.Replayed) else event
            )
        ),
        I.SAID_AGAIN_MOVES_NOTHING,
    ),
    broken("it goes on after its exit", by_hand(Immortal), I.SILENT_AFTER_EXIT),
    broken("the first press is lost", by_hand(SwallowsFirst), I.PRESS_COUNTS),
    broken(
        "it repeats what was stopped",
        by_hand(Remembers),
        I.COMMAND_STANDS,
    ),
    broken("it streams zeroes", by_hand(Streams), I.NO_ZEROES),
    broken(
        "the lease stays with the dead",
        by_hand(KeepsTheDead),
        I.OWNER_IS_THERE,
    ),
    broken("a reset grants the lease", by_hand(GrantsOnReset), I.RESET_MOVES_NOTHING),
    broken(
        "the speed modifier is for the jaws as well",
        speaking(CommandKind.INPUT, slow_jaws),
        I.SAID_AS_IT_IS,
    ),
    broken(
        "a stop opens the jaws",
        speaking(
            CommandKind.STOP,
            lambda command: replace(command, input=GripperCommand(GripperVelocities(grip=0.1))),
        ),
        I.STOP_IS_WHOLE,
    ),
    broken(
        "a twist is said as an input",
        speaking(CommandKind.TWIST, lambda command: replace(command, kind=CommandKind.INPUT)),
        I.WORDS_ARE_KNOWN,
    ),
    broken(
        "stops are not numbered",
        speaking(CommandKind.STOP, lambda command: replace(command, sequence=1)),
        I.SEQUENCE_GROWS,
    ),
    broken(
        "what a command changes is not shown",
        saying(
            lambda event, out: (
                None
                if isinstance(out, events.StateChanged) and isinstance(event, events.Command)
                else out
            )
        ),
        I.STATE_IS_TRUE,
    ),
    broken("leases are not numbered", showing(lease_epoch=0), I.EPOCH_COUNTS),
    broken("refusals have no reason", refusing(reason=""), I.REFUSAL_IS_EXPLAINED),
    broken("refusals are not counted", refusing(count=1), I.REFUSAL_IS_EXPLAINED),
)

BROKEN = (
    *(
        broken(f"no stop is said: {cause.code}", mute(cause), MUTE[cause])
        for cause in MUTE
        if cause not in RARE
    ),
    *(
        broken(
            f"no disarming: {event.name}",
            with_row(ARMING, Row(Arming.ARMED, event, Arming.ARMED)),
            breaks,
        )
        for event, breaks in DISARMING.items()
    ),
    *(broken(f"no check: {code.code}", unchecked(code), CHECKS[code]) for code in CHECKS),
    *(
        broken(f"no objection: the driver is {standing.name}", unminding(standing), I.READY_DRIVER)
        for standing in BLOCKS
        if standing not in SHADOWED
    ),
    *WRONG_ROWS,
    *WRONG_SETTINGS,
    *GOAL_MISTAKES,
    *MISTAKES,
)
"""All of them."""
