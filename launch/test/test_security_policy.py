"""The SROS 2 policy: who may what by the file itself, and the file beside the graph that runs.

What DDS makes of the file is not tested: the DDS of this distribution has no security.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import rclpy
import yaml
from control_msgs.action import FollowJointTrajectory
from domain import Domain
from rclpy.action import ActionClient, ActionServer
from rclpy.context import Context
from stack import Stack

from reach_alpha5_arbiter.parameters import PARAMETERS, source_parameters

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "security"))

from alpha5_security.cli import await_agreement, main, text_of
from alpha5_security.comparison import RunningNode, allows, problems
from alpha5_security.graph import read_graph
from alpha5_security.layout import TAKEN, Layout, LayoutError
from alpha5_security.policy import Enclave, Profile, Right, Verb, expanded
from alpha5_security.policy_file import PolicyFileError, read, written
from alpha5_security.table import ACTIONS, COMMANDS, WRITE_PARAMETERS, enclaves

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "launch/security/alpha5.policy.xml"
EVERYTHING = Layout(
    namespace="left",
    estop_endpoints=("deck", "bridge"),
    upstream=True,
    service_mode=True,
    verbs=True,
)
PATIENCE = 60.0
"""Longest wait [s] for anything: a bound against hanging, never a measure."""


@pytest.fixture(scope="module")
def policy():
    return read(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def full():
    """A policy with all features, of another namespace."""
    return read(text_of(EVERYTHING))


def who(policy, verb, name):
    """Return the enclaves, without their namespace, that may do something."""
    wanted = Right(verb, name)
    return {e.path.rpartition("/")[2] for e in policy if allows(e.basic(), wanted)}


def allowed(policy, name, *verbs):
    """Return what an enclave may do with such verbs."""
    (enclave,) = (e for e in policy if e.path.rpartition("/")[2] == name)
    return {right.name for right in enclave.basic() if right.verb in verbs}


# The file.


def test_the_committed_policy_is_what_the_table_makes():
    assert FILE.read_text(encoding="utf-8") == text_of(Layout())


def test_the_policy_is_made_for_what_the_nodes_do_by_default():
    defaults = {entry.name: entry.default for entry in PARAMETERS}
    layout = Layout()
    assert defaults["sources"] == list(layout.sources)
    assert defaults["goal_source"] == layout.goal_source
    people = [
        name
        for name in layout.sources
        if {e.name: e.default for e in source_parameters(name)}[f"{name}.person"]
    ]
    assert people == list(layout.people)
    launched = yaml.safe_load((ROOT / "reach_alpha5_arbiter/config/arbiter.yaml").read_text())
    assert launched["/**/arbiter"]["ros__parameters"]["sources"] == list(layout.sources)


def test_reading_gives_what_was_written():
    made = enclaves(EVERYTHING)
    assert read(written(made, "head")) == tuple(replace(e, purpose="") for e in made)


def test_nothing_but_enclaves_is_among_the_enclaves(policy):
    """`ros2 security generate_artifacts` takes a comment there for an enclave, and fails."""
    between = FILE.read_text().partition("<enclaves>")[2].replace(" ", "").replace("\n", "")
    assert "</enclave><!--" not in between
    assert not between.startswith("<!--")


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "<policy",
        '<policy version="0.1.0"/>',
        '<policy version="0.2.0"/>',
        '<policy version="0.2.0"><enclaves/></policy>',
        '<policy version="0.2.0"><enclaves><enclave path="/a"/></enclaves></policy>',
    ],
)
def test_what_is_no_policy_is_refused(broken):
    with pytest.raises(PolicyFileError):
        read(broken)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('publish="ALLOW"', 'publish="DENY"'),
        ('publish="ALLOW"', 'shout="ALLOW"'),
        ('<topics publish="ALLOW"', '<topics reply="ALLOW"'),
        ("<profile ns", "<include ns"),
        (' node="driver"', ""),
        ("<topic>estop</topic>", "<service>estop</service>"),
    ],
)
def test_what_is_not_understood_is_not_skipped(old, new):
    text = FILE.read_text(encoding="utf-8")
    broken = text.replace(old, new, 1)
    if old.startswith("<profile"):
        broken = broken.replace("</profile>", "</include>", 1)
    assert broken != text
    with pytest.raises(PolicyFileError):
        read(broken)


@pytest.mark.parametrize(
    "wrong",
    [
        {"namespace": ""},
        {"namespace": "a b"},
        {"people": ("teleop", "my-app")},
        {"people": ("teleop", "teleop")},
        {"people": ("teleop", "operator")},
        {"estop_endpoints": ("deck", "deck")},
        {"estop_endpoints": ("1st",)},
        {"automation": ("planner", "estop_deck"), "estop_endpoints": ("deck",)},
        {"goal_source": "nobody"},
        {"people": ("teleop", "console"), "verbs": True},
    ],
)
def test_a_layout_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(LayoutError):
        Layout(**wrong)


def test_names_that_are_taken_are_those_of_the_other_enclaves(full):
    paths = {enclave.path.rpartition("/")[2] for enclave in full}
    of_parameters = set(EVERYTHING.sources) | {f"estop_{e}" for e in EVERYTHING.estop_endpoints}
    assert paths - of_parameters == TAKEN
    assert len(paths) == len(full)


# Who may what.


@pytest.mark.parametrize(
    ("verb", "name", "able"),
    [
        (Verb.PUBLISH, "driver_command", {"arbiter"}),
        (Verb.PUBLISH, "arbiter_state", {"arbiter"}),
        (Verb.PUBLISH, "arbiter_journal", {"arbiter"}),
        (Verb.PUBLISH, "motion_permitted", {"arbiter"}),
        (Verb.PUBLISH, "arm_state", {"driver"}),
        (Verb.PUBLISH, "joint_states", {"driver"}),
        (Verb.PUBLISH, "joy", {"joy"}),
        (Verb.PUBLISH, "joint_jog", set()),
        (Verb.PUBLISH, "preset", set()),
        (Verb.PUBLISH, "upstream/heartbeat", set()),
        (Verb.PUBLISH, "estop/deck/check_in", set()),
        (Verb.REPLY, "estop", {"arbiter"}),
        (Verb.REPLY, "reset", {"arbiter"}),
        (Verb.REPLY, "power", {"driver"}),
        (Verb.REQUEST, "reset", {"teleop", "console", "app", "operator"}),
        (Verb.REQUEST, "power", {"operator"}),
        (Verb.REQUEST, "add_obstacles", {"operator"}),
        (Verb.REQUEST, "driver/change_state", {"operator"}),
        (Verb.REQUEST, "open_stream", {"console", "app", "planner"}),
    ],
)
def test_only_these_may(policy, verb, name, able):
    assert who(policy, verb, f"/alpha5/{name}") == able


@pytest.mark.parametrize("source", Layout().sources)
@pytest.mark.parametrize("topic", [*COMMANDS, "heartbeat"])
def test_nobody_speaks_for_another_source(policy, source, topic):
    able = who(policy, Verb.PUBLISH, f"/alpha5/{source}/{topic}")
    assert able <= {source}
    assert able or (source == "teleop" and topic not in ("gripper_ctrl", "heartbeat"))


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("part", ["send_goal", "cancel_goal", "get_result"])
def test_only_the_goal_source_calls_the_actions(policy, action, part):
    name = f"/alpha5/{action}/_action/{part}"
    assert who(policy, Verb.REQUEST, name) == {"planner"}
    assert who(policy, Verb.REPLY, name) == {"arbiter"}


def test_rule1_everybody_may_stop(policy, full):
    for some, namespace in (policy, "alpha5"), (full, "left"):
        everybody = {enclave.path.rpartition("/")[2] for enclave in some}
        assert who(some, Verb.PUBLISH, f"/{namespace}/estop") == everybody
        assert who(some, Verb.REQUEST, f"/{namespace}/estop") == everybody


def test_who_only_observes_says_nothing_that_anything_acts_on(policy):
    assert allowed(policy, "observer", Verb.PUBLISH) == {
        "/alpha5/estop",
        "/rosout",
        "/parameter_events",
        "/events/write_split",
    }
    assert allowed(policy, "observer", Verb.REQUEST) == {"/alpha5/estop"}


def test_who_only_stops_may_do_nothing_else(policy):
    said = allowed(policy, "anybody", Verb.PUBLISH, Verb.REQUEST)
    assert said == {"/alpha5/estop", "/rosout", "/parameter_events"}


@pytest.mark.parametrize("node", ["driver", "arbiter", "teleop"])
@pytest.mark.parametrize("service", WRITE_PARAMETERS)
def test_nobody_sets_a_parameter(policy, node, service):
    assert who(policy, Verb.REQUEST, f"/alpha5/{node}/{service}") == set()
    assert who(policy, Verb.REPLY, f"/alpha5/{node}/{service}") == {node}


def test_who_observes_may_read_whatever_anybody_publishes(policy):
    published = {r.name for e in policy for r in e.basic() if r.verb is Verb.PUBLISH}
    own = {"/events/write_split"}  # of the recorder itself
    assert published - own <= allowed(policy, "observer", Verb.SUBSCRIBE)


@pytest.mark.parametrize("endpoint", ["deck", "bridge"])
def test_an_estop_endpoint_checks_in_for_itself_alone(full, endpoint):
    assert who(full, Verb.PUBLISH, f"/left/estop/{endpoint}/check_in") == {f"estop_{endpoint}"}
    assert who(full, Verb.PUBLISH, f"/left/estop/{endpoint}/challenge") == {"arbiter"}


def test_B9_the_desk_moves_joints_in_service_mode_alone(policy, full):
    for topic in "joint_jog", "preset":
        assert who(full, Verb.PUBLISH, f"/left/{topic}") == {"desk"}
        assert not who(policy, Verb.SUBSCRIBE, f"/alpha5/{topic}")


def test_D8_the_tools_of_the_verbs_are_the_source_that_they_speak_for(policy, full):
    for verb, name in (Verb.PUBLISH, "cmd_vel"), (Verb.REQUEST, "verbs/stow"):
        assert who(full, verb, f"/left/{name}") == {"app"}
        assert not who(policy, verb, f"/alpha5/{name}")
    assert who(full, Verb.PUBLISH, "/left/app/twist_ctrl") == {"app", "verbs"}


def test_two_arms_share_nothing_that_moves_one(policy, full):
    def said(some):
        return {
            right.name
            for enclave in some
            for right in enclave.basic()
            if right.verb in (Verb.PUBLISH, Verb.REQUEST)
        }

    assert said(policy) & said(full) == {
        "/diagnostics",
        "/events/write_split",
        "/parameter_events",
        "/rosout",
        "/tf",
        "/tf_static",
    }


# The comparison.


def running(policy, *names):
    """Return a graph in which the nodes of some enclaves do what they may, tools apart."""
    return [
        RunningNode(profile.namespace, profile.node, enclave.path, profile.basic())
        for enclave in policy
        if not names or enclave.path.rpartition("/")[2] in names
        for profile in enclave.profiles
        if "*" not in profile.node
    ]


def changed(graph, name, *, more=(), less=()):
    """Return the graph with one node that does more, or less."""
    assert name in [node.name for node in graph]
    return [
        replace(node, uses=(node.uses | set(more)) - set(less)) if node.name == name else node
        for node in graph
    ]


def test_a_graph_that_does_what_it_may_agrees(policy, full):
    assert problems(policy, running(policy)) == []
    assert problems(full, running(full)) == []


def test_those_that_do_not_run_are_judged_by_those_that_do(policy):
    assert problems(policy, running(policy, "driver", "arbiter", "teleop")) == []


@pytest.mark.parametrize(
    "use",
    [
        Right(Verb.PUBLISH, "/alpha5/driver_command"),
        Right(Verb.SUBSCRIBE, "/alpha5/driver_command"),
        Right(Verb.REPLY, "/alpha5/reset"),
        Right(Verb.REQUEST, "/alpha5/power"),
        Right(Verb.PUBLISH, "/brand_new"),
    ],
)
def test_what_is_not_allowed_is_found(policy, use):
    graph = changed(running(policy), "teleop", more=[use])
    assert any("teleop" in line and str(use) in line for line in problems(policy, graph))


@pytest.mark.parametrize(
    "right",
    [
        Right(Verb.PUBLISH, "/alpha5/arbiter_journal"),
        Right(Verb.SUBSCRIBE, "/alpha5/planner/joint_ctrl"),
        Right(Verb.REPLY, "/alpha5/follow_joint_trajectory/_action/cancel_goal"),
        Right(Verb.REPLY, "/alpha5/arbiter/get_type_description"),
    ],
)
def test_what_is_allowed_in_vain_is_found(policy, right):
    graph = changed(running(policy), "arbiter", less=[right])
    assert any("arbiter" in line and str(right) in line for line in problems(policy, graph))


def test_a_right_of_who_does_not_run_that_concerns_nobody_is_found(policy):
    graph = running(policy, "driver", "arbiter", "teleop")
    right = Right(Verb.REQUEST, "/alpha5/brand_new")
    enlarged = [
        replace(e, profiles=(*e.profiles, Profile("/alpha5", "console_too", frozenset({right}))))
        if e.path == "/alpha5/console"
        else e
        for e in policy
    ]
    (line,) = problems(enlarged, graph)
    assert "console" in line and str(right) in line


def test_a_node_that_nobody_knows_is_found(policy):
    stranger = RunningNode("/alpha5", "stranger", "/", frozenset())
    (line,) = problems(policy, [*running(policy), stranger])
    assert "/alpha5/stranger" in line


def test_a_node_in_an_enclave_that_is_not_its_own_is_found(policy):
    graph = [
        replace(node, enclave="/alpha5/arbiter") if node.name == "teleop" else node
        for node in running(policy, "driver", "arbiter", "teleop")
    ]
    assert any("teleop" in line and "/alpha5/arbiter" in line for line in problems(policy, graph))


def test_a_service_that_another_could_take_over_is_found(policy):
    rival = Enclave(
        "/alpha5/rival",
        "",
        (Profile("/alpha5", "rival", frozenset({Right(Verb.REPLY, "reset")})),),
    )
    lines = problems([*policy, rival], running(policy))
    assert any("/alpha5/reset" in line and "rival" in line for line in lines)


def test_a_topic_that_is_heard_and_that_nobody_may_publish_is_found(policy):
    without = [enclave for enclave in policy if enclave.path != "/alpha5/joy"]
    (line,) = problems(without, running(without, "driver", "arbiter", "teleop"))
    assert "/alpha5/joy" in line


@pytest.mark.parametrize("enclave", ["/", "/alpha5/observer"])
def test_a_tool_may_what_its_enclave_may(policy, enclave):
    reads = Right(Verb.SUBSCRIBE, "/alpha5/arm_state")
    serves = Right(Verb.REPLY, "/_ros2cli_4711/get_type_description")
    tool = RunningNode("/", "_ros2cli_4711", enclave, frozenset({reads, serves}))
    assert problems(policy, [*running(policy), tool]) == []
    commands = Right(Verb.PUBLISH, "/alpha5/app/gripper_ctrl")
    said = problems(policy, [*running(policy), replace(tool, uses=frozenset({commands}))])
    assert bool(said) == (enclave != "/")


# The graph that runs.


@contextmanager
def looking(domain, name="onlooker"):
    """A node that looks at a domain."""
    context = Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node(name, context=context)
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


def await_graph(stack, policy, *named):
    """Wait until graph and policy agree, with all nodes that are named; return the graph."""
    seen = []
    with looking(stack.domain.number) as node:

        def look():
            seen[:] = read_graph(node)
            return seen if {each.name for each in seen} >= set(named) else []

        found = await_agreement(policy, look, PATIENCE)
    assert not found, "\n".join([*found, *map(str, seen), stack.output()])
    return seen


def test_the_policy_covers_the_launched_graph_and_nothing_more(tmp_path, policy):
    with Stack(tmp_path) as stack:
        graph = await_graph(stack, policy)
        enclaves_of = {node.name: node.enclave for node in graph}
        assert enclaves_of == {
            "driver": "/alpha5/driver",
            "driver_estop": "/alpha5/driver",
            "arbiter": "/alpha5/arbiter",
            "teleop": "/alpha5/teleop",
        }


@pytest.fixture
def with_everything(tmp_path):
    """A stack with all features on, a policy file of it, and our programs beside it."""
    parameters = tmp_path / "parameters.yaml"
    parameters.write_text(
        yaml.safe_dump(
            {
                "/**/arbiter": {
                    "ros__parameters": {
                        "sources": list(EVERYTHING.sources),
                        "estop_endpoints": list(EVERYTHING.estop_endpoints),
                        "upstream_timeout": 1.0,
                    }
                }
            }
        )
    )
    file = tmp_path / "left.policy.xml"
    file.write_text(text_of(EVERYTHING))
    with Stack(
        tmp_path,
        namespace="left",
        service_mode="true",
        verbs="true",
        markers="true",
        arbiter_params=str(parameters),
    ) as stack:
        beside = [
            subprocess.Popen(
                [*words, "--namespace", "left", *command],
                env=stack.environment,
                stdin=subprocess.PIPE,
            )
            for words, command in (
                (["alpha5-estop", "bridge"], []),
                (["alpha5-heartbeat", "console"], ["--", "sleep", "600"]),
            )
        ]
        try:
            yield stack, file
        finally:
            for process in beside:
                process.terminate()
            for process in beside:
                process.communicate(timeout=PATIENCE)


def test_the_policy_covers_every_feature_in_another_namespace(with_everything, full):
    stack, file = with_everything
    await_graph(stack, full, "estop_bridge", "console_heartbeat")

    def check(policy_file, seconds):
        return subprocess.run(
            ["alpha5-policy", "check", "--wait", str(seconds), str(policy_file)],
            env=stack.environment,
            capture_output=True,
            text=True,
        )

    agrees = check(file, PATIENCE)
    assert (agrees.returncode, agrees.stdout) == (0, ""), agrees.stdout + agrees.stderr
    differs = check(FILE, 0.0)
    assert differs.returncode == 1
    assert "/alpha5/arbiter" in differs.stdout


@pytest.mark.parametrize(
    ("end", "verb"),
    [
        (lambda node: ActionServer(node, FollowJointTrajectory, "follow", print), Verb.EXECUTE),
        (lambda node: ActionClient(node, FollowJointTrajectory, "follow"), Verb.CALL),
    ],
    ids=["execute", "call"],
)
def test_an_action_is_the_topics_and_services_that_ros_makes_of_it(end, verb):
    domain = Domain()
    try:
        with looking(domain.number, "acting") as node, looking(domain.number) as onlooker:
            action = end(node)
            await_uses(onlooker, set(expanded(Right(verb, "/follow"))), "/follow")
            action.destroy()
    finally:
        domain.release()


def await_uses(node, wanted, name):
    """Wait until the other nodes do this, and nothing else, with what lies below a name."""
    deadline = time.monotonic() + PATIENCE
    while True:
        uses = {use for each in read_graph(node) for use in each.uses}
        found = {use for use in uses if use.name.startswith(f"{name}/")}
        if found == wanted:
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


# The command.


def test_the_command_prints_what_the_table_makes(capsys):
    words = ["make", "--namespace", "/left", "--estop-endpoints", "deck", "bridge"]
    assert main([*words, "--upstream", "--service-mode", "--verbs"]) == 0
    assert capsys.readouterr().out == text_of(EVERYTHING)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["make", "--goal-source", "nobody"], "nobody"),
        (["make", "--people", "my-app"], "my-app"),
        (["check", "/nowhere/to/be/found"], "/nowhere/to/be/found"),
    ],
)
def test_the_command_says_what_is_wrong(words, said, capsys):
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_the_howto_tells_of_every_enclave(full):
    howto = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    endpoints = {f"estop_{name}" for name in EVERYTHING.estop_endpoints}
    for enclave in full:
        name = enclave.path.rpartition("/")[2]
        assert f"`{'estop_<name>' if name in endpoints else name}`" in howto
