"""The node behind the page: listens, draws what it hears, and says nothing to anybody.

The executor spins in the main thread and viser's event loop in a thread of viser's. Handles may
be used from any thread; only the executor's uses them here.
"""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from typing import Any

import numpy as np
import viser
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from reach_alpha5_motion.model import ModelError
from reach_alpha5_msgs.msg import ArmState
from reach_alpha5_view.browser import page
from reach_alpha5_view.browser.arm_visual import ArmVisual
from reach_alpha5_view.browser.drawing import Drawing
from reach_alpha5_view.feed import NEWEST, STANDING, Feed
from reach_alpha5_view.scene.config import SceneConfig
from reach_alpha5_view.scene.palette import GREY
from reach_alpha5_view.scene.scene import Layer, Scene
from reach_alpha5_view.scene.shapes import Kind, Shape

RATE = 10.0
"""Hz: how often the picture is drawn while somebody looks."""

SHOWN_AXES = ("base_link", "arm_base", "tool")
"""Links whose frames are shown as axes; those of the arm without prefix."""

STALE_COLOUR = GREY
"""Of an arm of which nothing new is heard."""

BACKGROUND = (74, 88, 102)
"""0 to 255: red, green, blue. On it one sees the arm, which is black, and lines that are white."""


class PortError(OSError):
    """The page cannot be served at this address; says why."""


class LookOnlyServer(viser.ViserServer):
    """A server that nobody can talk into a tunnel to the outside.

    viser's own would open one, through servers of its makers, for any page that asks.
    """

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Share nothing."""
        return None


def serve(host: str, port: int) -> LookOnlyServer:
    """Begin to serve the page.

    Args:
        host: name or address to listen at.
        port: 0 takes a free one.

    Raises:
        PortError: nothing can be served there. viser would silently take the next free port, or
            wait for ever for an address that this machine has not.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise PortError(f"cannot listen at {host} port {port}: {error.strerror}") from error
    server = LookOnlyServer(host=str(address[0]), port=port, verbose=False)
    if port not in (0, server.get_port()):  # somebody took it meanwhile
        server.stop()
        raise PortError(f"cannot listen at {host} port {port}: it is taken")
    return server


