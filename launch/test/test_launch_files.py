"""The launch files: what each starts, where each argument goes, and that they run.

What is not part of this workspace (joy, rviz2, robot_state_publisher, ros2 bag) is played by stubs
where the files are only read.
"""

import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from domain import Domain
from launch_runner.description import describe
from launch_runner.document import read
from launch_runner.errors import LaunchError
from launch_runner.processes import Runner
from launch_runner.substitution import find_share
from stack import Client, await_ready

from reach_alpha5_bags.settings import profile_of
from reach_alpha5_driver.sim.log import read_log
from reach_alpha5_teleop.parameters import PARAMETERS as PARAMETERS_OF_TELEOP
from reach_alpha5_teleop.profiles import find

ROOT = Path(__file__).resolve().parents[2]
SHARE = find_share("reach_alpha5_bringup", os.environ)
FOLDER = SHARE / "launch"
FILES = sorted(path.name.removesuffix(".launch.xml") for path in FOLDER.glob("*.launch.xml"))
NEEDED = {"replay": {"bag": "/dive"}}
"""What must be given to a file, beside the defaults."""
ELSEWHERE = {
    "joy": ("game_controller_node", "joy_node"),
    "rviz2": ("rviz2",),
    "robot_state_publisher": ("robot_state_publisher",),
    "joint_state_publisher": ("joint_state_publisher",),
    "joint_state_publisher_gui": ("joint_state_publisher_gui",),
}
"""Executables of stock packages."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Everything installed, that of others as stubs."""
    prefix = tmp_path_factory.mktemp("stubs")
    index = prefix / "share/ament_index/resource_index/packages"
    index.mkdir(parents=True)
    programs = [prefix / "bin/ros2"]
    for package, names in ELSEWHERE.items():
        (index / package).touch()
        programs += [prefix / "lib" / package / name for name in names]
    for program in programs:
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    return {
        **os.environ,
        "AMENT_PREFIX_PATH": f"{prefix}{os.pathsep}{os.environ['AMENT_PREFIX_PATH']}",
        "PATH": f"{prefix}/bin{os.pathsep}{os.environ['PATH']}",
    }


class Asked:
    """What one process is asked to be."""

    def __init__(self, process):
        self.command = process.command
        self.words = set(process.command)
        self.parameters = {k: v for part in process.parameters for k, v in part.items()}
        self.namespace = self.after("__ns:=")
        self.enclave = self.next_to("--enclave")
        self.name = f"{self.namespace}/{process.label}"

    def after(self, start):
        """Return the rest of the word that begins so; empty: none does."""
        return next((w.removeprefix(start) for w in self.command if w.startswith(start)), "")

    def next_to(self, option):
        """Return the value of an option; empty: it is not there."""
        place = self.command.index(option) + 1 if option in self.words else None
        return self.command[place] if place else ""

    @property
    def remaps(self):
        """Rules for topics."""
        words = (w for w in self.command if ":=" in w and not w.startswith("__"))
        return dict(word.split(":=", 1) for word in words)


@pytest.fixture(scope="module")
def ask(environment):
    """A function that reads a launch file and gives what it asks for, by name."""

    def ask(file, **arguments):
        given = {**NEEDED.get(file, {}), **arguments}
        asked = {}
        for process in read(FOLDER / f"{file}.launch.xml", given, environment).processes:
            each = Asked(process)
            name = each.name
            if name in asked:
                assert not each.namespace, f"two nodes are {name}"
                name += " of the right arm"
            asked[name] = each
        return asked

    return ask


def arguments(file):
    """Return the arguments of a launch file, by name."""
    return {a.name: a for a in describe(FOLDER / f"{file}.launch.xml", os.environ)}


# What each file starts.

ON_THE_DRONE = {"driver", "arbiter", "robot_state_publisher"}
TOPSIDE = {"teleop", "joy"}
RVIZ = {"markers", "rviz"}


def names(namespace, *labels):
    return {f"/{namespace}/{label}" for labels_ in labels for label in labels_}


