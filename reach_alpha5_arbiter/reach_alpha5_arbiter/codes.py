"""Every code that the arbiter gives: why it stopped, what it refused, what latched.

This is the one table of them. `docs/arbiter.md` is made from it. The codes of a malformed command
(`MALFORMED`) belong to the command itself and are documented in `reach_alpha5_common.command`;
those of a goal (`BAD_GOAL`), to `trajectory`.
"""

from __future__ import annotations

import enum

from reach_alpha5_common.refusal import Problem

MALFORMED = (
    *("not_finite", "out_of_range", "unknown_arm_input", "two_inputs", "unknown_pose"),
    *("name_too_long", "bad_sizes", "too_many_joints", "joint_named_twice"),
)
"""Codes of a malformed command."""

BAD_GOAL = (
    *("unknown_joint", "joint_named_twice", "partial_goal", "too_many_points", "bad_sizes"),
    *("not_finite", "bad_times", "ends_moving", "bad_tolerance", "start_passed"),
    *("start_too_far", "start_elsewhere", "no_feedback", "not_supported", "out_of_range"),
)
"""Codes of a goal that cannot be followed."""


class Code(enum.Enum):
    """A code as it goes over the wire, with its meaning for people."""

    def __init__(self, code: str, meaning: str) -> None:
        self.code = code
        self.meaning = meaning


class StopCause(Code):
    """Why a stop was sent: `ArbiterState.last_stop_cause`."""

    DRIVER_HEARD = (
        "driver_heard",
        "The driver is heard for the first time, or again: whatever it still executes is old.",
    )
    NEUTRAL = (
        "neutral",
        "The owner's command asks for no motion. The one stop that leaves time: `ease_time`.",
    )
    LIFETIME_ENDED = ("lifetime_ended", "The lifetime that the owner gave its command is over.")
    LAPSED = (
        "lapsed",
        "The arbiter was held up for `command_lifetime`: what it said last is over in the driver, "
        "and what was asked for since may wait unheard.",
    )
    COMMAND_REFUSED = (
        "command_refused",
        "The owner's newest command was refused: the one before it is no longer what it wants.",
    )
    SOURCE_SILENT = ("source_silent", "No heartbeat of the owner within its time-out.")
    SOURCE_GONE = (
        "source_gone",
        "The owner is gone outright: it said so, or its publisher disappeared.",
    )
    TWO_CLIENTS = ("two_clients", "A second client speaks on the owner's topics.")
    LEASE_TAKEN = ("lease_taken", "A person took the lease from the owner.")
    LEASE_RETURNED = ("lease_returned", "The owner gave the lease back.")
    STREAM_CLOSED = ("stream_closed", "The stream of the owner was closed.")
    STREAM_IDLE = ("stream_idle", "No command came on the open stream within its idle time-out.")
    REPLACED = ("replaced", "A newer goal or command replaces what the owner had asked for.")
    PREEMPTED = ("preempted", "A person moves the arm while a goal owned it.")
    GOAL_CANCELED = ("goal_canceled", "The goal was cancelled by its client.")
    GOAL_REACHED = ("goal_reached", "The goal has reached its end within its tolerances.")
    GOAL_STALLED = ("goal_stalled", "The jaws do not get on towards their goal: they hold.")
    PATH_LEFT = ("path_left", "A joint left the path of the goal by more than its tolerance.")
    GOAL_MISSED = ("goal_missed", "The end of the goal was not met within its tolerances in time.")
    NO_FEEDBACK = (
        "no_feedback",
        "No joint positions within `feedback_timeout` while a goal owns the arm.",
    )
    UPSTREAM_LOST = ("upstream_lost", "The upstream link is not heard, or says that it is down.")
    ESTOP = ("estop", "An e-stop was pressed, or an endpoint objects or lapsed; it is latched.")
    FAULT = ("fault", "A fault latched, or the driver reports a minor one.")
    DRIVER_LOST = ("driver_lost", "The driver's state is not heard any more.")
    DRIVER_INACTIVE = ("driver_inactive", "The driver's lifecycle node is not active any more.")
    DRIVER_IDLE = (
        "driver_idle",
        "The driver does not obey: for `driver_timeout` it has said that it is not engaged. It "
        "wants a stop first; `ArmState.last_refusal` says why.",
    )
    ARM_DISCONNECTED = ("arm_disconnected", "The driver reports that no arm answers.")
    ARM_UNPOWERED = ("arm_unpowered", "The driver reports that the motors may not be driven.")
    ARM_HELD = (
        "arm_held",
        "The driver keeps the arm from being engaged; `ArmState.holds` says why.",
    )
    SERVICE_MODE = ("service_mode", "The driver is in service mode.")
    STOP_UNCONFIRMED = (
        "stop_unconfirmed",
        "The stop before it was not confirmed from feedback in time: it is sent once more.",
    )
    RESET = ("reset", "A reset was asked for: it never leaves motion standing.")
    SHUTDOWN = ("shutdown", "The arbiter exits.")


