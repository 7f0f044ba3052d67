"""Pads in both layouts of the package `joy`, in a program's hands, and tapes of what they sent.

A tape is a file of frames: a line of JSON that says whose layout it has, then a line for each
frame: seconds, phase, axes, buttons.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path

from rclpy.qos import QoSProfile
from sensor_msgs.msg import Joy

TAPES = Path(__file__).with_name("joy_streams")

RATE = 50.0
"""Frames a second, as `autorepeat_rate` makes them."""


REST_FRAMES = 25
"""Frames for which a hand that lets go leaves the pad alone."""


@dataclass(frozen=True)
class Layout:
    """Where a layout has the controls of an Xbox pad; a trigger is `trigger_rest` when let go."""

    profile: str
    axis_count: int
    button_count: int
    axes: dict[str, int]
    buttons: dict[str, int]
    trigger_rest: float

    @property
    def released(self):
        """Where every control is that nobody touches."""
        rest = dict.fromkeys((*self.axes, *self.buttons), 0.0)
        return rest | dict.fromkeys(("left_trigger", "right_trigger"), self.trigger_rest)


LAYOUTS = {
    "game_controller_node": Layout(
        "xbox_game_controller",
        6,
        21,
        {"left_x": 0, "left_y": 1, "right_x": 2, "right_y": 3,
         "left_trigger": 4, "right_trigger": 5},
        {"a": 0, "b": 1, "x": 2, "y": 3, "back": 4, "start": 6, "lb": 9, "rb": 10},
        0.0,
    ),
    "joy_node": Layout(
        "xbox_joy_node",
        8,
        11,
        {"left_x": 0, "left_y": 1, "left_trigger": 2, "right_x": 3, "right_y": 4,
         "right_trigger": 5},
        {"a": 0, "b": 1, "x": 2, "y": 3, "lb": 4, "rb": 5, "back": 6, "start": 7},
        1.0,
    ),
}  # fmt: skip


class LayoutPad:
    """Publishes its state at `RATE`, and at once when a control changes."""

    def __init__(self, client, layout):
        """Plug the pad in, untouched, with a publisher of its own."""
        self._client = client
        self.layout = layout
        self._lock = threading.Lock()
        self._sent = threading.Condition(self._lock)
        self._count = 0
        self._publisher = None
        self.axes = [0.0] * layout.axis_count
        self.buttons = [0] * layout.button_count
        self._place(layout.released)
        self._advertise()
        self.plug()

    def _advertise(self):
        self._publisher = self._client.node.create_publisher(Joy, "joy", QoSProfile(depth=10))

    def _place(self, controls):
        for name, value in controls.items():
            if name in self.layout.axes:
                self.axes[self.layout.axes[name]] = float(value)
            else:
                self.buttons[self.layout.buttons[name]] = int(value)

    def _publish(self):
        if self._publisher is not None:
            message = Joy(axes=self.axes, buttons=self.buttons)
            message.header.stamp = self._client.node.get_clock().now().to_msg()
            self._publisher.publish(message)
            self._count += 1
            self._sent.notify_all()

    def _run(self):
        while not self._unplugged.wait(1.0 / RATE):
            with self._lock:
                self._publish()

    def plug(self):
        """Begin to publish, with the controls where they are."""
        self._unplugged = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def unplug(self):
        """Fall silent; the publisher stays."""
        self._unplugged.set()
        self._thread.join()

    def vanish(self):
        """Take the publisher away as well, as a joy node that ends does."""
        with self._lock:
            self._client.node.destroy_publisher(self._publisher)
            self._publisher = None

    def appear(self):
        """Bring the publisher back."""
        with self._lock:
            self._advertise()

    def set(self, **controls):
        """Move controls to where they are told; the others stay."""
        with self._lock:
            self._place(controls)
            self._publish()

    def release(self):
        """Let go of everything, for as long as a hand does: a rest is learned from many frames."""
        self.set(**self.layout.released)
        self.rest()

    def rest(self):
        """Let `REST_FRAMES` go out as the pad is held."""
        with self._lock:
            until = self._count + REST_FRAMES
            self._sent.wait_for(
                lambda: self._count >= until or self._unplugged.is_set() or self._publisher is None
            )

    def send_raw(self, axes, buttons):
        """Send the arrays as they are from now on, whatever their lengths."""
        with self._lock:
            self.axes, self.buttons = list(axes), list(buttons)
            self._publish()

    def send_once(self, **controls):
        """Send one frame with these controls; the next has them where they were."""
        with self._lock:
            before = list(self.axes), list(self.buttons)
            self._place(controls)
            self._publish()
            self.axes, self.buttons = before

    def play(self, frames):
        """Send recorded frames at their pace; the last one stays."""
        self.unplug()
        over = threading.Event()
        before = frames[0].seconds
        for frame in frames:
            over.wait(frame.seconds - before)
            before = frame.seconds
            self.send_raw(frame.axes, frame.buttons)
        self.plug()


@dataclass(frozen=True)
class Frame:
    """One line of a tape."""

    seconds: float
    phase: str
    axes: list[float]
    buttons: list[int]


@dataclass(frozen=True)
class Tape:
    """What a pad sent."""

    node: str
    frames: list[Frame]

    @property
    def phases(self):
        """Names of the phases, in order."""
        return list(dict.fromkeys(frame.phase for frame in self.frames))

    def of(self, phase):
        """Return the frames of a phase."""
        return [frame for frame in self.frames if frame.phase == phase]


def read_tape(path):
    """Return the tape of a file."""
    head, *lines = path.read_text().splitlines()
    return Tape(json.loads(head)["node"], [Frame(*json.loads(line)) for line in lines])
