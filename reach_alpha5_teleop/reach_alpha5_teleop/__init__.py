"""A pilot's gamepad as a source of commands.

Read the pure modules in this order: `axes` (one axis; `rest`, where it rests, `glitch`, what of
it is believed), `profile` (what a pad looks like), `pad` (which frames are believed), `mapping`
(what the controls ask for), `core` (when that may be said; `outputs`, what it says). Beside them
are `jaws`, `estop` and `feedback`, one idea each, and `auto`, for a pad that is found out.
`node` is the ROS shell around `core`.
"""
