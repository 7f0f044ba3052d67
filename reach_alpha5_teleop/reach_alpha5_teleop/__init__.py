"""A pilot's gamepad as a source of commands.

Read the pure modules in this order: `axes` (one axis), `profile` (what a pad looks like), `pad`
(which frames are believed), `mapping` (what the controls ask for), `core` (when that may be said).
`node` is the ROS shell around `core`.
"""
