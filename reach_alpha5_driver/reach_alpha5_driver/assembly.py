"""Builds the arm's model and the core from parameter values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_driver.belief import joint_bounds
from reach_alpha5_driver.configuration import (
    Values,
    collision_config,
    core_config,
    motion_config,
    stopping,
)
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.identity import JointRanges
from reach_alpha5_motion.bodies import ArmBodies
from reach_alpha5_motion.collision import Collision
from reach_alpha5_motion.generator import MotionGenerator
from reach_alpha5_motion.model import ArmModel, JointLimits, ModelError
from reach_alpha5_motion.obstacles import Scene
from reach_alpha5_motion.speed import MotionConfigError

NO_DESCRIPTION = (
    "robot_description is empty: pass the expanded URDF, for instance\n"
    '  driver_node --ros-args -p robot_description:="$(xacro drone.urdf.xacro)"\n'
    "or start the node through `ros2 launch reach_alpha5_bringup alpha5.launch.xml`"
)

NO_SEMANTICS = (
    "robot_description_semantic is empty: pass the expanded SRDF, for instance\n"
    '  -p robot_description_semantic:="$(xacro drone.srdf.xacro)"\n'
    "or set collision to false: then nothing keeps the arm from the drone or from itself"
)


def read_model(values: Values) -> ArmModel:
    """Build the arm's model from parameter values.

    Raises:
        ParameterError: there is no description, or it does not describe the arm.
    """
    if not values["robot_description"].strip():
        raise ParameterError(NO_DESCRIPTION)
    try:
        return ArmModel.from_urdf(values["robot_description"], values["prefix"])
    except ModelError as error:
        raise ParameterError(str(error)) from error


class Collisions(NamedTuple):
    """What the arm keeps clear of, once for each thread that looks at it."""

    control: Collision
    publishing: Collision


CollisionBuilder = Callable[[Scene, Mapping[str, bytes]], Collisions]
"""Puts the obstacles of a scene, with the content of its mesh files, beside the arm."""


def collision_builder(values: Values, limits: JointLimits) -> CollisionBuilder | None:
    """Return what builds collisions from parameter values; None: `collision` is off.

    Args:
        values: of the parameters.
        limits: of the arm's joints, in the description.

    Raises:
        ParameterError: there is no semantic description, or it does not fit, or the distances
            contradict each other, or the arm cannot stop within them.
    """
    if not values["collision"]:
        return None
    urdf, srdf, prefix = (
        values[name] for name in ("robot_description", "robot_description_semantic", "prefix")
    )
    if not srdf.strip():
        raise ParameterError(NO_SEMANTICS)
    config = collision_config(values)
    try:
        control, publishing = (ArmBodies(urdf, srdf, prefix) for _ in Collisions._fields)
    except ModelError as error:
        raise ParameterError(str(error)) from error

    stops = stopping(values, control, limits)

    def build(scene: Scene, meshes: Mapping[str, bytes]) -> Collisions:
        return Collisions(
            Collision(control, scene, config, meshes, stops),
            Collision(publishing, scene, config, meshes, stops),
        )

    return build


def make_core(values: Values, model: ArmModel) -> DriverCore:
    """Build the core from parameter values; it uses `model` alone from now on.

    Raises:
        ParameterError: the settings contradict each other, or do not fit the arm or the line.
    """
    limits = model.limits
    description = JointRanges(
        limits.lower.tolist(), limits.upper.tolist(), limits.velocity.tolist()
    )
    try:
        period = 1.0 / values["control_rate"]
        mover = MotionGenerator(model, motion_config(values), period=period)
    except MotionConfigError as error:
        raise ParameterError(str(error)) from error
    return DriverCore(
        core_config(values),
        joint_bounds(description.lower, description.upper, description.velocity),
        description,
        mover,
    )
