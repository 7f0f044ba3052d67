"""A pad that a program holds: publishes `Joy` like `game_controller_node` does, sticks and all."""

from __future__ import annotations

import threading

from sensor_msgs.msg import Joy
from stack import Client

AXES = {
    "left_x": 0,
    "left_y": 1,
    "right_x": 2,
    "right_y": 3,
    "left_trigger": 4,
    "right_trigger": 5,
}
"""Place in `Joy.axes`; left and forward are plus."""

BUTTONS = {"a": 0, "b": 1, "x": 2, "y": 3, "back": 4, "start": 6, "lb": 9, "rb": 10}
"""Place in `Joy.buttons`."""

BUTTON_COUNT = 21
RATE = 50.0
"""Frames a second, as `autorepeat_rate` would make them."""


ALL_RELEASED = dict.fromkeys((*AXES, *BUTTONS), 0)
"""Every control, let go."""


class Controls:
    """Where every stick, trigger and button of the pad is."""

    def __init__(self) -> None:
        """Begin untouched."""
        self._axes = [0.0] * len(AXES)
        self._buttons = [0] * BUTTON_COUNT

    def move(self, **controls: float) -> None:
        """Move controls to where they are told; the others stay. Names are those of the tables."""
        for name, value in controls.items():
            if name in AXES:
                self._axes[AXES[name]] = float(value)
            else:
                self._buttons[BUTTONS[name]] = int(value)

    def frame(self, client: Client) -> Joy:
        """Return the pad's frame as it is held now, stamped with the clock of `client`."""
        message = Joy(axes=self._axes, buttons=self._buttons)
        message.header.stamp = client.node.get_clock().now().to_msg()
        return message


class Pad:
    """Publishes its state at `RATE`, and at once when a control changes."""

    def __init__(self, client: Client) -> None:
        """Plug the pad in: it begins to publish, untouched."""
        self._client = client
        self._controls = Controls()
        self._lock = threading.Lock()
        self.plug()

    def plug(self) -> None:
        """Begin to publish, with the controls where they are."""
        self._unplugged = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def set(self, **controls: float) -> None:
        """Move controls to where they are told; the others stay. Names are those of the tables."""
        with self._lock:
            self._controls.move(**controls)
            self._publish()

    def release(self) -> None:
        """Let go of everything."""
        self.set(**ALL_RELEASED)

    def unplug(self) -> None:
        """Fall silent."""
        self._unplugged.set()
        self._thread.join()

    def _publish(self) -> None:
        self._client.joy.publish(self._controls.frame(self._client))

    def _run(self) -> None:
        while not self._unplugged.wait(1.0 / RATE):
            with self._lock:
                self._publish()
