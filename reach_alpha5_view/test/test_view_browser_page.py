"""The browser page without a browser: the arm as shapes, the panel, and the command's refusals."""

from __future__ import annotations

import math
import socket
import subprocess
import sys

import numpy as np
import pytest
import viser
from view_material import DEPLOYED, JOINTS, model, urdf

from reach_alpha5_motion.model import ModelError
from reach_alpha5_view.browser import page
from reach_alpha5_view.browser.arm_visual import ArmVisual, Place
from reach_alpha5_view.browser.drawing import Drawing
from reach_alpha5_view.browser.view_node import PortError, serve
from reach_alpha5_view.scene.shapes import ORIGIN, UNTURNED, Kind, Shape

FRD_HALF_TURN = np.array((1.0, -1.0, -1.0))
"""What turns a vector of base_link_frd into one of base_link."""

ROW = page.JointRow("axis_e", 1.5, 0.25, 0.125, 31.0, stale=False)
UP = page.Link(connected=True, rate=77.0, unanswered=2)


def posture(positions=DEPLOYED, prefix: str = "") -> dict[str, float]:
    return {prefix + name: value for name, value in zip(JOINTS, positions, strict=True)}


@pytest.mark.parametrize("prefix", ["", "left_"])
@pytest.mark.parametrize("positions", [DEPLOYED, (0.3, 1.0, 2.0, 1.0, 0.0)])
def test_the_tool_is_drawn_where_the_driver_has_its_tip(prefix, positions):
    visual = ArmVisual.from_urdf(urdf(prefix))
    place = visual.places(posture(positions, prefix))[f"{prefix}tool"]
    expected = FRD_HALF_TURN * model(prefix).tip(positions)
    assert place.position == pytest.approx(expected.tolist(), abs=1e-9)


def test_every_visual_body_is_drawn_in_a_link_that_has_a_place():
    visual = ArmVisual.from_urdf(urdf())
    assert len(visual.shapes) == urdf().count("<visual")
    assert {shape.frame for shape in visual.shapes} <= set(visual.places({}))


def test_fingers_follow_the_jaws():
    visual = ArmVisual.from_urdf(urdf())
    shut = visual.places({"axis_a": 0.0})["finger_left"].orientation
    assert visual.places({"axis_a": 0.01})["finger_left"].orientation != shut


@pytest.mark.parametrize("nothing", [math.nan, math.inf])
def test_a_joint_that_is_not_known_stays_where_it_was(nothing):
    visual = ArmVisual.from_urdf(urdf())
    before = visual.places(posture())
    assert visual.places({"axis_e": nothing, "no_joint": 1.0}) == before


def test_a_mesh_is_counted_and_everything_else_is_drawn():
    mesh = '<visual><geometry><mesh filename="package://none/a.stl"/></geometry></visual>'
    visual = ArmVisual.from_urdf(
        urdf().replace('<link name="link_e">', f'<link name="link_e">{mesh}')
    )
    assert visual.meshes == 1
    assert visual.shapes == ArmVisual.from_urdf(urdf()).shapes


@pytest.mark.parametrize("text", ["", "<robot", "<robot name='a'/>"])
def test_what_is_no_description_is_refused(text):
    with pytest.raises(ModelError):
        ArmVisual.from_urdf(text)


def test_what_others_wrote_is_text_and_no_markup():
    evil = "<script>alert(1)</script>"
    assert "<script" not in page.status(evil, (1.0, 1.0, 1.0, 1.0))
    assert "<script" not in page.note(evil)
    row = page.JointRow(evil, 0.0, 0.0, 0.0, 0.0, stale=False)
    assert "<script" not in page.joints([row], UP, is_heard=True)


def test_the_table_has_what_the_joint_says():
    shown = page.joints([ROW], UP, is_heard=True)
    for text in ("axis_e", "1.500 rad", "0.250/s", "0.12", "31", "77 Hz", "2 unanswered"):
        assert text in shown
    assert "STALE" not in shown


def test_U12_what_is_old_is_marked():
    stale = page.JointRow("axis_e", 1.5, math.nan, math.nan, math.nan, stale=True)
    assert "axis_e STALE" in page.joints([stale], UP, is_heard=True)
    silent = page.joints([ROW], UP, is_heard=False)
    assert "axis_e STALE" in silent
    assert "link up" not in silent
    down = page.Link(connected=False, rate=math.nan, unanswered=0)
    assert "LINK DOWN" in page.joints([ROW], down, is_heard=True)


@pytest.fixture
def server():
    server = serve("localhost", 0)
    yield server
    server.stop()


def box(number: int = 0, frame: str = "base_link", **changes) -> Shape:
    return Shape("boxes", number, frame, Kind.BOX, **changes)


def test_a_shape_is_in_the_scene_while_it_is_drawn(server: viser.ViserServer):
    drawing = Drawing(server.scene, frozenset())
    drawing.move({"base_link": Place(ORIGIN, UNTURNED)})
    names = server.scene._handle_from_node_name
    drawing.draw("layer", [box(0), box(1), box(2, frame="nowhere")])
    assert {n for n in names if "boxes" in n} >= {"/base_link/boxes/0", "/base_link/boxes/1"}
    assert not any("nowhere" in n for n in names)
    kept = names["/base_link/boxes/1"]
    drawing.draw("layer", [box(1, position=(0.1, 0.2, 0.3))])
    assert "/base_link/boxes/0" not in names
    assert names["/base_link/boxes/1"] is kept  # it was moved, and not made anew
    assert tuple(kept.position) == pytest.approx((0.1, 0.2, 0.3))
    drawing.draw("layer", [box(1, size=(2.0, 2.0, 2.0))])
    assert names["/base_link/boxes/1"] is not kept
    drawing.clear()
    assert not any(n.startswith("/base_link") for n in names)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.MESH])
def test_every_kind_of_shape_is_drawn(server: viser.ViserServer, kind: Kind):
    drawing = Drawing(server.scene, frozenset())
    drawing.move({"base_link": Place(ORIGIN, UNTURNED)})
    points = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
    taken = {Kind.ARROW: 2, Kind.TRIANGLES: 3}.get(kind, 4)
    drawing.draw("x", [Shape("ns", 0, "base_link", kind, points=points[:taken], text="a")])
    assert "/base_link/ns/0" in server.scene._handle_from_node_name


def test_no_page_can_open_a_tunnel_to_the_outside(server: viser.ViserServer):
    assert server.request_share_url() is None
    assert server._share_tunnel is None


def test_a_port_in_use_is_told_and_no_other_one_is_taken(server: viser.ViserServer):
    with pytest.raises(PortError, match=f"port {server.get_port()}"):
        serve("localhost", server.get_port())


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reach_alpha5_view.browser.cli", "--no-open", *arguments],
        capture_output=True,
        text=True,
        timeout=60.0,
    )


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "drone.urdf"
    file.write_text(urdf())
    return str(file)


def test_the_command_tells_of_a_port_in_use_and_what_to_do(file):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("--host", "127.0.0.1", "--port", port, "--description", file)
    assert done.returncode == 2
    assert port in done.stderr and "--port" in done.stderr


@pytest.mark.parametrize(
    "arguments, why",
    [
        (["--description", "/no/such/file"], "/no/such/file"),
        (["prefix=left_"], "NAME:=VALUE"),
        (["--namespace", "a b"], "a b"),
    ],
)
def test_a_command_that_cannot_begin_says_why(file, arguments, why):
    if "--description" not in arguments:
        arguments = [*arguments, "--description", file]
    done = run("--port", "0", *arguments)
    assert done.returncode == 2
    assert why in done.stderr