@pytest.mark.parametrize(
    ("file", "given", "expected"),
    [
        ("alpha5", {}, names("alpha5", ON_THE_DRONE, TOPSIDE)),
        ("alpha5", {"rviz": "true"}, names("alpha5", ON_THE_DRONE, TOPSIDE, RVIZ)),
        ("alpha5", {"sim": "true"}, names("alpha5", ON_THE_DRONE, TOPSIDE) | {"/sim"}),
        (
            "alpha5",
            {"joy": "false", "tf": "false"},
            names("alpha5", ["driver", "arbiter", "teleop"]),
        ),
        ("drone", {}, names("alpha5", ON_THE_DRONE)),
        ("drone", {"record": "true"}, names("alpha5", ON_THE_DRONE) | {"/record"}),
        ("topside", {}, names("alpha5", TOPSIDE)),
        ("topside", {"markers": "true"}, names("alpha5", TOPSIDE, ["markers"])),
        ("topside", {"verbs": "true"}, names("alpha5", TOPSIDE, ["verbs"])),
        ("sim", {}, names("alpha5", ON_THE_DRONE, TOPSIDE, RVIZ) | {"/sim"}),
        ("replay", {}, names("replay", ["robot_state_publisher"], RVIZ) | {"/player"}),
        (
            "display",
            {},
            names("display", ["robot_state_publisher", "joint_state_publisher", "rviz"]),
        ),
        ("description", {}, names("alpha5", ["robot_state_publisher"])),
        ("view", {}, set()),
        (
            "two_arms",
            {},
            names("left", ON_THE_DRONE, TOPSIDE) | names("right", ON_THE_DRONE, TOPSIDE),
        ),
        (
            "two_arms",
            {"one_pad": "true"},
            names("left", ON_THE_DRONE, TOPSIDE) | names("right", ON_THE_DRONE, ["teleop"]),
        ),
    ],
)
def test_each_file_starts_what_it_is_for(ask, file, given, expected):
    assert set(ask(file, **given)) == expected


@pytest.mark.parametrize("file", FILES)
def test_every_argument_is_described_and_in_the_docs(file):
    document = (ROOT / "docs/launch.md").read_text(encoding="utf-8")
    _, _, section = document.partition(f"\n## {file}.launch.xml")
    assert section, f"docs/launch.md has no section on {file}.launch.xml"
    own = ElementTree.parse(FOLDER / f"{file}.launch.xml").getroot().findall("arg")
    for element in own:
        assert element.get("description", "").endswith("."), element.get("name")
        assert f"`{element.get('name')}`" in section.partition("\n## ")[0], element.get("name")


MEANT_TO_DIFFER = {("display", "namespace"), ("replay", "namespace")}
MEANT_TO_DIFFER |= {(file, "rviz") for file in ("sim", "display", "replay")}
MEANT_TO_DIFFER |= {("display", "markers")}


def test_an_argument_has_one_default():
    """One that is said twice must not depend on which file is started, or read first."""
    seen = {}
    for file in FILES:
        for element in ElementTree.parse(FOLDER / f"{file}.launch.xml").getroot().findall("arg"):
            name = element.get("name")
            if (file, name) not in MEANT_TO_DIFFER:
                seen.setdefault(name, set()).add(element.get("default"))
    assert {name: said for name, said in seen.items() if len(said) > 1} == {}


# Where each argument goes.

SWITCHES = {"sim", "tf", "joy", "rviz", "record", "markers", "verbs", "gui", "one_pad", "rosbag2"}
"""Arguments that start something or not, see above."""

PARAMETERS = {
    "serial_port": ("driver", "serial_port", "socket://10.0.0.2:5000", "socket://10.0.0.2:5000"),
    "wiring": ("driver", "wiring", "rs485", "rs485"),
    "autostart": ("driver", "autostart", "false", False),
    "service_mode": ("driver", "service_mode", "true", True),
    "prefix": ("driver", "prefix", "up_", "up_"),
    "profile": ("teleop", "profile", "mine", "mine"),
    "joy_device": ("joy", "device_id", "3", 3),
    "joy_name": ("joy", "device_name", "7", "7"),
}
"""Argument: the node, its parameter, what is given, what comes to be."""


@pytest.mark.parametrize("argument", PARAMETERS)
def test_an_argument_becomes_a_parameter(ask, argument):
    node, parameter, given, expected = PARAMETERS[argument]
    value = ask("alpha5", **{argument: given})[f"/alpha5/{node}"].parameters[parameter]
    assert (type(value), value) == (type(expected), expected)


def test_the_profile_is_that_of_teleop_unless_another_is_asked_for():
    (default,) = (entry.default for entry in PARAMETERS_OF_TELEOP if entry.name == "profile")
    assert arguments("topside")["profile"].default == default


FILES_OF = {
    "driver_params": ["driver"],
    "arbiter_params": ["arbiter"],
    "teleop_params": ["teleop", "joy", "verbs"],
    "view_params": ["markers"],
}


