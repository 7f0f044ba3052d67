"""The launch runner: the meaning of stock launch files, and refusal of all else."""

import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
import yaml
from launch_runner.cli import main
from launch_runner.description import describe
from launch_runner.document import read
from launch_runner.errors import LaunchError
from launch_runner.plan import Argument, Process
from launch_runner.processes import Runner
from launch_runner.substitution import Scope, split, substitute

TOOLS = Path(__file__).resolve().parents[1]


@pytest.fixture
def prefix(tmp_path):
    """An install prefix with one package `robot` that has one executable `arm_node`."""
    root = tmp_path / "prefix"
    index = root / "share/ament_index/resource_index/packages"
    index.mkdir(parents=True)
    (index / "robot").touch()
    (root / "share/robot/launch").mkdir(parents=True)
    program = root / "lib/robot/arm_node"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return root


@pytest.fixture
def launch(tmp_path, prefix):
    """A function that reads a launch file given as text."""

    def launch(body, **given):
        path = tmp_path / "it.launch.xml"
        path.write_text(f"<launch>{textwrap.dedent(body)}</launch>")
        return read(path, given, {"AMENT_PREFIX_PATH": str(prefix), "HOME_PORT": "7"})

    return launch


NODE = '<node pkg="robot" exec="arm_node" name="arm" output="screen"{}>{}</node>'


class TestSubstitution:
    scope = Scope({"a": "1", "b": "two words", "empty": ""}, Path("/x/y.launch.xml"), {"E": "env"})

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("plain", "plain"),
            ("", ""),
            ("$(var a)", "1"),
            ("<$(var a)-$(var b)>", "<1-two words>"),
            ("$(var empty)", ""),
            ("$(env E)/$(dirname)", "env//x"),
            ("$(env MISSING fallback)", "fallback"),
            ("$(var missing 'a $(var b)')", "a two words"),
            (r"\$(var a)", "$(var a)"),
            ("cost $5", "cost $5"),
            (r"$(var missing 'it\'s')", "it's"),
            ("$(command 'printf %s $(var a)')", "1"),
            ('$(command \'printf "%s|" x="$(var b)" y\')', "x=two words|y|"),
            ('$(eval \'2 * pi > 6 and "$(var b)".strip("t")\')', "wo words"),
        ],
    )
    def test_is_performed_as_in_stock_launch(self, text, value):
        assert substitute(text, self.scope) == value

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("a 'b c' d", ["a", "b c", "d"]),
            ("a $(var b) c", ["a", "two words", "c"]),
            ("a --x=$(var b).y c", ["a", "--x=two words.y", "c"]),
            ("$(var a)$(var b) $(var a)", ["1two words", "1"]),
            ("--log $(var empty)", ["--log", ""]),
            ("", []),
        ],
    )
    def test_a_command_line_is_split_as_in_stock_launch(self, text, words):
        assert split(text, self.scope) == words

    def test_a_quote_around_a_substitution_is_refused(self):
        with pytest.raises(LaunchError, match="quotes cannot hold a substitution"):
            split('echo "$(var a)"', self.scope)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("$(var nope)", "no such argument"),
            ("$(env NOPE)", "not set"),
            ("$(param 'a')", "not supported"),
            ("$(eval 'no_such_name')", "no_such_name"),
            ("$(var a", "missing )"),
            ("$(var 'a)", "missing '"),
            ("$(var)", "takes 1 to 2"),
            ("$(dirname x)", "takes 0 to 0"),
            ("$(command 'false')", "failed with status 1"),
            ("$(command 'sh -c \"echo warning >&2\"')", "warning"),
            ("$(command '/no/such/program')", "cannot run"),
            ("$(find-pkg-share nope)", "not installed"),
        ],
    )
    def test_refuses(self, text, reason):
        with pytest.raises(LaunchError, match=reason.replace("(", r"\(").replace(")", r"\)")):
            substitute(text, self.scope)


