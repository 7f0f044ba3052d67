"""What the tests of motion share: the arm of the real description, and an arm that obeys late."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xacro
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from reach_alpha5_motion.keep_out import ApproachLimit
from reach_alpha5_motion.model import ArmModel, FloatArray

TICK = 0.01
LATENCY_TICKS = 3

SIBLING = Path(__file__).resolve().parents[2] / "reach_alpha5_description"


def description_folder() -> Path:
    """The installed description, else its source beside this package."""
    try:
        return Path(get_package_share_directory("reach_alpha5_description"))
    except PackageNotFoundError:
        return SIBLING


@cache
def urdf_of(mount: str, prefix: str) -> str:
    file = description_folder() / "urdf" / "drone.urdf.xacro"
    arguments = {"mount_rpy": mount, "prefix": prefix}
    return str(xacro.process_file(str(file), mappings=arguments).toxml())


class LateArm:
    """An ideal arm that carries out each rate 30 ms after it was computed, in 10 ms ticks."""

    def __init__(self, q: FloatArray, noise: float = 0.0, seed: int = 0) -> None:
        self.q = np.array(q, dtype=float)
        self._noise = noise
        self._rng = np.random.default_rng(seed)
        self._queue = deque([np.zeros(5)] * LATENCY_TICKS)

    def measured(self) -> FloatArray:
        return self.q + self._noise * self._rng.uniform(-1.0, 1.0, 5) * (1, 1, 1, 1, 0.01)

    def tick(self, rates: FloatArray) -> None:
        self._queue.append(rates)
        self.q = self.q + TICK * self._queue.popleft()

    @property
    def is_still(self) -> bool:
        return not any(rates.any() for rates in self._queue)


class ObedientArm:
    """An arm that does exactly what it is told, a constant time late."""

    def __init__(self, q: FloatArray, latency: float) -> None:
        self.q = np.array(q, dtype=float)
        self._latency = latency
        self._rates = np.zeros(5)
        self._queue: deque[tuple[float, FloatArray]] = deque()

    def send(self, rates: FloatArray, now: float) -> None:
        self._queue.append((now + self._latency, rates))

    def advance(self, now: float, until: float) -> None:
        while self._queue and self._queue[0][0] <= until:
            at, rates = self._queue.popleft()
            self.q = self.q + self._rates * (at - now)
            now, self._rates = at, rates
        self.q = self.q + self._rates * (until - now)


class TipWall:
    """A plane that the tip must stay in front of, by `inner` [m]."""

    SLOW, GAIN = 0.08, 4.0

    def __init__(self, arm: ArmModel, normal: FloatArray, place: FloatArray, inner: float) -> None:
        self._arm, self._normal, self._place = arm, np.asarray(normal, dtype=float), place
        self._inner = inner

    def distance(self, q: FloatArray) -> float:
        return float(self._normal @ (self._arm.tip(q) - self._place))

    def constraints(self, q: Sequence[float]) -> Sequence[ApproachLimit]:
        distance = self.distance(np.array(q))
        if distance > self.SLOW:
            return ()
        e, d, c = (-self._normal @ self._arm.jacobian(q)).tolist()
        rate = self.GAIN * max(0.0, distance - self._inner)
        return (ApproachLimit((e, d, c, 0.0, 0.0), rate, distance, "tool wall"),)


@pytest.fixture(scope="session")
def urdf() -> Callable[..., str]:
    """Expand the drone's description with a mount (rpy, rad) and a prefix."""

    def expand(mount: str = "0 0 0", prefix: str = "") -> str:
        return urdf_of(mount, prefix)

    return expand


@pytest.fixture(scope="session")
def arm_on(urdf: Callable[..., str]) -> Callable[..., ArmModel]:
    """Build the arm on a mount (rpy, rad)."""

    @cache
    def build(mount: str = "0 0 0", prefix: str = "") -> ArmModel:
        return ArmModel.from_urdf(urdf(mount, prefix), prefix)

    return build


@pytest.fixture(scope="session")
def arm(arm_on: Callable[..., ArmModel]) -> ArmModel:
    """The arm on its default mount."""
    return arm_on()


@pytest.fixture(scope="session")
def late_arm() -> type[LateArm]:
    return LateArm


@pytest.fixture(scope="session")
def obedient_arm() -> type[ObedientArm]:
    return ObedientArm


@pytest.fixture(scope="session")
def tip_wall() -> type[TipWall]:
    return TipWall


@pytest.fixture(scope="session")
def golden_file() -> Path:
    """Tip positions in the arm's base frame, a data file of the description's tests."""
    return SIBLING / "test" / "kinematics_golden.json"
