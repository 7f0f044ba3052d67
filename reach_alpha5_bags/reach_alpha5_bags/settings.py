"""The files of settings that are installed with the package."""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from reach_alpha5_bags.profile import Profile, ProfileError, read_profile

PROFILE = "record.yaml"
MCAP = "mcap.yaml"
QOS = "qos_overrides.yaml"


def installed(name: str) -> Path:
    """Return the path of an installed file of settings, or of the one beside the sources."""
    try:
        share = Path(get_package_share_directory("reach_alpha5_bags"))
    except PackageNotFoundError:
        share = Path(__file__).parent.parent
    return share / "config" / name


def profile_of(path: Path | None = None) -> Profile:
    """Read a profile; None = the installed one.

    Raises:
        ProfileError: it is not there, or is none; names the file.
    """
    file = path or installed(PROFILE)
    try:
        return read_profile(file.read_text())
    except OSError as error:
        raise ProfileError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ProfileError(f"{file}: not text") from None
    except ProfileError as error:
        raise ProfileError(f"{file}: {error}") from None
