"""Jaws that go on by themselves: the toggle button."""

from __future__ import annotations

CLOSE = -1.0


class JawsToggle:
    """Each press starts the jaws the other way, first they close; a further press ends it.

    One for each time that a pad comes in, so that the first press closes them with every pad.
    A start waits until the press counts, an end does not.
    """

    def __init__(self) -> None:
        self._next = CLOSE
        self._held = False
        self._spent = False
        self.velocity = 0.0
        """Normalised, plus opens; 0 = they do not run."""

    @property
    def spent(self) -> bool:
        """Whether the press that is on has ended a run, and so starts none."""
        return self._spent

    def step(self, held: bool, pressed: bool, may_start: bool) -> None:
        """Look at one frame.

        Args:
            held: it shows the button held.
            pressed: the press counts from this frame on.
            may_start: nothing forbids motion.
        """
        began, self._held = held and not self._held, held
        if not held:
            self._spent = False
        elif began and self.velocity:
            self.stop()
            self._spent = True
        if pressed and may_start and not self._spent:
            self.velocity, self._next = self._next, -self._next

    def stop(self) -> None:
        """End a run."""
        self.velocity = 0.0
