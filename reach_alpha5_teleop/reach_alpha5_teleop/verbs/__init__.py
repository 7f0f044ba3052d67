"""The second face of teleop: stamped twists and verbs, for tools that know no arm (D8)."""
