"""Who may do what: the table that the policy file is made of.

One enclave for each process, and one for each source, so that the keys say who speaks. Everybody
may stop. Nobody may do what nothing uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from alpha5_security.layout import PAD, VERBS, Layout
from alpha5_security.policy import Enclave, Profile, Right, Verb

Rights = frozenset[Right]


def rights(verb: Verb, *names: str) -> Rights:
    """Return the rights to do the same with some names."""
    return frozenset(Right(verb, name) for name in names)


def publish(*names: str) -> Rights:
    """Return the rights to publish topics."""
    return rights(Verb.PUBLISH, *names)


def subscribe(*names: str) -> Rights:
    """Return the rights to subscribe to topics."""
    return rights(Verb.SUBSCRIBE, *names)


def reply(*names: str) -> Rights:
    """Return the rights to offer services."""
    return rights(Verb.REPLY, *names)


def request(*names: str) -> Rights:
    """Return the rights to call services."""
    return rights(Verb.REQUEST, *names)


STOP = publish("estop") | request("estop")
"""What everybody may."""

BARE_NODE = publish("/parameter_events") | reply("~/get_type_description")
"""What each node of ROS 2 has."""

READ_PARAMETERS = (
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
)
WRITE_PARAMETERS = ("set_parameters", "set_parameters_atomically")
"""Each node offers them, unasked. Nobody may call them: ours take parameters at start alone."""

NODE = (
    BARE_NODE
    | publish("/rosout")
    | reply(*(f"~/{name}" for name in (*READ_PARAMETERS, *WRITE_PARAMETERS)))
)
"""What a node in Python has if it does not ask for less."""

CPP_NODE = NODE | subscribe("/parameter_events")
"""What a node in C++ has."""

LIFECYCLE = (
    "change_state",
    "get_available_states",
    "get_available_transitions",
    "get_state",
    "get_transition_graph",
)

COMMANDS = ("gripper_ctrl", "twist", "twist_ctrl", "joint_ctrl")
"""The topics on which a source says what it wants, below its name."""

LEASE = ("acquire_lease", "return_lease")
STREAM = ("open_stream", "close_stream")
ACTIONS = ("follow_joint_trajectory", "gripper_cmd")
OBSTACLES = ("add_obstacles", "remove_obstacle", "attach_payload", "detach_payload")
ARM_REPORTS = ("arm_state", "gripper_tel", "joint_states", "obstacles")
SHOWN = ("arm_state", "gripper_tel", "obstacles", "arbiter_state", "driver_command")
"""What the markers are made of, beside the description."""

VERB_SERVICES = tuple(
    f"verbs/{name}" for name in ("stow", "deploy", "open_jaws", "close_jaws", "stop")
)

TRANSFORMS = ("/tf", "/tf_static", "robot_description")
REPORTS = (*ARM_REPORTS, "arbiter_state", "motion_permitted", "/diagnostics", *TRANSFORMS)
"""What a source may read: how the arm is, and why it does not move."""


def enclaves(layout: Layout) -> tuple[Enclave, ...]:
    """Return the whole policy of a layout, in the order of the file."""
    processes = [*_own(layout), *_sources(layout), *_others(layout)]
    read = subscribe(*sorted(set(_published(processes))))
    return (*processes, *_readers(layout, read))


def _own(layout: Layout) -> Iterator[Enclave]:
    """Yield those of the processes that the launch file starts."""
    yield _enclave(
        layout,
        "driver",
        "Holds the port. Hears the arbiter, and an e-stop from anybody.",
        NODE
        | STOP
        | publish(*ARM_REPORTS, "~/transition_event", "/diagnostics")
        | subscribe("driver_command")
        | reply("power", *OBSTACLES, *(f"~/{name}" for name in LIFECYCLE))
        | (subscribe("joint_jog", "preset") if layout.service_mode else frozenset()),
        Profile(f"/{layout.namespace}", "driver_estop", BARE_NODE | subscribe("estop")),
    )
    yield _enclave(
        layout,
        "arbiter",
        "Decides. The only one that says anything to the driver.",
        NODE
        | STOP
        | publish("driver_command", "arbiter_state", "arbiter_journal", "motion_permitted")
        | publish("/diagnostics", *(f"estop/{e}/challenge" for e in layout.estop_endpoints))
        | subscribe("estop", "arm_state", "joint_states")
        | subscribe(*(f"estop/{e}/check_in" for e in layout.estop_endpoints))
        | subscribe(*(f"{s}/{topic}" for s in layout.sources for topic in _inputs()))
        | (subscribe("upstream/heartbeat") if layout.upstream else frozenset())
        | reply("estop", "reset", *LEASE, *STREAM)
        | rights(Verb.EXECUTE, *ACTIONS),
    )
    yield _enclave(
        layout,
        "joy",
        "The pad's own node, stock: what it publishes moves the arm through teleop.",
        CPP_NODE | STOP | publish("joy") | subscribe("joy/set_feedback"),
    )
    yield _enclave(
        layout,
        "robot_state_publisher",
        "The arm's transforms, stock.",
        CPP_NODE | STOP | publish(*TRANSFORMS) | subscribe("joint_states"),
    )
    yield _enclave(
        layout,
        "markers",
        "What rviz shows of the arm.",
        NODE | STOP | publish("markers") | subscribe("robot_description", *SHOWN),
    )
    if layout.verbs:
        yield _enclave(
            layout,
            "verbs",
            f"Stamped twists and verbs; the source {VERBS} for tools that know no arm.",
            NODE
            | STOP
            | publish(*(f"{VERBS}/{topic}" for topic in ("gripper_ctrl", "twist_ctrl")))
            | publish(f"{VERBS}/heartbeat")
            | subscribe("cmd_vel", "arbiter_state", "arm_state", "gripper_tel")
            | reply(*VERB_SERVICES),
        )


def _inputs() -> tuple[str, ...]:
    return (*COMMANDS, "heartbeat")


def _sources(layout: Layout) -> Iterator[Enclave]:
    """Yield those of the sources."""
    for name in layout.sources:
        if name == PAD:
            yield _enclave(
                layout,
                name,
                "Reads the pad; the source of that name.",
                NODE
                | STOP
                | publish(f"{name}/gripper_ctrl", f"{name}/heartbeat")
                | publish("joy/set_feedback", "joy/set_feedback_array")
                | subscribe("joy", "arbiter_state", "arm_state")
                | request("reset"),
            )
            continue
        person = name in layout.people
        tool = publish("cmd_vel") | request(*VERB_SERVICES)
        yield _guest(
            layout,
            name,
            f"The source of that name, {'a person' if person else 'automation'}.",
            publish(*(f"{name}/{topic}" for topic in _inputs()))
            | subscribe(*REPORTS)
            | request(*LEASE, *STREAM, *(("reset",) if person else ()))
            | (rights(Verb.CALL, *ACTIONS) if name == layout.goal_source else frozenset())
            | (tool if layout.verbs and name == VERBS else frozenset()),
            # alpha5-heartbeat, on behalf of a program that has none.
            Profile(
                f"/{layout.namespace}",
                f"{name}_heartbeat",
                publish("/parameter_events", f"{name}/heartbeat"),
            ),
        )


def _others(layout: Layout) -> Iterator[Enclave]:
    """Yield those of who says something, but moves nothing."""
    for name in layout.estop_endpoints:
        yield _guest(
            layout,
            f"estop_{name}",
            f"The e-stop endpoint {name}.",
            publish(f"estop/{name}/check_in")
            | subscribe(f"estop/{name}/challenge", "arbiter_state", "motion_permitted"),
        )
    if layout.upstream:
        yield _guest(
            layout, "upstream", "The link that is watched.", publish("upstream/heartbeat")
        )
    if layout.service_mode:
        yield _guest(
            layout,
            "desk",
            "Service mode: moves joints past the arbiter. No keys of it on a dive.",
            publish("joint_jog", "preset") | subscribe(*REPORTS),
        )
    yield _guest(
        layout,
        "anybody",
        "Whoever is there: may stop the arm, and know whether it may move.",
        subscribe("motion_permitted"),
    )


def _readers(layout: Layout, read: Rights) -> Iterator[Enclave]:
    """Yield those that may read everything."""
    parameters = [
        f"{node}/{service}" for node in ("driver", "arbiter", PAD) for service in READ_PARAMETERS
    ]
    yield _guest(
        layout,
        "operator",
        "Whoever runs the drone: resets, power, obstacles, the driver's life; moves nothing.",
        read
        | request("reset", "power", *LEASE, *OBSTACLES, *parameters)
        | request(*(f"driver/{name}" for name in LIFECYCLE)),
    )
    root, ours = "/", f"/{layout.namespace}"
    yield _guest(
        layout,
        "observer",
        "rviz, a recorder, a viewer: reads everything; a bag that is played with it says nothing.",
        read,
        Profile(ours, "rviz", CPP_NODE),
        Profile(ours, "browser_view", BARE_NODE | publish("/rosout")),
        Profile(root, "alpha5_recorder", BARE_NODE),
        Profile(ours, "transform_listener_impl_*", BARE_NODE),
        Profile(
            root,
            "rosbag2_recorder",
            CPP_NODE | publish("events/write_split") | reply(*(f"~/{name}" for name in RECORDER)),
        ),
    )


RECORDER = ("is_paused", "pause", "resume", "snapshot", "split_bagfile")
"""Services of `ros2 bag record`."""


def _published(enclaves: Iterable[Enclave]) -> Iterator[str]:
    """Yield the topics that somebody publishes, absolute."""
    for enclave in enclaves:
        for right in enclave.basic():
            if right.verb is Verb.PUBLISH:
                yield right.name


def _enclave(layout: Layout, name: str, purpose: str, allowed: Rights, *more: Profile) -> Enclave:
    """Return the enclave of a process whose node has its name."""
    profile = Profile(f"/{layout.namespace}", name, allowed)
    return Enclave(f"/{layout.namespace}/{name}", purpose, (profile, *more))


def _guest(layout: Layout, name: str, purpose: str, allowed: Rights, *more: Profile) -> Enclave:
    """Return the enclave of a process that is not ours: any node of its name, and `ros2 …`."""
    tool = Profile("/", "_ros2cli_*", NODE)
    return _enclave(layout, name, purpose, CPP_NODE | STOP | allowed, *more, tool)
