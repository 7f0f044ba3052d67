"""The text in which obstacles are saved and restored: YAML, SI units, with a version.

    version: 1
    obstacles:
      - name: hull
        frame: base_link
        position: [0.0, 0.0, 0.05]      # m
        orientation: [0.0, 0.0, 0.0]    # roll, pitch, yaw, rad
        box: {size: [0.6, 0.4, 0.25]}   # m
        allow: [link_e]

Exactly one shape each: `box: {size}`, `cylinder: {radius, length}`, `sphere: {radius}`,
`mesh: {file, scale}`, `plane: {}`. Position, orientation, allow and scale may be left out. What is
not understood is refused, with the entry and what to write instead: an obstacle that is silently
dropped is one that the arm drives into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import yaml

from reach_alpha5_motion.model import Vector
from reach_alpha5_motion.obstacles import (
    Box,
    Cylinder,
    Mesh,
    Obstacle,
    ObstacleError,
    Plane,
    Scene,
    Shape,
    Sphere,
    scene_problems,
)

VERSION = 1

_Reader = Callable[[Any], Any]


def parse(text: str) -> Scene:
    """Return the scene of a text.

    Raises:
        ObstacleError: the text is not one; every problem is told, one a line.
    """
    try:
        document = yaml.safe_load(text)
    # Beside errors of its own: a date that is none, a number of too many digits, a nesting that is
    # too deep.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ObstacleError(f"the obstacles are not valid YAML: {error}") from error
    if not isinstance(document, dict):
        raise ObstacleError("the obstacles must be a mapping with 'version' and 'obstacles'")
    version = document.get("version")
    if version != VERSION or isinstance(version, bool):
        raise ObstacleError(f"version is {version!r}; this reads version {VERSION}")
    entries = document.get("obstacles")
    unknown = [key for key in document if key not in ("version", "obstacles")]
    if unknown or not isinstance(entries, list):
        raise ObstacleError(
            f"unknown key {unknown[0]!r}; there are 'version' and 'obstacles'"
            if unknown
            else "'obstacles' must be a list; [] for none"
        )
    problems: list[tuple[int, str]] = []
    obstacles: dict[int, Obstacle] = {}
    for number, entry in enumerate(entries):
        try:
            obstacles[number] = _obstacle(entry)
        except ObstacleError as error:
            problems.append((number, str(error)))
    numbers, read = tuple(obstacles), tuple(obstacles.values())
    problems += [(numbers[index], problem) for index, problem in scene_problems(read)]
    if problems:
        problems.sort(key=lambda problem: problem[0])
        raise ObstacleError("\n".join(f"obstacles[{number}] {text}" for number, text in problems))
    return Scene(read)


def dump(scene: Scene) -> str:
    """Return the text of a scene; `parse` gives the same scene back, to the last bit."""
    entries = [_entry(obstacle) for obstacle in scene.obstacles]
    document = {"version": VERSION, "obstacles": entries}
    return str(yaml.safe_dump(document, sort_keys=False, default_flow_style=None))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        hint = "; YAML wants 1.0e-3 for 1e-3" if isinstance(value, str) else ""
        raise ObstacleError(f"is {value!r}; it must be a number{hint}")
    try:
        return float(value)
    except OverflowError:
        raise ObstacleError("is a whole number of too many digits") from None


def _vector(value: Any) -> Vector:
    if not isinstance(value, list) or len(value) != 3:
        raise ObstacleError(f"is {value!r}; it must be a list of three numbers")
    x, y, z = map(_number, value)
    return x, y, z


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ObstacleError(f"is {value!r}; it must be text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ObstacleError(f"is {value!r}; it must be a list of names")
    return tuple(map(_text, value))


_SHAPES: Mapping[str, tuple[Callable[..., Shape], Mapping[str, _Reader]]] = {
    Box.KIND: (Box, {"size": _vector}),
    Cylinder.KIND: (Cylinder, {"radius": _number, "length": _number}),
    Sphere.KIND: (Sphere, {"radius": _number}),
    Mesh.KIND: (Mesh, {"file": _text, "scale": _number}),
    Plane.KIND: (Plane, {}),
}
_KEYS: Mapping[str, _Reader] = {
    "name": _text,
    "frame": _text,
    "position": _vector,
    "orientation": _vector,
    "allow": _texts,
}
_OPTIONAL = ("position", "orientation", "allow", "scale")


def _obstacle(entry: Any) -> Obstacle:
    """Return the obstacle of an entry; an error begins with its name."""
    if not isinstance(entry, dict):
        raise ObstacleError(f"is {entry!r}; it must be a mapping with 'name', 'frame', a shape")
    given = entry.get("name")
    who = f"{given}: " if isinstance(given, str) else ""
    kinds = [key for key in entry if key in _SHAPES]
    if len(kinds) != 1:
        raise ObstacleError(f"{who}has {len(kinds)} shapes; give one of {', '.join(_SHAPES)}")
    try:
        place = _fields({k: v for k, v in entry.items() if k != kinds[0]}, _KEYS, "")
        build, readers = _SHAPES[kinds[0]]
        shape = build(**_fields(entry[kinds[0]], readers, f"{kinds[0]}."))
    except ObstacleError as error:
        raise ObstacleError(f"{who}{error}") from None
    return Obstacle(shape=shape, **place)


def _fields(mapping: Any, readers: Mapping[str, _Reader], where: str) -> dict[str, Any]:
    """Read the fields of a mapping; `where` is what stands before their names in an error."""
    if not isinstance(mapping, dict):
        raise ObstacleError(f"{where.rstrip('.')} is {mapping!r}; it must be a mapping")
    for key in mapping:
        if key not in readers:
            known = ", ".join(readers) or "none"
            raise ObstacleError(f"unknown key {where}{key}; there are: {known}")
    for key in readers:
        if key not in mapping and key not in _OPTIONAL:
            raise ObstacleError(f"{where}{key} is missing")
    read = {}
    for key, value in mapping.items():
        try:
            read[key] = readers[key](value)
        except ObstacleError as error:
            raise ObstacleError(f"{where}{key} {error}") from None
    return read


def _entry(obstacle: Obstacle) -> dict[str, Any]:
    shape = obstacle.shape
    _, readers = _SHAPES[shape.KIND]
    entry = {
        "name": obstacle.name,
        "frame": obstacle.frame,
        "position": list(obstacle.position),
        "orientation": list(obstacle.orientation),
        shape.KIND: {key: _plain(getattr(shape, key)) for key in readers},
    }
    if obstacle.allow:
        entry["allow"] = list(obstacle.allow)
    return entry


def _plain(value: float | str | Vector) -> float | str | list[float]:
    return list(value) if isinstance(value, tuple) else value
