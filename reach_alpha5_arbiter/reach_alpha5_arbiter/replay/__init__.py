"""The arbiter's decisions taken again from a recorded bag: `alpha5-replay`."""
