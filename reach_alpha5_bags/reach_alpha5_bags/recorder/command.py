"""The command line by which stock rosbag2 records the same as the recorder of this package."""

from __future__ import annotations

from pathlib import Path

from reach_alpha5_bags.profile import Profile, Selection


def rosbag2_command(
    profile: Profile, selection: Selection, output: Path, storage: Path, qos: Path
) -> list[str]:
    """Return the command.

    Its options are those that `ros2 bag record` has in Jazzy as well as in Kilted.

    Args:
        profile: how the bag is cut into files.
        selection: the topics.
        output: folder of the bag, which does not exist.
        storage: file of options for the MCAP files.
        qos: file of QoS overrides.
    """
    return [
        *("ros2", "bag", "record", "--disable-keyboard-controls"),
        *("--output", str(output)),
        *("--storage", "mcap", "--storage-config-file", str(storage)),
        *("--qos-profile-overrides-path", str(qos)),
        *("--max-bag-size", str(profile.max_file_size)),
        *("--max-bag-duration", str(profile.max_file_duration)),
        *("--regex", selection.expression()),
    ]
