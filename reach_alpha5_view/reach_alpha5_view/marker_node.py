"""The marker node: publishes the scene as markers for rviz. It only looks."""

from __future__ import annotations

import time
from typing import Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, QoSPublisherMatchedInfo
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.timer import Timer
from visualization_msgs.msg import Marker, MarkerArray

from reach_alpha5_common.node_life import declare, run
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_motion.model import ModelError
from reach_alpha5_view.feed import Feed
from reach_alpha5_view.markers import Key, delete_all, deletion, keys, marker
from reach_alpha5_view.parameters import PARAMETERS, config_from
from reach_alpha5_view.scene.scene import Layer, Scene
from reach_alpha5_view.scene.shapes import Shape

MARKERS = QoSProfile(depth=20)
"""Reliable and volatile: what stands is said again and again, so that a late reader and a bag that
is entered in the middle have it soon, and none gets the picture of a past moment first."""

PATIENCE = 5.0
"""Time [s] without a robot description after which that is said."""

FAREWELL = 0.5
"""Longest time [s] that leaving waits until the last message is acknowledged."""


class MarkerNode(Node):
    """Draws what the topics say of one arm on `markers`."""

    def __init__(self, **options: Any) -> None:
        """Read parameters, subscribe, and advertise.

        Raises:
            ParameterError: a parameter is not in order.
        """
        super().__init__("markers", **options)
        values = declare(self, PARAMETERS)
        config = config_from(values)
        self._scene = Scene(config)
        self._due = dict.fromkeys(Layer, 0.0)
        self._periods = {
            Layer.MOVING: 0.0,  # with every tick
            Layer.WORDS: config.words_period,
            Layer.STANDING: config.standing_period,
        }
        self._drawn: dict[Layer, frozenset[Key]] = dict.fromkeys(Layer, frozenset())
        self._standing: tuple[Shape, ...] = ()
        self._standing_markers: list[Marker] = []
        self._markers = self.create_publisher(
            MarkerArray,
            "markers",
            MARKERS,
            event_callbacks=PublisherEventCallbacks(matched=self._on_matched),
        )
        try:
            Feed(
                self,
                self._scene,
                values["robot_description"],
                values["mesh_folder"],
                self._draw_standing_soon,
            )
        except ModelError as error:
            raise ParameterError(f"robot_description: {error}") from error
        self._patience: Timer | None = None
        if not values["robot_description"]:
            self._patience = self.create_timer(
                PATIENCE, self._on_impatient, clock=Clock(clock_type=ClockType.STEADY_TIME)
            )
        # Steady, so that neither a clock that is set nor simulated time holds the picture up.
        self.create_timer(
            config.moving_period, self._on_tick, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def close(self) -> None:
        """Take every marker away, and wait until that is out."""
        self._markers.publish(delete_all())
        self._markers.wait_for_all_acked(Duration(seconds=FAREWELL))

    def _on_impatient(self) -> None:
        """Say once what is waited for, if it has not come."""
        assert self._patience is not None
        self._patience.cancel()
        if not self._scene.has_description:
            topic = self.resolve_topic_name("robot_description")
            self.get_logger().warning(
                f"no arm is drawn: waiting for {topic}, which robot_state_publisher publishes "
                "(tf:=true in the launch files); or give the parameter robot_description"
            )

    def _on_matched(self, info: QoSPublisherMatchedInfo) -> None:
        if info.current_count_change > 0:
            self._draw_standing_soon()

    def _draw_standing_soon(self) -> None:
        self._due[Layer.STANDING] = 0.0

    def _on_tick(self) -> None:
        if self._markers.get_subscription_count() == 0:
            return
        now = time.monotonic()
        array = MarkerArray()
        for layer, due in self._due.items():
            if now >= due:
                self._due[layer] = now + self._periods[layer]
                array.markers += self._draw(layer, now)
        if array.markers:
            self._markers.publish(array)

    def _draw(self, layer: Layer, now: float) -> list[Marker]:
        """Return the markers of a layer, and what takes those away that it has no longer."""
        shapes = self._scene.shapes(now, (layer,))
        names = keys(shapes)
        gone = [deletion(key) for key in sorted(self._drawn[layer] - names)]
        self._drawn[layer] = names
        if layer is not Layer.STANDING:
            return gone + [marker(shape) for shape in shapes]
        # What stands is large, and is mostly the same as before.
        if shapes != self._standing:
            self._standing = shapes
            self._standing_markers = [marker(shape) for shape in shapes]
        return gone + self._standing_markers


def main() -> int:
    """Run the node until it is told to leave."""
    return run(MarkerNode)


if __name__ == "__main__":
    raise SystemExit(main())