class TestDocument:
    def test_node_with_everything(self, launch, prefix, tmp_path):
        params = tmp_path / "p.yaml"
        params.write_text("{}")
        body = f"""
            <remap from="joy" to="pad"/><param from="{params}"/>
            <param name="rate" value="50.0"/><param name="text" value="1" type="str"/>"""
        (process,) = launch(NODE.format(' args="-d $(env HOME_PORT)"', body)).processes
        assert process.label == "arm"
        assert process.command == (
            str(prefix / "lib/robot/arm_node"), "-d", "7", "--ros-args", "-r", "__node:=arm",
            "-r", "joy:=pad", "--params-file", str(params),
        )  # fmt: skip
        assert process.parameters == ({"rate": 50.0}, {"text": "1"})

    def test_namespaces_nest_and_end_with_their_group(self, launch):
        plan = launch(
            '<group><push_ros_namespace namespace="a"/>'
            + NODE.format(' namespace="b"', "")
            + NODE.format(' namespace="/c/"', "")
            + "</group>"
            + NODE.format("", "")
        )
        spaces = [[w for w in p.command if w.startswith("__ns")] for p in plan.processes]
        assert spaces == [["__ns:=/a/b"], ["__ns:=/c"], []]

    @pytest.mark.parametrize(
        ("pushed", "absolute"),
        [("left", "/left"), ("/left", "/left"), ("a/b/", "/a/b"), ("/", "/")],
    )
    def test_the_namespace_is_a_variable_with_a_slash_before_it(self, launch, pushed, absolute):
        (process,) = launch(
            f'<push_ros_namespace namespace="{pushed}"/>'
            '<executable cmd="echo $(var ros_namespace)" output="screen"/>'
        ).processes
        assert process.command == ("echo", absolute)

    @pytest.mark.parametrize("name", ["1st", "a-b", "a//b", "//a", "a b"])
    def test_what_cannot_be_a_namespace_is_refused(self, launch, name):
        with pytest.raises(LaunchError, match="letters, digits and _"):
            launch(f'<push_ros_namespace namespace="{name}"/>')

    def test_set_parameter_is_for_the_nodes_that_follow_in_its_scope(self, launch):
        one, two = launch(
            '<group><set_parameter name="use_sim_time" value="true"/>'
            + NODE.format("", "<param name='rate' value='1'/>")
            + "</group>"
            + NODE.format("", "")
        ).processes
        assert one.command[-2:] == ("-p", "use_sim_time:=True")
        assert "-p" not in two.command

    def test_set_remap_is_for_the_nodes_that_follow_in_its_scope(self, launch):
        one, two, three = launch(
            NODE.format("", "")
            + '<group><set_remap from="/tf" to="tf"/><set_remap from="a" to="b"/>'
            + NODE.format("", "<remap from='c' to='d'/>")
            + "</group>"
            + NODE.format("", "")
        ).processes
        rules = [word for word in two.command if ":=" in word and "__" not in word]
        assert rules == ["/tf:=tf", "a:=b", "c:=d"]
        assert one.command == three.command
        assert "/tf:=tf" not in one.command

    def test_conditions(self, launch):
        body = (
            '<arg name="sim" default="false"/>'
            + NODE.format(' if="$(var sim)"', "")
            + NODE.format(' unless="$(var sim)"', "<param name='real' value='true'/>")
        )
        assert len(launch(body).processes[0].parameters) == 1
        assert launch(body, sim="True").processes[0].parameters == ()
        with pytest.raises(LaunchError, match="use true or false"):
            launch(body, sim="maybe")

    def test_let_is_scoped_by_its_group_and_follows_its_condition(self, launch):
        plan = launch(
            """
            <arg name="x" default="1"/>
            <group>
              <let name="x" value="2"/>
              <executable cmd="echo $(var x)" output="screen"/>
            </group>
            <let name="x" value="3" unless="true"/>
            <executable cmd="echo $(var x)" output="screen"/>"""
        )
        assert [p.command for p in plan.processes] == [("echo", "2"), ("echo", "1")]

    def test_include_passes_arguments(self, launch, tmp_path):
        (tmp_path / "inner.launch.xml").write_text(
            '<launch><arg name="who"/><executable cmd="echo $(var who)" output="screen"/></launch>'
        )
        plan = launch(
            '<include file="$(dirname)/inner.launch.xml"><arg name="who" value="me"/></include>'
        )
        assert plan.processes[0].command == ("echo", "me")

    def test_what_an_include_sets_is_seen_afterwards_and_a_group_keeps_it(self, launch, tmp_path):
        (tmp_path / "inner.launch.xml").write_text(
            '<launch><arg name="port" default="inner"/><let name="made" value="it"/></launch>'
        )
        include = '<include file="$(dirname)/inner.launch.xml"/>'
        show = '<executable cmd="echo $(var port none) $(var made none)" output="screen"/>'
        plan = launch(f"<group>{include}{show}</group>{show}{include}{show}")
        assert [p.command[1:] for p in plan.processes] == [
            ("inner", "it"), ("none", "none"), ("inner", "it"),
        ]  # fmt: skip

    def test_an_argument_of_an_include_has_the_value_of_one_of_that_name_outside(
        self, launch, tmp_path
    ):
        (tmp_path / "inner.launch.xml").write_text(
            '<launch><arg name="port" default="inner"/>'
            '<executable cmd="echo $(var port)" output="screen"/></launch>'
        )
        include = '<include file="$(dirname)/inner.launch.xml"/>'
        body = f'<arg name="port" default="outer"/>{include}'
        assert launch(body).processes[0].command == ("echo", "outer")
        assert launch(body, port="given").processes[0].command == ("echo", "given")
        assert launch(include, port="given").processes[0].command == ("echo", "given")

    def test_what_an_include_needs_must_stand_in_it(self, launch, tmp_path):
        """Stock launch looks for it there, and nowhere else."""
        (tmp_path / "inner.launch.xml").write_text('<launch><arg name="who"/></launch>')
        with pytest.raises(LaunchError, match="'who' must be given"):
            launch('<arg name="who"/><include file="$(dirname)/inner.launch.xml"/>', who="me")

    def test_an_argument_with_choices_has_one_of_them(self, launch):
        body = '<arg name="a" default="x"><choice value="x"/><choice value="y"/></arg>'
        launch(body, a="y")
        with pytest.raises(LaunchError, match="'a' is 'z'; it must be one of x, y"):
            launch(body, a="z")

    def test_an_argument_under_a_condition_that_does_not_hold_may_be_given(self, launch, tmp_path):
        (tmp_path / "inner.launch.xml").write_text('<launch><arg name="a" default=""/></launch>')
        body = f'<group if="false"><include file="{tmp_path}/inner.launch.xml"/></group>'
        assert launch(body, a="1").processes == []

    def test_a_required_argument_must_be_given(self, launch):
        with pytest.raises(LaunchError, match="'port' must be given: port:="):
            launch('<arg name="port"/>')

    def test_an_argument_that_nobody_declared_is_refused(self, launch):
        with pytest.raises(LaunchError, match="no such argument: prot; there are: port"):
            launch('<arg name="port" default="x"/>', prot="y")

    @pytest.mark.parametrize(
        "body",
        [
            "<timer period='1'/>",
            "<set_env name='a' value='b'/>",
            "<arg name='a' default='1'><param value='1'/></arg>",
            "<arg name='a' default='1'><choice/></arg>",
            "<arg name='a' default='1' if='true'/>",
            "<let name='a' value='1' if='true' unless='false'/>",
            "<set_parameters_from_file filename='/x'/>",
            "<group scoped='false'/>",
            "<executable cmd='true'/>",
            "<executable cmd='true' output='log'/>",
            "<executable cmd='true' output='screen' respawn='true'/>",
            "<node pkg='robot' exec='arm_node' output='screen' respawn='true'/>",
            "<node pkg='robot' exec='arm_node' output='screen'><env name='a' value='b'/></node>",
            "<node pkg='robot' exec='arm_node' output='screen'><param name='a'/></node>",
            "<node pkg='robot' exec='arm_node' output='screen'>"
            "<param name='a' value='1' type='int'/></node>",
            "<node pkg='robot' exec='other' output='screen'/>",
            "<node pkg='nobody' exec='arm_node' output='screen'/>",
            "<include file='/no/such.launch.xml'/>",
            "stray text",
        ],
    )
    def test_what_is_not_implemented_is_refused(self, launch, body):
        with pytest.raises(LaunchError):
            launch(body)

    def test_not_a_launch_file(self, tmp_path):
        path = tmp_path / "x.xml"
        for text, reason in (("<launch>", "not well-formed"), ("<robot/>", "root element")):
            path.write_text(text)
            with pytest.raises(LaunchError, match=reason):
                read(path, {}, {})


