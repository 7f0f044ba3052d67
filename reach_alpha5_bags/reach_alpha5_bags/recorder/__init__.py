"""A recorder of dives for machines without rosbag2: `alpha5-record`."""
