#!/usr/bin/env python3
"""Draw docs/images/arm.png from the description: the arm deployed and stowed, with its joint axes.

The URDF gives shapes, colours and axes, the SRDF the two postures; nothing of the arm is repeated
here. Neither a display nor a graphics card is needed. Takes some minutes of one core.
"""

import argparse
import math
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pinocchio as pin
import xacro
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from ray_caster import Array, Camera, Solid, render, unit

mpl.rcParams["font.family"] = "DejaVu Sans"

ROOT = Path(__file__).resolve().parents[1]
DESCRIPTION = ROOT / "reach_alpha5_description"
OUTPUT = ROOT / "docs" / "images" / "arm.png"

DPI = 100
INK = "#1c2733"
AXIS_COLOURS = ("#e5383b", "#2a9d4b", "#2667ff")  # x, y, z, as everywhere in ROS
JOINT_COLOUR = "#e07a00"
WHAT = {
    "axis_e": "base", "axis_d": "shoulder", "axis_c": "elbow", "axis_b": "wrist", "axis_a": "jaws",
}  # fmt: skip


class Arm:
    """The described arm in one posture, in the frame of its own base."""

    def __init__(self, positions: dict[str, float]) -> None:
        """Put the named joints at rad or m, all others at 0."""
        xml = xacro.process_file(
            str(DESCRIPTION / "urdf/drone.urdf.xacro"), mappings={"mount_xyz": "0 0 0"}
        ).toxml()
        self.model = pin.buildModelFromXML(xml, mimic=True)
        self.data = self.model.createData()
        shapes = pin.buildGeomFromUrdfString(self.model, xml, pin.GeometryType.VISUAL)
        shape_data = shapes.createData()
        q = pin.neutral(self.model)
        for name, value in positions.items():
            q[self.model.joints[self.model.getJointId(name)].idx_q] = value
        pin.framesForwardKinematics(self.model, self.data, q)
        pin.updateGeometryPlacements(self.model, self.data, shapes, shape_data)
        self.solids = [
            Solid(shape.geometry, pose.copy(), np.array(shape.meshColor[:3]) ** 2.2)
            for shape, pose in zip(shapes.geometryObjects, shape_data.oMg, strict=True)
        ]
        self.axes = {
            joint.attrib["name"]: np.array(
                [float(v) for v in joint.find("axis").attrib["xyz"].split()]
            )
            for joint in ET.fromstring(xml).findall("joint")
            if joint.attrib["name"] in WHAT
        }

    def frame(self, name: str) -> pin.SE3:
        """Pose of a link, or of a joint with its axis' origin."""
        return self.data.oMf[self.model.getFrameId(name)]

    def range_of(self, joint: str) -> str:
        """Its limits, to be read by people."""
        at = self.model.joints[self.model.getJointId(joint)].idx_q
        low, high = self.model.lowerPositionLimit[at], self.model.upperPositionLimit[at]
        if joint == "axis_a":
            return f"{low * 1000:.0f} to {high * 1000:.0f} mm"
        return f"{low:.0f} to {high:.1f} rad"


def named_pose(name: str) -> dict[str, float]:
    """Joint positions of a group state of the SRDF."""
    srdf = ET.fromstring(xacro.process_file(str(DESCRIPTION / "srdf/drone.srdf.xacro")).toxml())
    state = next(s for s in srdf.iter("group_state") if s.attrib["name"] == name)
    return {j.attrib["name"]: float(j.attrib["value"]) for j in state.iter("joint")}