class ViewNode(Node):
    """Draws what the topics say of one arm for everybody who has the page open."""

    def __init__(
        self,
        server: viser.ViserServer,
        description: str,
        origin: str,
        *,
        is_fixed: bool,
        config: SceneConfig,
        **options: Any,
    ) -> None:
        """Subscribe, and draw the arm where it is while nothing is heard.

        Args:
            server: what serves the page; it is stopped by `close`.
            description: text of the robot description.
            origin: where that is from, in words.
            is_fixed: whether it stays when another one comes by the topic `robot_description`.
            config: of the scene.
            options: of the node.

        Raises:
            ModelError: the description is not that of this arm.
        """
        super().__init__("browser_view", start_parameter_services=False, **options)
        self._server = server
        self._config = config
        self._scene = Scene(config)
        self._drawing = Drawing(
            server.scene,
            frozenset({SHOWN_AXES[0], *(config.prefix + name for name in SHOWN_AXES[1:])}),
        )
        _furnish(server)
        self._panels = {name: server.gui.add_html("") for name in ("status", "joints", "note")}
        self._positions: dict[str, float] = {}
        self._moved = -float("inf")
        self._arm: ArmState | None = None
        self._heard = -float("inf")
        self._slow_due = 0.0
        self._set_description(description, origin)
        Feed(
            self,
            self._scene,
            description if is_fixed else "",
            on_standing=self._draw_soon,
            on_arm=self._on_arm,
        )
        if not is_fixed:
            self._scene.set_description(description)
            self.create_subscription(String, "robot_description", self._on_description, STANDING)
        self.create_subscription(JointState, "joint_states", self._on_joints, NEWEST)
        # Steady, so that neither a clock that is set nor simulated time holds the picture up.
        self.create_timer(1.0 / RATE, self._on_tick, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def close(self) -> None:
        """Serve no longer."""
        self._server.stop()

    def _set_description(self, xml: str, origin: str) -> None:
        self._visual = ArmVisual.from_urdf(xml)
        self._drawing.clear()
        meshes = f"; {self._visual.meshes} meshes are not drawn" if self._visual.meshes else ""
        self._show("note", page.note(f"arm as in {origin}{meshes}"))

    def _on_description(self, message: String) -> None:
        try:
            self._set_description(message.data, "the topic robot_description")
        except ModelError:
            return  # `Feed` hears it as well, and tells

    def _on_joints(self, message: JointState) -> None:
        self._positions.update(zip(message.name, message.position, strict=False))
        self._moved = time.monotonic()

    def _on_arm(self, message: ArmState) -> None:
        self._arm, self._heard = message, time.monotonic()

    def _draw_soon(self) -> None:
        self._slow_due = 0.0

    def _on_tick(self) -> None:
        if not self._server.get_clients():
            return
        now = time.monotonic()
        with self._server.atomic():
            self._drawing.move(self._visual.places(self._positions))
            self._drawing.draw("arm", self._arm_shapes(now))
            self._drawing.draw(Layer.MOVING.value, self._scene.shapes(now, (Layer.MOVING,)))
            if now >= self._slow_due:
                self._slow_due = now + self._config.words_period
                self._draw_slow(now)

    def _arm_shapes(self, now: float) -> tuple[Shape, ...]:
        if now - self._moved <= self._config.stale_after:
            return self._visual.shapes
        return tuple(replace(shape, colour=STALE_COLOUR) for shape in self._visual.shapes)

    def _draw_slow(self, now: float) -> None:
        words = self._scene.shapes(now, (Layer.WORDS,))
        # The overlay has a place of its own here, where it never hides the arm.
        for text in (shape for shape in words if shape.kind is Kind.TEXT):
            self._show("status", page.status(text.text, text.colour))
        self._drawing.draw(
            Layer.WORDS.value, (shape for shape in words if shape.kind is not Kind.TEXT)
        )
        self._drawing.draw(Layer.STANDING.value, self._scene.shapes(now, (Layer.STANDING,)))
        if self._arm is not None:
            is_heard = now - self._heard <= self._config.stale_after
            self._show("joints", _joints(self._arm, is_heard))

    def _show(self, panel: str, content: str) -> None:
        if self._panels[panel].content != content:
            self._panels[panel].content = content


def _furnish(server: viser.ViserServer) -> None:
    """Set what is the same in every picture, and where one looks from at first."""
    scene = server.scene
    scene.set_up_direction("+z")
    scene.world_axes.visible = False
    scene.configure_default_lights(cast_shadow=False)  # costly where there is no graphics card
    scene.set_background_image(np.full((2, 2, 3), BACKGROUND, dtype=np.uint8), format="png")
    scene.add_grid(
        "/grid",
        2.0,
        2.0,
        cell_size=0.1,
        cell_color=(96, 110, 124),
        section_color=(112, 126, 140),
        position=(0.0, 0.0, -0.3),
    )
    server.initial_camera.position = (0.62, -0.52, 0.22)
    server.initial_camera.look_at = (0.2, 0.0, -0.06)
    server.gui.configure_theme(
        dark_mode=True,
        show_logo=False,
        show_share_button=False,
        control_width="large",
        control_layout="collapsible",
    )


def _joints(arm: ArmState, is_heard: bool) -> str:
    rows = [
        page.JointRow(
            joint.name,
            joint.position,
            joint.velocity,
            joint.current,
            joint.temperature,
            joint.stale,
        )
        for joint in arm.joints
    ]
    link = page.Link(arm.link.connected, arm.link.telemetry_rate, arm.link.requests_unanswered)
    return page.joints(rows, link, is_heard)
