"""What the arm does, and why it does not, for people to look at: in rviz and in a browser.

`scene` is pure: it turns states into shapes. `translate` and `feed` bring what the topics say to
it; `marker_node` publishes the shapes for rviz, `browser` shows them on a page. Nothing here
commands anything.
"""
