"""The scene: from states to shapes, without ROS, threads or clock.

Read in this order: `shapes` (what can be drawn), `states` (what it is drawn from), `scene` (what
stands at a moment), then what each namespace is made by: `obstacles`, `workspace`, `trail`,
`direction`, `blocked`, `words`.
"""
