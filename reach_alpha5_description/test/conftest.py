"""What all tests of the description share: paths, expansion, and a posed arm."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import xacro

PACKAGE = Path(__file__).resolve().parents[1]

Expand = Callable[..., str]


class PosedArm:
    """A URDF loaded by pinocchio and put into one posture.

    The push rod's mimic fingers follow it, so that a posture has one entry per axis of the arm.
    """

    def __init__(self, xml: str, prefix: str = "") -> None:
        self.prefix = prefix
        self.model = pin.buildModelFromXML(xml, mimic=True)
        self.data = self.model.createData()
        self.pose_at({})

    def pose_at(self, positions: dict[str, float]) -> None:
        """Put the named axes (without prefix) at rad or m, all others at 0."""
        q = np.zeros(self.model.nq)
        for name, value in positions.items():
            q[self.model.joints[self.model.getJointId(self.prefix + name)].idx_q] = value
        self.q = q
        pin.framesForwardKinematics(self.model, self.data, q)

    def frame(self, link: str) -> pin.SE3:
        """Pose of a link (name without prefix) in the root frame."""
        name = link if link.startswith("base_link") else self.prefix + link
        assert self.model.existFrame(name), f"no frame {name}"
        return self.data.oMf[self.model.getFrameId(name)]

    def in_arm_base(self, link: str) -> pin.SE3:
        """Pose of a link in the arm's base frame."""
        return self.frame("arm_base").inverse() * self.frame(link)


@pytest.fixture(scope="session")
def package() -> Path:
    """The source folder of the package."""
    return PACKAGE


@pytest.fixture(scope="session")
def expand() -> Expand:
    """Expand a xacro file of the package with the library; arguments as keywords."""

    def run(file: str = "urdf/drone.urdf.xacro", **arguments: str) -> str:
        return xacro.process_file(str(PACKAGE / file), mappings=arguments).toxml()

    return run


@pytest.fixture(scope="session")
def urdf(expand: Expand) -> str:
    """The drone's URDF with all defaults."""
    return expand()


@pytest.fixture(scope="session")
def posed_arm() -> type[PosedArm]:
    """The class that poses a URDF."""
    return PosedArm
