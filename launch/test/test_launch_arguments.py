"""What the arguments of the launch file do, as far as the drone's own nodes are concerned."""

import os

import pytest
from lifecycle_msgs.srv import GetState
from stack import read_launch_file


def processes(**arguments):
    """Return the processes that the launch file asks for, by name."""
    given = {"sim": "true", "joy": "false", "tf": "false", **arguments}
    plan = read_launch_file(given, os.environ)
    return {process.label: process for process in plan.processes}


def parameters(process):
    """Return the parameters that the launch file itself gives to a node."""
    return {name: value for part in process.parameters for name, value in part.items()}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, {"autostart": True, "service_mode": False, "wiring": "rs232"}),
        (
            {"autostart": "false", "service_mode": "true", "wiring": "rs485"},
            {"autostart": False, "service_mode": True, "wiring": "rs485"},
        ),
    ],
    ids=["defaults", "given"],
)
def test_arguments_become_parameters_of_the_driver(arguments, expected):
    found = parameters(processes(**arguments)["driver"])
    assert {name: found[name] for name in expected} == expected


def test_the_simulated_arm_has_the_wiring_of_the_driver():
    assert "--rs485" in processes(wiring="rs485")["sim"].command


def test_a_pad_moves_and_stops_the_arm_over_two_wires(rig_with):
    with rig_with(wiring="rs485") as rig:
        rig.settle()
        mark = rig.jog(left_y=0.7)
        rig.pad.release()
        rig.wait(
            lambda: (
                set(rig.demanded(mark)) >= {1, 2, 3, 4, 5} and not any(rig.demanded(mark).values())
            ),
            "all five joints told to stop",
        )


def test_without_autostart_the_driver_waits_to_be_told(rig_with):
    with rig_with(until_ready=False, autostart="false") as rig:
        rig.wait(lambda: rig.arm() is not None, "the driver is heard")
        answer = rig.client.ask(GetState, "driver/get_state", GetState.Request())
        assert answer.current_state.label == "unconfigured"
        assert not rig.arm().active
        assert not rig.stack.wire().entries
