"""Every parameter of the teleop node."""

from __future__ import annotations

from reach_alpha5_common.freshness import MAX_STAMP_AGE
from reach_alpha5_common.parameters import Parameter

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "profile",
        "xbox_game_controller",
        "Pad profile: the name of one that is installed, or the path of a YAML file; `auto`: it "
        "is found out, whenever a pad comes in, which must be at rest then.",
    ),
    Parameter(
        "source",
        "teleop",
        "Our name among the arbiter's `sources`; commands go to `<source>/gripper_ctrl`, "
        "heartbeats to `<source>/heartbeat`.",
    ),
    Parameter(
        "joy_ttl",
        0.5,
        "Silence of the pad beyond this is absence, the same as an unplugged pad. The joy node's "
        "`autorepeat_rate` must be well above its inverse.",
        unit="s",
        range=(0.1, 2.0),
    ),
    Parameter(
        "command_lifetime",
        0.5,
        "A motion command ends by itself after this, should teleop die; it must outlast the gap "
        "between two frames of the pad.",
        unit="s",
        range=(0.1, 2.0),
    ),
    Parameter(
        "heartbeat_period",
        0.1,
        "Time between two heartbeats.",
        unit="s",
        range=(0.02, 0.5),
    ),
    Parameter(
        "estop_level",
        "cut",
        "Level of the e-stop that the button asks for, as `EStop.msg` tells them; each stops at "
        "once.",
        choices=("cut", "settle_then_cut"),
    ),
    Parameter(
        "rumble",
        0.5,
        "How strongly the pad rumbles when the arm is held back, the lease is lost in mid-motion "
        "or a latch sets; 0 = never.",
        range=(0.0, 1.0),
    ),
    MAX_STAMP_AGE,
)