@pytest.mark.parametrize("argument", FILES_OF)
def test_a_parameter_file_reaches_its_nodes_and_no_other(ask, tmp_path, argument):
    mine = tmp_path / "mine.yaml"
    mine.write_text("{}")
    asked = ask("alpha5", markers="true", verbs="true", **{argument: str(mine)})
    reached = {name for name, each in asked.items() if str(mine) in each.words}
    assert reached == names("alpha5", FILES_OF[argument])


def test_a_parameter_file_that_is_not_there_is_refused(ask):
    with pytest.raises(LaunchError, match=r"/no/such\.yaml does not exist"):
        ask("drone", driver_params="/no/such.yaml")


@pytest.mark.parametrize("node", ["joy_node", "game_controller_node"])
def test_the_pad_is_read_by_the_node_that_is_asked_for(ask, node):
    assert ask("topside", joy_node=node)["/alpha5/joy"].command[0].endswith(f"joy/{node}")


def test_another_reader_of_pads_is_refused(ask):
    with pytest.raises(LaunchError, match="one of game_controller_node, joy_node"):
        ask("topside", joy_node="teleop_node")


def test_the_mount_and_the_prefix_are_those_of_the_description(ask):
    asked = ask("alpha5", mount_xyz="1 2 3", mount_rpy="0 0 1", prefix="up_", markers="true")
    driver, publisher = asked["/alpha5/driver"], asked["/alpha5/robot_state_publisher"]
    description = driver.parameters["robot_description"]
    assert publisher.parameters["robot_description"] == description
    origins = [
        element.attrib
        for joint in ElementTree.fromstring(description).findall("joint")
        if joint.find("parent").get("link") == "base_link"
        for element in joint.findall("origin")
    ]
    assert {"xyz": "1 2 3", "rpy": "0 0 1"} in origins
    assert 'name="up_axis_e"' in description
    assert asked["/alpha5/markers"].parameters["prefix"] == "up_"
    assert "up_link_b" in driver.parameters["robot_description_semantic"]


def test_the_simulated_arm_has_the_port_and_the_wiring_of_the_driver(ask):
    asked = ask(
        "sim", wiring="rs485", sim_port="/p", sim_log="/l", sim_control="/c", serial_port="/real"
    )
    assert asked["/alpha5/driver"].parameters["serial_port"] == "/p"
    arm = asked["/sim"]
    assert "--rs485" in arm.words
    told = [arm.next_to(option) for option in ("--link", "--log", "--control")]
    assert told == ["/p", "/l", "/c"]


def test_the_config_of_rviz_is_that_which_is_asked_for(ask):
    assert (
        ask("view", rviz="true", rviz_config="/x.rviz")["/alpha5/rviz"].next_to("-d") == "/x.rviz"
    )


def test_where_the_pad_is_heard_teleop_and_the_pad_agree(ask):
    asked = ask("topside", joy_topic="/shared")
    rules = {"joy": "/shared", "joy/set_feedback": "/shared/set_feedback"}
    assert asked["/alpha5/joy"].remaps == rules
    rules["joy/set_feedback_array"] = "/shared/set_feedback_array"
    assert asked["/alpha5/teleop"].remaps == rules


def test_no_argument_of_the_whole_way_was_forgotten_here():
    tested = {*SWITCHES, *PARAMETERS, *FILES_OF, "joy_node", "mount_xyz", "mount_rpy", "joy_topic"}
    tested |= {"sim_port", "sim_log", "sim_control", "rviz_config", "namespace"}
    assert set(arguments("alpha5")) == tested - {"gui", "one_pad", "rosbag2"}
    assert set(arguments("alpha5")) == set(arguments("drone")) | set(arguments("topside"))


# Namespaces.


@pytest.mark.parametrize("file", [f for f in FILES if f != "two_arms"])
def test_a_namespace_may_have_a_slash_before_it(ask, file):
    def said(namespace):
        asked = ask(
            file, namespace=namespace, **dict.fromkeys(SWITCHES & set(arguments(file)), "true")
        )
        return {name: each.command for name, each in asked.items()}

    assert said("/left") == said("left")
    assert all(name.startswith(("/left/", "/sim", "/record", "/player")) for name in said("left"))


@pytest.mark.parametrize("file", ["alpha5", "two_arms", "replay", "display"])
def test_every_node_has_an_enclave_of_its_namespace(ask, file):
    switches = dict.fromkeys(SWITCHES & set(arguments(file)), "true")
    for each in ask(file, **switches).values():
        if each.namespace:
            assert each.enclave.rpartition("/")[0] == each.namespace, each.command