def wait_for(condition, seconds=20.0):
    """Poll until the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.02)


class TestRunner:
    def test_parameters_reach_the_process_as_a_file(self):
        out = io.StringIO()
        show = "import sys; print(open(sys.argv[2]).read())"
        process = Process("show", (sys.executable, "-c", show), ({"a": "1", "b": [1.5]},))
        with Runner([process], output=out) as runner:
            assert runner.wait(threading.Event()) == 0
        text = "\n".join(
            line.removeprefix("[show-1] ")
            for line in out.getvalue().splitlines()
            if line.startswith("[show-1]")
        )
        assert yaml.safe_load(text) == {"/**": {"ros__parameters": {"a": "1", "b": [1.5]}}}

    def test_a_failed_process_makes_the_status_1(self):
        with Runner([Process("bad", ("false",))], output=io.StringIO()) as runner:
            assert runner.wait(threading.Event()) == 1

    def test_leaving_ends_every_process_and_is_told_apart_by_signal(self, monkeypatch):
        monkeypatch.setattr("launch_runner.processes.GRACE", 2.0)
        out = io.StringIO()
        polite = "import time\nprint('up', flush=True)\ntime.sleep(99)"
        deaf = "import signal\nfor s in (2, 15): signal.signal(s, signal.SIG_IGN)\n"
        stubborn = deaf + polite
        plan = [
            Process("stubborn", (sys.executable, "-c", stubborn)),
            Process("polite", (sys.executable, "-c", polite)),
        ]
        with Runner(plan, output=out) as runner:
            wait_for(lambda: out.getvalue().count("up\n") == 2)
            pids = [runner.pid("stubborn"), runner.pid("polite")]
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
        assert "stubborn-1 did not leave: SIGKILL" in out.getvalue()
        assert "polite-2 did not leave" not in out.getvalue()

    def test_a_program_that_cannot_start_ends_those_that_did(self):
        plan = [Process("one", ("sleep", "99")), Process("two", ("/no/such/program",))]
        runner = Runner(plan, output=io.StringIO())
        with pytest.raises(OSError), runner:
            pass
        assert runner.running[0].popen.returncode is not None


class TestCommand:
    def write(self, tmp_path, body):
        path = tmp_path / "it.launch.xml"
        path.write_text(f"<launch>{body}</launch>")
        return str(path)

    def test_show_args(self, tmp_path, capsys):
        path = self.write(tmp_path, '<arg name="a" default="1" description="the first"/>')
        assert main([path, "--show-args"]) == 0
        said = capsys.readouterr().out
        assert "\n    'a':\n        the first\n        (default: '1')\n" in said

    def test_show_args_tells_those_of_what_is_included_and_of_what_would_not_be(
        self, tmp_path, capsys
    ):
        (tmp_path / "inner.launch.xml").write_text(
            """<launch>
              <arg name="a" default="other" description="not the first"/>
              <arg name="b" description="needed"><choice value="x"/><choice value="y"/></arg>
            </launch>"""
        )
        path = self.write(
            tmp_path,
            f"""<arg name="a" default="$(var nothing)"/>
            <include file="{tmp_path}/inner.launch.xml" unless="$(var a)"/>""",
        )
        assert main([path, "--show-args"]) == 0
        said = capsys.readouterr().out
        assert "'a':\n        \n        (default: '$(var nothing)')" in said
        assert "'b':*\n        needed. Valid choices are: x, y\n" in said
        assert "only used if specific conditions occur" in said

    def test_show_args_passes_over_an_include_that_depends_on_an_argument(self, tmp_path):
        path = self.write(tmp_path, '<arg name="f" default="x"/><include file="$(var f)"/>')
        assert describe(Path(path), {}) == [Argument("f", "x", "")]

    def test_show_args_of_a_file_without_any(self, tmp_path, capsys):
        assert main([self.write(tmp_path, ""), "--show-args"]) == 0
        assert "No arguments." in capsys.readouterr().out

    def test_show_args_needs_nothing_that_the_file_would_start(self, tmp_path, capsys):
        body = '<arg name="joy" default="true"/><node pkg="nope" exec="x" output="screen"/>'
        assert main([self.write(tmp_path, body), "--show-args"]) == 0
        assert "'joy':" in capsys.readouterr().out

    def test_all_that_is_missing_is_named_with_the_argument_that_does_without(
        self, tmp_path, capsys
    ):
        body = "".join(
            f'<arg name="{name}" default="true"/>'
            f'<node if="$(var {name})" pkg="no_{name}" exec="x" output="screen"/>'
            for name in ("joy", "tf")
        )
        assert main([self.write(tmp_path, body)]) == 2
        said = capsys.readouterr().err
        assert "'no_joy' is not installed here" in said and "joy:=false" in said
        assert "'no_tf' is not installed here" in said and "tf:=false" in said

    def test_the_argument_that_does_without_may_be_that_of_the_group_around(
        self, tmp_path, capsys
    ):
        node = '<node pkg="no_tf" exec="x" output="screen"/>'
        body = (
            '<arg name="outer" default="true"/><arg name="tf" default="true"/>'
            f'<group if="$(var outer)"><group if="$(var tf)"><group>{node}{node}</group></group>'
            '<node pkg="no_outer" exec="x" output="screen"/></group>'
            '<node pkg="no_way" exec="x" output="screen"/>'
        )
        assert main([self.write(tmp_path, body)]) == 2
        said = capsys.readouterr().err
        assert said.count("'no_tf'") == 1
        ways = {
            name: line.rpartition(", or ")[2]
            for line in said.splitlines()
            for name in ("no_tf", "no_outer", "no_way")
            if name in line
        }
        assert ways == {
            "no_tf": "start without it: tf:=false",
            "no_outer": "start without it: outer:=false",
            "no_way": "build it: make build",
        }

    def test_a_program_that_is_missing_is_named_before_anything_starts(self, tmp_path, capsys):
        body = (
            '<executable cmd="sleep 99" output="screen"/><arg name="record" default="true"/>'
            '<executable if="$(var record)" cmd="/no/such/program bag" output="screen"/>'
        )
        assert main([self.write(tmp_path, body)]) == 2
        captured = capsys.readouterr()
        assert "/no/such/program" in captured.err and "record:=false" in captured.err
        assert "started" not in captured.out

    def test_an_unknown_argument_is_said_before_what_is_missing(self, tmp_path, capsys):
        body = '<arg name="joy" default="true"/><node pkg="nope" exec="x" output="screen"/>'
        assert main([self.write(tmp_path, body), "jo:=false"]) == 2
        assert "no such argument: jo" in capsys.readouterr().err

    def test_a_bad_argument_is_status_2(self, tmp_path, capsys):
        assert main([self.write(tmp_path, ""), "sim=true"]) == 2
        assert "write name:=value" in capsys.readouterr().err

    def test_an_argument_without_a_value_is_refused_as_by_ros2_launch(self, tmp_path, capsys):
        path = self.write(tmp_path, '<arg name="a" default="x"/>')
        assert main([path, "a:="]) == 2
        assert "has no value" in capsys.readouterr().err

    def test_ctrl_c_is_clean(self, tmp_path):
        path = self.write(tmp_path, '<executable cmd="sleep 99" output="screen"/>')
        command = [sys.executable, str(TOOLS / "launch_file.py"), path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as popen:
            assert "started sleep-1" in popen.stdout.readline()
            popen.send_signal(signal.SIGINT)
            assert popen.wait(20) == 0