class RefusalCode(Code):
    """Why a command, a heartbeat or a request was not obeyed: `Refusal.code`."""

    UNKNOWN_SOURCE = (
        "unknown_source",
        "no such source; add it to the parameter `sources` or use one that is there",
    )
    BAD_CLIENT_ID = (
        "bad_client_id",
        "client_id is empty or too long; send 1 to 128 characters, unique per running client",
    )
    WRONG_CLIENT = (
        "wrong_client",
        "client_id is not the one that this source's heartbeat carries; ask with that one",
    )
    SOURCE_NOT_ALIVE = (
        "source_not_alive",
        "this source has no heartbeat that says present; send heartbeats first",
    )
    REPLAYED = (
        "replayed",
        "its stamp is further than `max_stamp_age` from when it is sent, as out of a bag; stop "
        "the player, or stamp it when it is sent",
    )
    TWO_CLIENTS = (
        "two_clients",
        "more than one client speaks on this source's topics; stop all but one, or give each a "
        "source of its own",
    )
    BAD_LIFETIME = (
        "bad_lifetime",
        "a twist that moves must say for how long; send a lifetime above 0, and not above "
        "`max_twist_lifetime`",
    )
    FUTURE_STAMP = (
        "future_stamp",
        "the stamp lies in the future; set the sender's clock, then send a neutral command",
    )
    STALE_STAMP = (
        "stale_stamp",
        "the stamp is older than that of a command before it, or the same as that of one on "
        "another topic; send a neutral command to go on",
    )
    BAD_SETPOINT_LIFETIME = (
        "bad_setpoint_lifetime",
        "a set-point must say for how long; send a lifetime above 0, and not above "
        "`command_lifetime`",
    )
    NO_STREAM = (
        "no_stream",
        "no joint stream of that stream_id is open for this source; call `open_stream` first",
    )
    STREAM_OPEN = (
        "stream_open",
        "a stream is open, and this is no command of it; send those, or call `close_stream`",
    )
    BAD_STREAM = (
        "bad_stream",
        "there is no such kind of stream, or no such idle time-out; see StreamStatus and "
        "`stream_idle_timeout`",
    )
    GOAL_ACTIVE = (
        "goal_active",
        "a goal owns the arm; cancel it and wait for its result first",
    )
    NOT_GOAL_SOURCE = (
        "not_goal_source",
        "goals are taken for the source that `goal_source` names; no source is, or it is unknown",
    )
    TARGET_REFUSED = ("target_refused", "the check of `target_check` objects to a joint target")
    UPSTREAM_LOST = (
        "upstream_lost",
        "the upstream link is not heard, or says that it is down; see `upstream_timeout`",
    )
    UNKNOWN_ENDPOINT = (
        "unknown_endpoint",
        "no such e-stop endpoint; add it to the parameter `estop_endpoints`",
    )
    ENDPOINT_NOT_CLEAR = (
        "endpoint_not_clear",
        "an e-stop endpoint objects or does not check in; see `estop_endpoints` of the state",
    )
    ESTOP_LATCHED = (
        "estop_latched",
        "an e-stop is latched; find out who pressed it and why, then call `reset`",
    )
    FAULT_LATCHED = (
        "fault_latched",
        "a fault is latched; read fault_causes, mend it, then call `reset`",
    )
    DRIVER_LOST = ("driver_lost", "the driver is not heard; start it or look at its log")
    DRIVER_INACTIVE = (
        "driver_inactive",
        "the driver is not active; configure and activate its lifecycle node",
    )
    ARM_DISCONNECTED = (
        "arm_disconnected",
        "the driver has no arm; check the arm's power and the serial line",
    )
    DRIVER_ESTOPPED = (
        "driver_estopped",
        "the driver's own e-stop latch is set; call `reset` once more",
    )
    DRIVER_FAULTED = (
        "driver_faulted",
        "the driver reports a fault; read its fault_causes, mend it, then call `reset`",
    )
    ARM_UNPOWERED = (
        "arm_unpowered",
        "the arm's motors may not be driven; switch them on through the driver's service `power`, "
        "or call `reset`",
    )
    ARM_HELD = (
        "arm_held",
        "the driver keeps the arm from being engaged; look up `holds` of its state in "
        "docs/driver.md",
    )
    SERVICE_MODE = (
        "service_mode",
        "the driver is in service mode and takes no ordinary input; restart it without",
    )
    NOT_OWNER = (
        "not_owner",
        "another source holds the lease; wait until it is released, or take it as a person",
    )
    NEUTRAL_REQUIRED = (
        "neutral_required",
        "a neutral command must come first; let go of everything once, or send an empty goal",
    )
    LEASE_HELD = (
        "lease_held",
        "another source holds the lease; wait until it is released, or take it as a person",
    )
    NOT_A_PERSON = (
        "not_a_person",
        "only a person may take a lease that is held; wait until it is released",
    )
    WRONG_EPOCH = (
        "wrong_epoch",
        "lease_epoch is not that of the present lease; it has changed hands since",
    )

    def problem(self, detail: str = "") -> Problem:
        """Return it as a problem, `detail` in brackets after the meaning."""
        return Problem(self.code, f"{self.meaning} ({detail})" if detail else self.meaning)


class Disarmed(Code):
    """Why what needs an armed source has ended: a goal that waits, an open stream.

    The names are those of `tables.ArmingEvent`.
    """

    REFUSED = ("refused", "A command of its source was refused.")
    NOT_LIVE = ("not_live", "Its source fell silent, is gone, or is two.")
    GRANT = ("grant", "Its source was granted the lease anew.")
    OUSTED = ("ousted", "Its source lost the lease or returned it.")
    LAPSED = ("lapsed", "The arbiter was held up, and what it had said for its source lapsed.")
    LATCH = ("latch", "An e-stop or a fault latched.")
    RESET = ("reset", "A reset was asked for.")
    NOT_READY = (
        "not_ready",
        "The driver, its arm or the upstream link stopped being ready, or does not obey.",
    )


class FaultCause(Code):
    """What latched as a fault: `ArbiterState.fault_causes`.

    After `driver_fault` come the causes as the driver names them.
    """

    DRIVER_FAULT = ("driver_fault", "The driver reports a major fault.")
    DRIVER_LOST = (
        "driver_lost",
        "The driver fell silent while the arm moved or its stop was not confirmed yet.",
    )
    STOP_UNCONFIRMED = (
        "stop_unconfirmed",
        "The arm answers, but did not come to rest in time after a stop.",
    )
