"""A recorder of dives for machines without rosbag2: `alpha5-record`."""

COMPLETE, MISSING, USAGE = 0, 1, 2
"""Exit status of `alpha5-record`: all is in the bag, messages are missing, nothing is recorded."""
