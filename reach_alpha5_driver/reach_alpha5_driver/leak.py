"""How much of the humidity inside a joint did not come from the air that was sealed in.

That air had a relative humidity h0 at a temperature T0. At another temperature T the same air has
h0 e(T0) / e(T), with the pressure of saturated vapour e(T) = 611.2 Pa exp(17.62 T / (243.12 + T)),
T in degC (Magnus formula with the coefficients of the WMO guide to instruments). What is measured
above that came in from outside. Where the factory climate is not known, and where desiccant has
made the air drier since, the slow trend of the same number is the reference.
"""

from __future__ import annotations

import math

SANE_TEMPERATURE = (-40.0, 85.0)
"""Of a factory climate [degC]; what is outside was never set."""


def vapour_pressure(temperature: float) -> float:
    """Return the pressure of saturated water vapour [Pa] at a temperature [degC]."""
    return 611.2 * math.exp(17.62 * temperature / (243.12 + temperature))


class LeakEstimate:
    """Follows the humidity of one joint."""

    def __init__(self, trend_rate: float) -> None:
        """Let the trend follow rising humidity at `trend_rate` [%/s]; it falls at once."""
        self._trend_rate = trend_rate
        self._vapour: float | None = None
        """Pressure of the vapour that was sealed in [Pa]."""
        self._trend = math.inf
        self._at = -math.inf

    def set_climate(self, temperature: float, humidity: float) -> None:
        """Note the factory climate [degC, %]; one that cannot be is as good as none."""
        low, high = SANE_TEMPERATURE
        sane = low <= temperature <= high and 0.0 < humidity <= 100.0
        vapour = vapour_pressure(temperature) * humidity / 100.0 if sane else None
        if vapour != self._vapour:
            self._vapour, self._trend = vapour, math.inf

    def amount(self, humidity: float, temperature: float, at: float) -> float | None:
        """Return the unexplained humidity [%], or None: it cannot be told without a temperature.

        Args:
            humidity: relative, as reported at the time `at` [s] [%].
            temperature: inside the joint [degC]; NaN = not known.
            at: monotonic time [s].
        """
        explained = 0.0
        if self._vapour is not None:
            if not math.isfinite(temperature):
                return None
            explained = min(100.0, 100.0 * self._vapour / vapour_pressure(temperature))
        excess = humidity - explained
        risen = self._trend + self._trend_rate * max(0.0, at - self._at)
        self._trend, self._at = min(excess, risen), at
        reference = self._trend if self._vapour is None else min(0.0, self._trend)
        return excess - reference
