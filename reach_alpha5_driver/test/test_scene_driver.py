"""Obstacles of the driver's node, judged by the true posture of the simulated arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest
from arm_description import PREFIX
from driver_node_rig import Drive, description, drive_in
from geometry_msgs.msg import Point, Pose
from rclpy.qos import DurabilityPolicy, QoSProfile
from scene_rig import NO_OBSTACLES

from reach_alpha5_common.command import ArmInput, Cartesian, GripperCommand
from reach_alpha5_msgs.msg import Obstacle, Obstacles
from reach_alpha5_msgs.srv import AddObstacles, AttachPayload, RemoveObstacle

INNER = 0.010
"""m: the driver's default of `clearance_inner`."""

STEP = 0.0003
"""m: what is driven past it at most, because a tick is a straight step in joint space."""

SIZE = (0.02, 0.6, 0.6)
WALL = Obstacle(
    name="wall",
    frame_id="base_link",
    pose=Pose(position=Point(x=0.46, y=0.0, z=-0.1)),
    type=Obstacle.BOX,
    dimensions=list(SIZE),
)
"""Before the jaws, 9 cm away from the tip."""

STONE = Obstacle(
    name="stone",
    pose=Pose(position=Point(z=0.03)),
    type=Obstacle.SPHERE,
    dimensions=[0.02],
)
"""In the jaws: nearer to the wall than any part of the arm."""

FORWARD = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=1.0))
BACK = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=-1.0))
MISPLACED = """\
version: 1
obstacles:
  - {name: hull, frame: moon, sphere: {radius: 0.5}}
  - {name: rack, frame: base_link, sphere: {radius: 0.1}, allow: [nobody]}
"""
LATEST = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Truth:
    """How far the simulated arm is from the wall, by the description and nothing of the driver."""

    def __init__(self, drive: Drive) -> None:
        self.drive = drive
        text = description()["robot_description"]
        self.model = pin.buildModelFromXML(text)
        self.shapes = pin.buildGeomFromUrdfString(self.model, text, pin.GeometryType.COLLISION)
        self.data = self.model.createData()

    def take(self, payload: Obstacle) -> None:
        """Count what the jaws hold as a shape of the arm."""
        tool = self.model.getFrameId(f"{PREFIX}tool")
        frame = self.model.frames[tool]
        offset = pin.SE3(np.eye(3), np.array((0.0, 0.0, payload.pose.position.z)))
        ball = coal.Sphere(payload.dimensions[0])
        self.shapes.addGeometryObject(
            pin.GeometryObject(
                payload.name, frame.parentJoint, tool, frame.placement * offset, ball
            )
        )

    def distance(self) -> float:
        """Return the least distance [m] of any shape from the wall."""
        joints = self.drive.sim.state()["joints"]
        q = pin.neutral(self.model)
        for axis, joint in joints.items():
            q[self.model.joints[self.model.getJointId(f"{PREFIX}axis_{axis}")].idx_q] = joint[
                "position"
            ]
        for finger in ("finger_left", "finger_right"):
            index = self.model.joints[self.model.getJointId(f"{PREFIX}{finger}_joint")].idx_q
            q[index] = 51.0 * joints["a"]["position"]
        places = self.shapes.createData()
        pin.updateGeometryPlacements(self.model, self.data, self.shapes, places, q)
        p, wall = WALL.pose.position, coal.Box(*SIZE)
        at = coal.Transform3s(np.eye(3), np.array((p.x, p.y, p.z)))
        return min(
            coal.distance(
                shape.geometry,
                coal.Transform3s(place.rotation, place.translation),
                wall,
                at,
                coal.DistanceRequest(),
                coal.DistanceResult(),
            )
            for shape, place in zip(self.shapes.geometryObjects, places.oMg, strict=True)
        )

    def kept(self, condition: Callable[[], object]) -> Callable[[], bool]:
        """Return the condition; the arm must be clear of the wall whenever it is asked for."""

        def still() -> bool:
            assert self.distance() >= INNER - STEP
            return bool(condition())

        return still


@pytest.fixture(scope="module")
def walled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drive]:
    file = tmp_path_factory.mktemp("walled") / "obstacles.yaml"
    file.write_text(NO_OBSTACLES)
    with drive_in(file.parent, obstacle_file=str(file)) as made:
        made.start()
        made.settle()
        yield made


def test_C9_an_obstacle_stops_the_arm_outlives_the_driver_and_goes(walled):
    drive, operator, truth = walled, walled.operator, Truth(walled)
    told: list[Obstacles] = []
    operator.node.create_subscription(Obstacles, "obstacles", told.append, LATEST)

    def is_held() -> bool:
        state = operator.arm_state
        return (
            state.collision
            and state.collision_pair.endswith(" wall")
            and state.clearance < INNER + 0.001
            and f"collision {state.collision_pair}" in state.blocked_by
        )

    def drive_into_the_wall() -> None:
        """Push until the wall holds the arm, and on."""
        operator.push(FORWARD, truth.kept(is_held))
        pressed = operator.heard_since(20)
        operator.push(FORWARD, truth.kept(lambda: pressed() and is_held()))

    # It comes while the arm moves towards where it will be.
    assert truth.distance() > 0.05
    client = operator.node.create_client(AddObstacles, "add_obstacles")
    operator.until(client.service_is_ready)
    operator.push(FORWARD, drive.moving)
    added = client.call_async(AddObstacles.Request(obstacles=[WALL]))
    operator.hold(FORWARD, added.done)
    assert added.result().success, added.result()
    drive_into_the_wall()
    assert operator.arm_state.clearance == pytest.approx(truth.distance(), abs=0.001)
    assert operator.tel.gripper.collision

    # Away from it nothing holds the arm.
    operator.push(BACK, lambda: truth.distance() > INNER + 0.03)
    assert not operator.arm_state.collision
    drive.settle()

    # After a restart it is there again, and so is what the jaws have taken up meanwhile.
    request = AttachPayload.Request(payload=STONE)
    assert operator.ask(AttachPayload, "attach_payload", request).success
    assert drive.end() == 0
    told.clear()
    drive.start_driver()
    operator.until(lambda: told)
    assert [obstacle.name for obstacle in told[0].obstacles] == ["wall", "stone"]
    assert told[0].saved
    drive.settle()
    truth.take(STONE)
    drive_into_the_wall()
    assert operator.arm_state.collision_pair == "stone wall"

    # Without it the arm goes on, to where it was not let.
    answer = operator.ask(RemoveObstacle, "remove_obstacle", RemoveObstacle.Request(name="wall"))
    assert answer.success
    operator.push(FORWARD, lambda: truth.distance() < INNER - 0.005)
    assert not operator.arm_state.collision


def test_the_driver_does_not_start_with_obstacles_that_it_cannot_use(fresh):
    file: Path = fresh.folder / "obstacles.yaml"
    file.write_text(MISPLACED)
    fresh.parameters["obstacle_file"] = str(file)
    fresh.start_driver()
    assert fresh.process.wait(60.0) == 2
    said = fresh.said()
    assert all(text in said for text in (str(file), "frame is 'moon'", "allow names nobody")), said
    assert file.read_text() == MISPLACED