def test_each_namespace_has_a_port_of_its_own_for_its_simulated_arm(ask):
    ports = {
        ask("drone", sim="true", namespace=name)[f"/{name}/driver"].parameters["serial_port"]
        for name in ("alpha5", "left", "right", "drone/left")
    }
    assert len(ports) == 4
    assert "/tmp/alpha5_sim" in ports
    assert all(Path(port).parent == Path("/tmp") for port in ports)


@pytest.mark.parametrize("name", ["two words", "1st", "a-b"])
def test_what_cannot_be_a_namespace_is_refused(ask, name):
    with pytest.raises(LaunchError, match="letters, digits and _"):
        ask("alpha5", namespace=name)


# Two arms.


def test_two_arms_have_nothing_in_common(ask):
    asked = ask("two_arms", sim="false", rviz="true", verbs="true", record="true")
    sides = [
        {name: each for name, each in asked.items() if each.namespace == f"/{side}"}
        for side in ("left", "right")
    ]
    left, right = sides
    assert {n.removeprefix("/left") for n in left} == {n.removeprefix("/right") for n in right}
    for what in (
        lambda each: each.enclave,
        lambda each: each.parameters.get("serial_port"),
        lambda each: each.parameters.get("prefix"),
        lambda each: each.parameters.get("device_id"),
    ):
        there, here = ({what(e) for e in side.values()} - {None} for side in sides)
        assert not there & here and there

    def parts(side, namespace):
        root = ElementTree.fromstring(side[f"/{namespace}/driver"].parameters["robot_description"])
        return {e.get("name") for kind in ("link", "joint") for e in root.findall(kind)}

    shared = parts(left, "left") & parts(right, "right")
    assert shared == {"base_link", "base_link_frd", "base_link_frd_joint"}


def test_two_simulated_arms_have_a_place_each(ask):
    given = {"sim": "true", "left_sim_log": "/l", "right_sim_log": "/r"}
    asked = ask("two_arms", left_sim_control="/cl", right_sim_control="/cr", **given)
    told = [
        [asked[name].next_to(option) for option in ("--link", "--log", "--control")]
        for name in ("/sim", "/sim of the right arm")
    ]
    assert told == [["/tmp/left_sim", "/l", "/cl"], ["/tmp/right_sim", "/r", "/cr"]]


@pytest.mark.parametrize("file", ["drone", "two_arms"])
def test_one_recorder_has_the_namespace_of_each_arm(ask, file):
    (*_, recorder) = [each for name, each in ask(file, record="true").items() if name == "/record"]
    spaces = {"drone": ("/alpha5",), "two_arms": ("left", "right")}
    assert recorder.command[0].endswith("/alpha5-record")
    assert recorder.command[1:] == spaces[file]


@pytest.mark.parametrize("side", ["left", "right"])
def test_what_is_said_of_one_arm_reaches_that_arm(ask, tmp_path, side):
    mine = tmp_path / "mine.yaml"
    mine.write_text("{}")
    given = {
        "namespace": "mine",
        "prefix": "my_",
        "mount_xyz": "1 2 3",
        "mount_rpy": "0 0 1",
        "serial_port": "/dev/mine",
        "driver_params": str(mine),
        "profile": "my_pad",
        "joy_device": "5",
        "joy_name": "my pad",
    }
    asked = ask("two_arms", **{f"{side}_{name}": value for name, value in given.items()})
    driver, teleop, joy = (asked[f"/mine/{name}"] for name in ("driver", "teleop", "joy"))
    assert driver.parameters["serial_port"] == "/dev/mine"
    assert driver.parameters["prefix"] == "my_"
    assert 'xyz="1 2 3"' in driver.parameters["robot_description"]
    assert 'rpy="0 0 1"' in driver.parameters["robot_description"]
    assert str(mine) in driver.words
    assert teleop.parameters["profile"] == "my_pad"
    assert joy.parameters == {"device_id": 5, "device_name": "my pad"}
    tested = {f"{side}_{name}" for name in (*given, "sim_port", "sim_log", "sim_control")}
    assert {name for name in arguments("two_arms") if name.startswith(side)} == tested


