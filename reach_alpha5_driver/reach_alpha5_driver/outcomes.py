"""What a picture tells of what was asked for: conditions for those who wait for it."""

from __future__ import annotations

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.protocol.packets import Mode
from reach_alpha5_driver.rest import CONFIRM_LAG, RESTING
from reach_alpha5_driver.snapshot import ArmPicture


def is_released(picture: ArmPicture) -> bool:
    """Say whether the port is given back."""
    return not picture.link.connected


def is_switched_on(picture: ArmPicture) -> bool:
    """Say whether every device takes demands, as far as it has reported."""
    return picture.powered


def is_switched_off(picture: ArmPicture, counts_from: float) -> bool:
    """Say whether every device has reported since `counts_from` [s] that it is disabled."""
    return all(
        joint.mode == Mode.DISABLE and picture.at - joint.ages["mode"] >= counts_from
        for joint in picture.joints
    )


def restless(picture: ArmPicture, stopped_at: float) -> list[str]:
    """Return the joints that were not measured at rest since a stop was written.

    `stopped_at`: monotonic time [s] at which it was written already. A joint that is silent is
    among them.
    """
    return [
        joint.axis
        for joint, device in zip(picture.joints, DEVICES, strict=True)
        if not (
            picture.at - joint.ages["velocity"] > stopped_at + CONFIRM_LAG
            and abs(joint.values["velocity"]) <= RESTING[device.unit]
        )
    ]


def why_unidentified(picture: ArmPicture) -> str:
    """Say which devices are not known, and what to do."""
    if not picture.link.connected:
        return "the line was lost again; see above"
    silent = ", ".join(joint.axis for joint in picture.joints if not joint.identity.identified)
    return f"{silent} did not say what it is; check the arm's power, the cable and the wiring"
