"""The colours of the scene. Red is what stops the arm, orange what holds it back."""

from __future__ import annotations

from reach_alpha5_view.scene.shapes import Colour

RED: Colour = (1.0, 0.22, 0.2, 1.0)
ORANGE: Colour = (1.0, 0.62, 0.1, 1.0)
YELLOW: Colour = (1.0, 0.9, 0.35, 1.0)
GREEN: Colour = (0.4, 0.95, 0.5, 1.0)
CYAN: Colour = (0.3, 0.85, 1.0, 1.0)
WHITE: Colour = (0.95, 0.95, 0.95, 1.0)
GREY: Colour = (0.6, 0.6, 0.6, 1.0)
SAND: Colour = (0.82, 0.72, 0.5, 1.0)


def faded(colour: Colour, opacity: float) -> Colour:
    """Return a colour through which one sees."""
    red, green, blue, _ = colour
    return red, green, blue, opacity