class Picture:
    """Lettering over a rendered panel, in world coordinates."""

    def __init__(self, axes: Axes, arm: Arm, camera: Camera) -> None:
        """Letter `axes`, which show `arm` as `camera` sees it."""
        self.axes, self.arm, self.camera = axes, arm, camera
        self.halo = [patheffects.withStroke(linewidth=3.0, foreground="white", alpha=0.85)]

    def title(self, text: str) -> None:
        """Name of the posture, and its joint positions below."""
        self.axes.text(40, 56, text, color=INK, fontsize=24, weight="bold", va="center")
        positions = "   ".join(
            f"{name[-1].upper()} {q:.2f}" for name, q in named_pose(text).items()
        )
        self.axes.text(41, 92, f"{positions}  rad", color=INK, fontsize=12, va="center")

    def scale_bar(self, length: float) -> None:
        """A bar of so many metres, across the line of sight."""
        right = self.camera.width - 50
        left = right - length * self.camera.scale
        y = self.camera.height - 60
        self.axes.plot([left, right], [y, y], color=INK, lw=2.5, solid_capstyle="butt")
        self.axes.text((left + right) / 2, y - 18, f"{length * 1000:.0f} mm", color=INK,
                       fontsize=12, ha="center", va="center")  # fmt: skip

    def line(self, points: Array, **style: object) -> None:
        """A line through points (N, 3)."""
        self.axes.plot(*np.array([self.camera.project(p) for p in points]).T, **style)

    def arrow(self, start: Array, end: Array, colour: str, width: float) -> None:
        """An arrow between two points."""
        self.axes.annotate(
            "", self.camera.project(end), self.camera.project(start),
            arrowprops={"arrowstyle": "-|>,head_width=0.22,head_length=0.45", "color": colour,
                        "lw": width, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip

    def triad(self, link: str, size: float, title: str = "", shift: tuple = (0, 0)) -> None:
        """The axes of a link's frame: x red, y green, z blue."""
        pose = self.arm.frame(link)
        for axis, colour in enumerate(AXIS_COLOURS):
            self.arrow(
                pose.translation, pose.translation + size * pose.rotation[:, axis], colour, 2.0
            )
        if title:
            x, y = self.camera.project(pose.translation) + shift
            self.axes.text(x, y, title, color=INK, fontsize=12, ha="center", va="center",
                           family="DejaVu Sans Mono", path_effects=self.halo)  # fmt: skip

    def joint(self, name: str, reach: tuple[float, float], label: tuple[float, float]) -> None:
        """A joint's axis as a dash-dot line, its positive sense as an arrow, and its label.

        Args:
            name: of the joint.
            reach: ends of the line along the axis, from the joint's origin [m].
            label: place of the label from the line's positive end [px].
        """
        pose = self.arm.frame(name)
        axis = pose.rotation @ self.arm.axes[name]
        low, high = (pose.translation + end * axis for end in reach)
        self.line(np.array([low, high]), color=JOINT_COLOUR, lw=1.6, ls=(0, (7, 2, 1.5, 2)))
        if name == "axis_a":
            self.arrow(high, high + 0.022 * axis, JOINT_COLOUR, 2.6)
        else:
            self.turning_arrow(high, axis)
        x, y = self.camera.project(high) + label
        side = "left" if label[0] > 0 else "right"
        self.axes.plot(
            *np.array([self.camera.project(high), (x, y)]).T, color=INK, lw=0.7, alpha=0.5
        )
        gap = 7 if label[0] > 0 else -7
        self.axes.text(
            x + gap,
            y - 10,
            name,
            color=JOINT_COLOUR,
            fontsize=15,
            ha=side,
            va="center",
            weight="bold",
            family="DejaVu Sans Mono",
            path_effects=self.halo,
        )
        self.axes.text(x + gap, y + 12, f"{WHAT[name]}   {self.arm.range_of(name)}", color=INK,
                       fontsize=11.5, ha=side, va="center", path_effects=self.halo)  # fmt: skip

    def turning_arrow(self, centre: Array, axis: Array) -> None:
        """Three quarters of a circle about the axis, with a head in the positive sense."""
        across = unit(np.cross(axis, self.camera.axes[2]))
        other = np.cross(axis, across)
        angles = np.linspace(-0.2, 1.25 * math.pi, 40)
        ring = centre + 0.012 * (
            np.cos(angles)[:, None] * across + np.sin(angles)[:, None] * other
        )
        self.line(ring, color=JOINT_COLOUR, lw=2.4, solid_capstyle="round")
        self.arrow(ring[-2], ring[-1] + (ring[-1] - ring[-2]), JOINT_COLOUR, 2.4)


def panel(figure: Figure, left: int, arm: Arm, camera: Camera, passes: int) -> Picture:
    """Render an arm into the figure at a pixel column, and give its lettering."""
    width, height = figure.get_size_inches() * DPI
    axes = figure.add_axes((left / width, 0.0, camera.width / width, camera.height / height))
    solids = arm.solids
    floor = min(s.pose.translation[2] for s in solids) - 0.0195
    image = render(solids, camera, floor, passes)
    # Let the shadows fade out at the sides, so that the panels join without a seam.
    inside = np.minimum(np.arange(camera.width), np.arange(camera.width)[::-1]) / 90.0
    fade = np.clip(inside, 0.0, 1.0)[None, :, None]
    axes.imshow(fade * image + (1.0 - fade) * image[0, 0], interpolation="none", aspect="auto")
    axes.set(xlim=(-0.5, camera.width - 0.5), ylim=(camera.height - 0.5, -0.5))
    axes.axis("off")
    return Picture(axes, arm, camera)


def draw(output: Path, passes: int) -> None:
    """Draw both panels and write the picture."""
    figure = Figure(figsize=(18.24, 9.60), dpi=DPI)
    deployed = Arm({**named_pose("deployed"), "axis_a": 0.006, "axis_b": 0.5})
    stowed = Arm(named_pose("stowed"))
    azimuth, elevation = math.radians(-62), math.radians(20)

    camera = Camera(np.array([0.060, 0.0, 0.125]), azimuth, elevation, 1120, 960, 2500.0)
    picture = panel(figure, 0, deployed, camera, passes)
    picture.title("deployed")
    picture.triad("arm_base", 0.040, "arm_base", (92, 62))
    picture.triad("tool", 0.030, "tool", (88, 8))
    picture.joint("axis_e", (-0.045, 0.105), (-70, -40))
    picture.joint("axis_d", (-0.045, 0.055), (-55, -105))
    picture.joint("axis_c", (-0.055, 0.095), (48, 30))
    picture.joint("axis_b", (-0.010, 0.075), (65, 35))
    picture.joint("axis_a", (0.0, 0.062), (70, -30))

    camera = Camera(np.array([-0.07, 0.0, 0.06]), azimuth, elevation, 704, 960, 2500.0)
    picture = panel(figure, 1120, stowed, camera, passes)
    picture.title("stowed")
    picture.scale_bar(0.1)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=DPI)


def main() -> int:
    """Draw the picture; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, help="default: docs/images/arm.png")
    parser.add_argument("--passes", type=int, default=32, help="quality; default: %(default)s")
    options = parser.parse_args()
    draw(options.output, options.passes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
