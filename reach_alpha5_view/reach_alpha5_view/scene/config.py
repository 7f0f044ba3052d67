"""What of the scene is a matter of taste, as values."""

from __future__ import annotations

from dataclasses import dataclass

LIFETIMES = 4.0
"""Periods that a shape stands without being drawn again. Ours: a machine that is busy may be late
with some, and what is dead shall not be seen for long."""


@dataclass(frozen=True, slots=True)
class SceneConfig:
    """Of one scene."""

    prefix: str = ""
    """Of the arm's links and joints in the description."""
    stale_after: float = 1.0
    """s without a state, after which what it said is not shown as if it were so."""
    moving_period: float = 0.1
    """s between two pictures of what moves."""
    words_period: float = 0.5
    """s between two pictures of texts and of the trail."""
    standing_period: float = 2.0
    """s between two pictures of what stands."""
    trail_duration: float = 60.0
    """s for which the trail goes back."""
    trail_points: int = 300
    trail_spacing: float = 0.003
    """m that the tip moves between two points of its trail."""
    arrow_length: float = 0.15
    """m: of what is commanded at full deflection."""
    arrow_time: float = 1.0
    """s: a velocity in m/s is drawn as the way that the tip goes in it."""
    clearance_shown: float = 0.06
    """m: nearer than this, what is nearest to what is shown."""
    plane_size: float = 1.0
    """m: side of the square that stands for a plane, which has no end."""
    text_height: float = 0.018
    """m."""
    text_position: tuple[float, float, float] = (0.18, 0.0, 0.42)
    """Of the overlay in `base_link` [m]."""
