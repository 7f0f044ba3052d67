"""Drives for the tests of the driver's node: see `driver_node_rig`.

It needs ROS, which most tests here do not: so it is imported when a drive is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from driver_node_rig import Drive


@pytest.fixture(scope="module")
def shared_drive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drive]:
    """One drive for the tests of a module that leave it whole."""
    from driver_node_rig import drive_in

    with drive_in(tmp_path_factory.mktemp("drive")) as made:
        made.start()
        yield made


@pytest.fixture
def drive(shared_drive: Drive) -> Drive:
    """The shared drive, at rest with nothing latched."""
    shared_drive.settle()
    return shared_drive


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Drive]:
    """A drive of its own; nothing of it runs yet."""
    from driver_node_rig import drive_in

    with drive_in(tmp_path) as made:
        yield made