def test_one_pad_is_heard_by_both_arms_and_holds_one_deadman_for_each(ask):
    asked = ask("two_arms", one_pad="true", left_namespace="/port")
    left, right = asked["/port/teleop"], asked["/right/teleop"]
    assert left.remaps["joy"] == asked["/port/joy"].remaps["joy"] == "joy"
    assert set(right.remaps) >= {"joy", "joy/set_feedback"}
    assert all(target == name.replace("joy", "/port/joy") for name, target in right.remaps.items())
    bound = [find(each.parameters["profile"]).buttons for each in (left, right)]
    for mine, other in (bound, reversed(bound)):
        assert mine["deadman"] not in other.values()
    assert bound[0]["estop"] == bound[1]["estop"]


# A recorded dive.


def test_a_replay_plays_what_shows_and_nothing_that_commands(ask):
    player = ask("replay", recorded_namespace="/left")["/player"].command
    topics = player[player.index("--topics") + 1 : player.index("--remap")]
    assert topics
    record = profile_of()
    shows = {f"/left/{entry.name}" for entry in record.arm if entry.shows}
    assert set(topics) <= shows
    rules = player[player.index("--remap") + 1 :]
    moved = {f"{topic}:={topic.replace('/left/', '/replay/')}" for topic in topics}
    assert set(rules) == moved | {"/clock:=/replay/clock"}


def test_the_player_of_this_workspace_plays_into_the_namespace_too(ask):
    player = ask("replay", recorded_namespace="left", rosbag2="false", rate="2", begin="7")[
        "/player"
    ]
    assert player.command[0].endswith("/alpha5-play")
    assert player.command[1] == "/dive"
    told = [player.next_to(option) for option in ("--namespace", "--to", "--rate", "--from")]
    assert told == ["/left", "/replay", "2", "7"]
    assert not {"--force", "--beside"} & player.words
    shared = {entry.name for entry in profile_of().shared if entry.shows} | {"/clock"}
    assert shared <= set(player.remaps)
    assert all(target.startswith("/replay/") for target in player.remaps.values())


def test_a_replay_goes_by_the_time_of_the_recording(ask):
    for each in ask("replay").values():
        if each.namespace:
            assert each.next_to("-p") == "use_sim_time:=True"
            assert each.remaps["/clock"] == "clock"
    assert "--clock" in ask("replay")["/player"].words


def test_transforms_of_a_replay_and_of_a_display_stay_in_their_namespace(ask):
    for file in ("replay", "display"):
        for each in ask(file).values():
            if each.namespace:
                rules = each.remaps
                assert (rules["/tf"], rules["/tf_static"]) == ("tf", "tf_static")


# They run.

PATIENCE = 60.0
PRESSES = 5
PRESS_TIME = 8.0


class OneArm:
    """What `Rig` wants to know of a stack, of one of the arms that run."""

    def __init__(self, log):
        self.log_path = log

    def mark(self):
        return self.log_path.stat().st_size

    def wire(self, since=0):
        return read_log(self.log_path, offset=since)


@contextmanager
def rig_beside(rig_of, domain, namespace, log):
    """A client and a pad for the arm in a namespace."""
    client = Client(domain.number, namespace=namespace, name=f"client_{namespace}")
    try:
        await_ready(client)
        rig = rig_of(OneArm(log), client)
        try:
            yield rig
        finally:
            rig.pad.unplug()
    finally:
        client.close()


@contextmanager
def arms_running(folder, rig_of, **arguments):
    """Both arms, simulated, from two_arms.launch.xml; gives a rig for each."""
    domain = Domain()
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain.number), "PYTHONUNBUFFERED": "1"}
    given = {"sim": "true", "joy": "false", "tf": "false", **arguments}
    for side in ("left", "right"):
        given[f"{side}_sim_port"] = str(folder / f"{side}.port")
        given[f"{side}_sim_log"] = str(folder / f"{side}.log")
    plan = read(FOLDER / "two_arms.launch.xml", given, environment)
    path = folder / "output.txt"
    with ExitStack() as stack:
        stack.callback(domain.release)
        stack.callback(lambda: print(path.read_text()))
        output = stack.enter_context(path.open("w"))
        stack.enter_context(Runner(plan.processes, environment, output))
        yield tuple(
            stack.enter_context(rig_beside(rig_of, domain, side, folder / f"{side}.log"))
            for side in ("left", "right")
        )


@pytest.fixture(scope="module")
def two_arms(tmp_path_factory, rig_of):
    """Two arms with a pad each."""
    with arms_running(tmp_path_factory.mktemp("two_arms"), rig_of) as rigs:
        yield rigs


