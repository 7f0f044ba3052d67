"""A check of one's own for joint targets: a function that the user names and that may object.

It is asked before the core is: what it says goes into the event, so that the same events give the
same decisions wherever they are taken again.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable

from reach_alpha5_arbiter.codes import RefusalCode
from reach_alpha5_arbiter.latches import MAX_TEXT
from reach_alpha5_arbiter.trajectory import Goal
from reach_alpha5_common.command import JointCommand
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_common.refusal import Problem

Function = Callable[[tuple[str, ...], tuple[float, ...]], str]
"""Joint names and positions [rad, m] to why it objects; empty = it does not."""


class TargetCheck:
    """The check, or none."""

    def __init__(self, function: Function | None) -> None:
        self._function = function

    @classmethod
    def named(cls, name: str) -> TargetCheck:
        """Return the check `module:function`; empty = none.

        Raises:
            ParameterError: there is no such thing, or it cannot be called.
        """
        if not name:
            return cls(None)
        try:
            function = pkgutil.resolve_name(name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ParameterError(
                f"target_check is {name!r}, and that cannot be had ({error}); give module:function"
            ) from error
        if not callable(function):
            raise ParameterError(f"target_check is {name!r}, and that is no function")
        return cls(function)

    def of_command(self, command: JointCommand) -> Problem | None:
        """Return what stands against a set-point that is well formed."""
        if command.problem() is not None:
            return None
        return self._ask(command.joint_names, command.positions)

    def of_goal(self, goal: Goal) -> Problem | None:
        """Return what stands against the first point of a goal that something stands against."""
        asked = (self._ask(goal.joint_names, point.positions) for point in goal.points)
        return next((problem for problem in asked if problem is not None), None)

    def _ask(self, names: tuple[str, ...], positions: tuple[float, ...]) -> Problem | None:
        if self._function is None:
            return None
        try:
            why = str(self._function(names, positions) or "")[:MAX_TEXT]
        except Exception as error:  # a check that fails has not agreed
            why = f"the check failed: {type(error).__name__}: {error}"[:MAX_TEXT]
        return RefusalCode.TARGET_REFUSED.problem(why) if why else None
