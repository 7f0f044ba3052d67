"""A player of bags that moves no arm: `alpha5-play`."""
