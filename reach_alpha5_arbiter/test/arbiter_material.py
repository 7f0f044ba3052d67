"""What a random walk is made of: settings, commands and reports, good ones and bad ones."""

from __future__ import annotations

from dataclasses import replace

from arbiter_bench import (
    APP,
    BOT,
    DAY,
    FORWARD,
    HOUR,
    JAWS_ONLY,
    JOINTS,
    NONSENSE,
    PAD,
    POSE,
    RIGHT,
    TWIST,
    TWIST_HELD,
    WALL,
    report,
)

from reach_alpha5_arbiter.config import ArbiterConfig, SourceConfig
from reach_alpha5_arbiter.driver import ArmCondition
from reach_alpha5_arbiter.endpoint import EndpointConfig
from reach_alpha5_arbiter.machine import ARM_STATE
from reach_alpha5_arbiter.trajectory import GoalConfig
from reach_alpha5_common.command import STILL, JointCommand, MotionCommand
from reach_alpha5_common.refusal import Problem

SOURCES = (
    SourceConfig(PAD, person=True, heartbeat_timeout=0.4, idle_release=1.5),
    SourceConfig(APP, person=True, heartbeat_timeout=0.6, idle_release=1.5),
    SourceConfig(BOT, person=False, heartbeat_timeout=0.5, idle_release=1.5),
)
PLAIN = ArbiterConfig(SOURCES, goal_source=BOT, goals=GoalConfig(stop_time=0.15))
WATCHED = replace(
    PLAIN,
    endpoints=(EndpointConfig("box", 1.0), EndpointConfig("mat", 1.5)),
    upstream_timeout=1.0,
)
WORLDS = (PLAIN, PLAIN, WATCHED)
"""Of three seeds, one each: most motion is where least stands against it."""

NAMES = [source.name for source in SOURCES]
CLIENT = "a"
BRIEF = replace(FORWARD, lifetime=0.04)
SLOW = replace(RIGHT, gripper_velocities=JAWS_ONLY.gripper_velocities, speed_modifier=-0.5)
HERE = JointCommand(JOINTS[:1], (1.0,), (0.1,), 0.2)
GOOD_COMMANDS: list[MotionCommand] = [
    *(STILL, STILL, STILL, FORWARD, FORWARD, RIGHT, BRIEF, JAWS_ONLY, POSE, SLOW),
    *(TWIST, TWIST_HELD),
]
BAD_COMMANDS: list[MotionCommand] = [
    NONSENSE,
    replace(FORWARD, speed_modifier=1.1),
    replace(FORWARD, known_pose=POSE.known_pose),
    replace(TWIST, lifetime=60.0),
    replace(TWIST, lifetime=0.0),
    replace(TWIST, grip=2.0),
    HERE,
]
STREAMED: list[MotionCommand] = [HERE, HERE, replace(HERE, positions=(1.1,)), JointCommand()]
BAD_STREAMED: list[MotionCommand] = [
    replace(HERE, lifetime=0.0),
    replace(HERE, lifetime=1.0),
    replace(HERE, velocities=(float("inf"),)),
    replace(HERE, velocities=()),
    FORWARD,
]
TOPICS = ["gripper_ctrl", "gripper_ctrl", "twist"]
GOOD_REPORTS = [
    *(report(ArmCondition.ENABLED), report(ArmCondition.EXECUTING)),
    *(report(ArmCondition.ENABLED), report(ArmCondition.EXECUTING), report(ArmCondition.IDLE)),
]
BAD_REPORTS = [
    report(ArmCondition.MINOR_FAULT),
    report(ArmCondition.NONE),
    report(ArmCondition.MAJOR_FAULT, causes=("link",)),
    report(emo=True, epoch=1),
    report(emo=True, epoch=2),
    report(powered=False),
    report(active=False),
    report(ArmCondition.IDLE, active=False, holds=("inactive",)),
    report(holds=("not_identified",)),
    report(service_mode=True),
    report(99),
]
DELAYS = [0.0, 0.001, 0.01, 0.03, 0.05]
PAUSES = [0.2, 0.5, 1.0, 1.5, 2.0, 3.0]
TROUBLES = [0.02, 0.02, 0.1, 0.1, 1.0]
CLOCK_SETS = [HOUR, -HOUR, DAY, -DAY]
STAMP_ERRORS = [DAY, -DAY, -1, 2_000_000_000, -WALL]
VETO = Problem("target_refused", "it would collide")
SAID_AGAIN = [*NAMES, ARM_STATE]
"""Whose messages a bag says again."""
ALL_ONES = (1 << 64) - 1
