"""What a request makes of the scene: another scene, or a refusal with a code.

A payload is what the jaws hold: an obstacle that is fixed to the tool or to a link of the jaws,
and that all links of the jaws may touch. Nothing else tells it from other obstacles, so that one
is still a payload after it was saved and restored.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import replace

from reach_alpha5_common.refusal import Problem
from reach_alpha5_motion.model import TOOL
from reach_alpha5_motion.obstacles import Obstacle, ObstacleError, Scene, jaws, payload

MOST_OBSTACLES = 32
"""Ours: all that are near are measured at each control tick."""

MOST_ALLOWED = 128
"""Names in an obstacle's `allow`. Ours: more than there are links and obstacles."""


class SceneCode(enum.Enum):
    """Why a change of the scene was refused, and what that means for people."""

    def __init__(self, code: str, meaning: str) -> None:
        self.code = code
        self.meaning = meaning

    NO_COLLISION = (
        "no_collision",
        "The parameter `collision` is off: the arm keeps clear of nothing.",
    )
    BAD_OBSTACLE = (
        "bad_obstacle",
        "A number, a name, the frame or the mesh is not in order, or the request is empty.",
    )
    NAME_TAKEN = (
        "name_taken",
        "There is an obstacle of this name: choose another, or set `replace`.",
    )
    NO_SUCH_OBSTACLE = ("no_such_obstacle", "There is no obstacle, or no payload, of this name.")
    NOT_A_PAYLOAD = (
        "not_a_payload",
        "The obstacle of this name is not what the jaws hold: `remove_obstacle` takes it away.",
    )
    SEVERAL_PAYLOADS = (
        "several_payloads",
        "The jaws hold more than one thing: say the name of one.",
    )
    TOO_MANY = ("too_many", "There would be more obstacles, or more names in one, than fit.")
    MESH_UNREADABLE = (
        "mesh_unreadable",
        "The file of a mesh is not there, too large, or not to be read.",
    )
    NOT_SAVED = (
        "not_saved",
        "The change cannot be written to `obstacle_file`, so it was not made at all.",
    )
    INTERNAL_ERROR = (
        "internal_error",
        "A fault in the driver, which goes on with what stood before. Please report it: where it "
        "is, is in the log.",
    )


class SceneError(ObstacleError):
    """A change that is refused; one reason a line."""

    def __init__(self, code: SceneCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def problem_of(error: ObstacleError) -> Problem:
    """Return the refusal of an error; what has no code of its own is a bad obstacle."""
    code = error.code if isinstance(error, SceneError) else SceneCode.BAD_OBSTACLE
    return Problem(code.code, str(error))


def check_number(number: int) -> None:
    """Check that so many obstacles can be watched, before they are looked at one by one.

    Raises:
        SceneError: they are too many.
    """
    if number > MOST_OBSTACLES:
        raise SceneError(
            SceneCode.TOO_MANY,
            f"{number} obstacles; there is room for {MOST_OBSTACLES}: put a larger one around "
            "several small ones",
        )


def check_size(scene: Scene) -> None:
    """Check that a scene is no larger than the driver can watch.

    Raises:
        SceneError: it is.
    """
    check_number(len(scene.obstacles))
    large = [o.name for o in scene.obstacles if len(o.allow) > MOST_ALLOWED]
    if large:
        raise SceneError(
            SceneCode.TOO_MANY,
            f"{', '.join(large)}: more than {MOST_ALLOWED} names in allow",
        )


def added(scene: Scene, obstacles: Sequence[Obstacle], replaces: bool) -> Scene:
    """Return the scene with all of these obstacles.

    Args:
        scene: the one that stands.
        obstacles: the new ones.
        replaces: whether one whose name is taken stands in for the other, at its place.

    Raises:
        ObstacleError: one of them is not in order; then none is added.
    """
    if not obstacles:
        raise ObstacleError("the request has no obstacles")
    there = {obstacle.name for obstacle in scene.obstacles}
    taken = [obstacle.name for obstacle in obstacles if obstacle.name in there]
    if taken and not replaces:
        raise SceneError(
            SceneCode.NAME_TAKEN,
            f"{', '.join(taken)}: there is another obstacle of this name; set replace, or choose "
            "another name",
        )
    new = {obstacle.name: obstacle for obstacle in Scene(tuple(obstacles)).obstacles}
    kept = [new.pop(obstacle.name, obstacle) for obstacle in scene.obstacles]
    return _checked((*kept, *new.values()))


def removed(scene: Scene, name: str) -> Scene:
    """Return the scene without an obstacle; nobody may touch what is not there any more.

    Raises:
        SceneError: there is none of this name.
    """
    gone = _find(scene, name)
    return _checked(
        tuple(
            replace(obstacle, allow=tuple(other for other in obstacle.allow if other != name))
            for obstacle in scene.obstacles
            if obstacle is not gone
        )
    )


def attached(scene: Scene, held: Obstacle, prefix: str) -> Scene:
    """Return the scene with what the jaws hold.

    Args:
        scene: the one that stands.
        held: its frame may be empty: then it is fixed to the tool.
        prefix: of the arm's links.

    Raises:
        ObstacleError: it is not in order, or its frame is no part of the jaws.
    """
    frames = _payload_frames(prefix)
    if held.frame and held.frame not in frames:
        raise ObstacleError(
            f"{held.name}: frame is {held.frame!r}; the jaws hold what is fixed to "
            f"{', '.join(frames)}: for a part of another link use add_obstacles"
        )
    taken = payload(
        held.name,
        held.shape,
        held.position,
        held.orientation,
        prefix,
        frame=held.frame,
        allow=held.allow,
    )
    return added(scene, [taken], False)


def detached(scene: Scene, name: str, prefix: str) -> Scene:
    """Return the scene without what the jaws have let go of.

    Args:
        scene: the one that stands.
        name: of the payload; empty: the only one there is.
        prefix: of the arm's links.

    Raises:
        SceneError: there is none, or more than one, or it is no payload.
    """
    held = [obstacle.name for obstacle in scene.obstacles if _is_payload(obstacle, prefix)]
    if not name and not held:
        raise SceneError(SceneCode.NO_SUCH_OBSTACLE, "the jaws hold nothing")
    if not name and len(held) > 1:
        raise SceneError(
            SceneCode.SEVERAL_PAYLOADS, f"the jaws hold {', '.join(held)}; name one of them"
        )
    name = name or held[0]
    if _find(scene, name).name not in held:
        raise SceneError(
            SceneCode.NOT_A_PAYLOAD,
            f"{name} is not held by the jaws; use remove_obstacle to take it away",
        )
    return removed(scene, name)


def _payload_frames(prefix: str) -> tuple[str, ...]:
    return (prefix + TOOL, *jaws(prefix))


def _is_payload(obstacle: Obstacle, prefix: str) -> bool:
    return obstacle.frame in _payload_frames(prefix) and set(jaws(prefix)) <= set(obstacle.allow)


def _find(scene: Scene, name: str) -> Obstacle:
    try:
        return scene[name]
    except ObstacleError as error:
        raise SceneError(SceneCode.NO_SUCH_OBSTACLE, str(error)) from error


def _checked(obstacles: tuple[Obstacle, ...]) -> Scene:
    scene = Scene(obstacles)
    check_size(scene)
    return scene
