"""The pictures of docs/motion.md that come from driving the arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.straightness import BAR, LENGTH, LateArm, Track, as_driven, cartesian
from reach_alpha5_common.command import STILL
from reach_alpha5_motion.model import ArmModel
from reach_alpha5_motion.speed import MotionConfig

SHOWN = 40
"""Jogs that are drawn one by one."""


def draw(model: ArmModel, results: Mapping[str, Sequence[Track]], folder: Path) -> None:
    """Draw all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _straightness(results, folder / "straightness.png")
    _ramps(model, folder / "ramps.png")


def _straightness(results: Mapping[str, Sequence[Track]], file: Path) -> None:
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    ways, shares = figure.subplots(1, 2)
    first = next(iter(results.values()))
    for track in first[:SHOWN]:
        ways.plot(track.along * 100.0, track.off * 1000.0, linewidth=0.7)
    ways.set(
        xlabel="way along the line [cm]",
        ylabel="off the line [mm]",
        xlim=(0.0, LENGTH * 100.0),
        ylim=(0.0, 1.1 * BAR * 1000.0),
        title=f"{min(SHOWN, len(first))} jogs, as the driver moves",
    )
    for name, tracks in results.items():
        off = np.sort([track.deviation for track in tracks]) * 1000.0
        shares.step(off, np.arange(1, len(off) + 1) / len(off) * 100.0, where="post", label=name)
    shares.axvline(BAR * 1000.0, color="grey", linewidth=0.8, linestyle="--")
    shares.set(
        xlabel="largest distance from the line [mm]",
        ylabel="share of the jogs [%]",
        xscale="log",
        title="all jogs",
    )
    shares.legend(loc="lower right", fontsize=8)
    figure.savefig(file, dpi=110)


def _ramps(model: ArmModel, file: Path) -> None:
    """Draw a start, a reversal and a stop at the highest speed."""
    step = as_driven(model, MotionConfig())
    arm = LateArm([3.0, 1.6, 1.5, 3.0, 0.007], 1)
    go, back = cartesian((0.0, 0.0, 1.0), 1.0), cartesian((0.0, 0.0, -1.0), 1.0)
    begin = now = 0.1
    times, asked, tip, joints = [], [], [], []
    arm.advance(now)
    while now < begin + 1.5:
        since = now - begin
        command = go if since < 0.45 else back if since < 1.0 else STILL
        rates = step(command, arm.measured, arm.measured_at, now).joint_velocities
        times.append(since)
        asked.append(command.cartesian.z * MotionConfig().linear_speed * 1000.0)
        tip.append((model.jacobian(arm.q) @ rates[:3])[2] * 1000.0)
        joints.append(rates[:3])
        arm.send(rates.tolist(), now)
        now += 0.02
        arm.advance(now)
    figure = Figure(figsize=(9.0, 2.8), layout="constrained")
    speeds, turns = figure.subplots(1, 2)
    speeds.step(times, asked, where="post", color="grey", linewidth=0.8, label="asked")
    speeds.step(times, tip, where="post", label="sent")
    speeds.set(xlabel="time [s]", ylabel="speed of the tip, down [mm/s]")
    speeds.legend(fontsize=8)
    for name, values in zip(model.joint_names, np.array(joints).T, strict=False):
        turns.step(times, values, where="post", label=name)
    turns.set(xlabel="time [s]", ylabel="joint rate [rad/s]")
    turns.legend(fontsize=8)
    figure.savefig(file, dpi=110)
