"""Every event in every state of the core that can be reached keeps all invariants."""

from __future__ import annotations

import pytest
from arbiter_searches import SEARCHES


@pytest.mark.parametrize("name", SEARCHES)
def test_every_event_in_every_state_keeps_all_invariants(name: str) -> None:
    # A change of these numbers is a change of behaviour: look at it before they are written anew.
    assert SEARCHES[name].run() == SEARCHES[name].counts
