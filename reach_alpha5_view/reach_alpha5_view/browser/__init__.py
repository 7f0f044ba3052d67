"""The scene as a page in a browser, for machines without rviz. It only looks.

`arm_visual` and `page` are pure: the arm as shapes, and the panel as HTML. `drawing` hands shapes
to viser, `view_node` listens and draws, `cli` is the command `alpha5-view`.
"""
