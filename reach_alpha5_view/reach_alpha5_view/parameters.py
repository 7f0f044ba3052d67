"""Every parameter of the marker node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reach_alpha5_common.parameters import Parameter, ParameterError
from reach_alpha5_view.scene.config import SceneConfig

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "robot_description",
        "",
        "The expanded URDF of the drone with the arm. Empty: it is taken from the topic "
        "`robot_description`.",
    ),
    Parameter("prefix", "", "Prefix of the arm's joint and link names in the description."),
    Parameter(
        "stale_after",
        1.0,
        "Silence after which what a node said last is shown as stale, and no longer as so.",
        unit="s",
        range=(0.3, 10.0),
    ),
    Parameter(
        "moving_rate",
        10.0,
        "How often is drawn what moves with the arm, what is asked of it and what blocks it.",
        unit="Hz",
        range=(1.0, 20.0),
    ),
    Parameter(
        "words_rate",
        2.0,
        "How often the overlay and the trail are drawn; not more often than what moves.",
        unit="Hz",
        range=(0.5, 5.0),
    ),
    Parameter(
        "standing_period",
        2.0,
        "Time between two pictures of obstacles and workspace; a change is shown at once.",
        unit="s",
        range=(0.5, 10.0),
    ),
    Parameter(
        "trail_duration", 60.0, "How far the trail of the tip goes back.", "s", (1.0, 3600.0)
    ),
    Parameter("trail_points", 300, "Places of which the trail consists at most.", "", (2, 2000)),
    Parameter(
        "trail_spacing",
        0.003,
        "Way of the tip between two places of its trail.",
        unit="m",
        range=(0.0005, 0.1),
    ),
    Parameter(
        "arrow_length",
        0.15,
        "Length of the arrow for an input at full deflection.",
        unit="m",
        range=(0.02, 1.0),
    ),
    Parameter(
        "arrow_time",
        1.0,
        "The arrow of a velocity in m/s is the way that the tip goes in this time.",
        unit="s",
        range=(0.1, 10.0),
    ),
    Parameter(
        "clearance_shown",
        0.06,
        "What is nearest to what is shown when it is nearer than this. The driver's default "
        "`clearance_outer`.",
        unit="m",
        range=(0.0, 1.0),
    ),
    Parameter(
        "plane_size",
        1.0,
        "Side of the square that stands for an obstacle of the type PLANE, which has no end.",
        unit="m",
        range=(0.1, 100.0),
    ),
    Parameter("text_height", 0.018, "Height of a letter.", unit="m", range=(0.005, 0.2)),
    Parameter(
        "text_position",
        [0.18, 0.0, 0.42],
        "Where the middle of the overlay is on `base_link`: x, y, z.",
        unit="m",
        range=(-10.0, 10.0),
    ),
    Parameter(
        "mesh_folder",
        "",
        "Folder of mesh files that obstacles name by a relative path. Empty: these are not drawn.",
    ),
)


def config_from(values: Mapping[str, Any]) -> SceneConfig:
    """Return the scene's configuration.

    Raises:
        ParameterError: `text_position` is no place.
    """
    place = tuple(values["text_position"])
    if len(place) != 3:
        raise ParameterError(f"text_position has {len(place)} numbers; it must have 3: x, y, z")
    moving = 1.0 / values["moving_rate"]
    return SceneConfig(
        prefix=values["prefix"],
        stale_after=values["stale_after"],
        moving_period=moving,
        words_period=max(moving, 1.0 / values["words_rate"]),
        standing_period=values["standing_period"],
        trail_duration=values["trail_duration"],
        trail_points=values["trail_points"],
        trail_spacing=values["trail_spacing"],
        arrow_length=values["arrow_length"],
        arrow_time=values["arrow_time"],
        clearance_shown=values["clearance_shown"],
        plane_size=values["plane_size"],
        text_height=values["text_height"],
        text_position=place,
    )