@pytest.fixture
def both(two_arms):
    """Both arms, at rest and ready."""
    for rig in two_arms:
        rig.settle()
    yield two_arms
    for rig in two_arms:
        rig.pad.release()


def test_two_arms_move_apart_from_each_other(both):
    for one, other in (both, reversed(both)):
        mark = other.stack.mark()
        one.jog(right_x=-1.0)
        assert other.stack.wire(mark).motion_frames() == []
        assert other.arbiter().activity == 0
        one.settle()


def test_two_arms_say_of_themselves_who_they_are(both):
    for rig, prefix in zip(both, ("left_", "right_"), strict=True):
        states = rig.wait(lambda r=rig: r.client.last("joint_states"), "joint states")
        assert len(states.name) == 5
        assert all(name.startswith(prefix) for name in states.name)


def test_rule1_one_arm_is_stopped_while_the_other_moves(both):
    left, right = both
    right.jog(right_x=-1.0)
    mark = left.jog(right_x=-1.0)
    left.pad.set(b=1)
    left.wait(lambda: left.arbiter().estop_latched and left.arm().emo, "the left arm is latched")
    left.wait(lambda: not any(left.demanded(mark).values()), "all of the left arm is still")
    right.jog(right_x=-1.0)
    assert not right.arbiter().estop_latched
    assert not right.arm().emo
    mark = left.stack.mark()
    right.jog(right_x=1.0)
    assert left.stack.wire(mark).motion_frames() == []


def pressed(pad, deadman, moves, other):
    """Hold a deadman and turn the wrist until one arm moves; return a mark of the other's log.

    When the machine stalls the arm stops and wants a neutral: then all is let go, and held again.
    """
    for _ in range(PRESSES):
        for rig in (moves, other):
            pad.release()
            rig.settle()
        mark, still = moves.stack.mark(), other.stack.mark()
        pad.set(**{deadman: 1})
        pad.set(right_x=-1.0)
        with suppress(TimeoutError):
            moves.wait(lambda m=mark: moves.stack.wire(m).motion_frames(), "it moves", PRESS_TIME)
            return still
    raise AssertionError(f"{deadman} was held again and again\n{moves.client.summary()}")


def test_one_pad_moves_the_arm_whose_deadman_is_held(tmp_path, rig_of):
    with arms_running(tmp_path, rig_of, one_pad="true") as (left, right):
        pad = left.pad
        for deadman, moves, other in (("lb", left, right), ("rb", right, left)):
            still = pressed(pad, deadman, moves, other)
            assert other.stack.wire(still).motion_frames() == []
        pad.set(b=1)
        for rig in (left, right):
            rig.wait(lambda r=rig: r.arbiter().estop_latched, "one button stops both")


@contextmanager
def launched(file, domain, output, **given):
    """Start a launch file by the command line, and end it as Ctrl-C does."""
    words = [f"{name}:={value}" for name, value in given.items()]
    command = [str(ROOT / "tools/launch_file.py"), "reach_alpha5_bringup", f"{file}.launch.xml"]
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain.number), "PYTHONUNBUFFERED": "1"}
    with output.open("w") as stream:
        popen = subprocess.Popen(
            [sys.executable, *command, *words],
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        try:
            yield popen
        finally:
            popen.send_signal(signal.SIGINT)
            popen.wait(PATIENCE)


def test_drone_and_topside_are_two_and_the_arm_stops_when_topside_leaves(tmp_path, rig_of):
    log = tmp_path / "wire.log"
    sim = {"sim": "true", "sim_port": tmp_path / "port", "sim_log": log, "tf": "false"}
    with ExitStack() as stack:
        domain = Domain()
        stack.callback(domain.release)
        outputs = [tmp_path / "drone.txt", tmp_path / "topside.txt"]
        stack.callback(lambda: [print(o.read_text()) for o in outputs if o.exists()])
        drone = stack.enter_context(launched("drone", domain, outputs[0], **sim))
        topside = ExitStack()
        stack.callback(topside.close)
        topside.enter_context(launched("topside", domain, outputs[1], joy="false"))
        rig = stack.enter_context(rig_beside(rig_of, domain, "alpha5", log))
        rig.settle()
        mark = rig.jog(right_x=-1.0)
        topside.close()
        rig.wait(lambda: not any(rig.demanded(mark).values()), "the arm is told to stop")
        rig.wait(lambda: not rig.armed(), "the pad is gone")
        assert drone.poll() is None
        assert rig.client.call("reset").success
