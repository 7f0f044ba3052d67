"""Where pad profiles are found. Shell: reads files."""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from reach_alpha5_teleop.profile import Profile, ProfileError, load

PACKAGE = "reach_alpha5_teleop"
SUFFIX = ".yaml"

AUTO = "auto"
"""In place of a name: find out from the pad's first frames, see `detect`."""


def folder() -> Path:
    """Return the folder of the profiles that come with the package, installed or in the source."""
    source = Path(__file__).resolve().parents[1] / "profiles"
    try:
        installed = Path(get_package_share_directory(PACKAGE)) / "profiles"
    except PackageNotFoundError:
        return source
    return installed if installed.is_dir() else source


def names() -> list[str]:
    """Return the names of the profiles that come with the package."""
    return sorted(path.stem for path in folder().glob(f"*{SUFFIX}"))


def shipped() -> list[Profile]:
    """Load all profiles that come with the package, by name.

    Raises:
        ProfileError: one of them is not in order.
    """
    return [find(name) for name in names()]


def find(name_or_path: str) -> Profile:
    """Load a profile by the name of one that comes with the package, or by its path.

    What has a slash or ends in `.yaml` is a path.

    Raises:
        ProfileError: there is no such profile, or it is not in order.
    """
    is_path = "/" in name_or_path or name_or_path.endswith(SUFFIX)
    path = Path(name_or_path) if is_path else folder() / f"{name_or_path}{SUFFIX}"
    try:
        text = path.read_text(encoding="utf-8")
    # A path with a NUL is a ValueError, and so is text that is not UTF-8.
    except (OSError, ValueError) as error:
        raise ProfileError(
            f"no pad profile {name_or_path!r} ({error}); use the path of a YAML file, "
            f"or one of {', '.join(names())}"
        ) from error
    try:
        return load(text)
    except ProfileError as error:
        raise ProfileError(f"pad profile {path}:\n{error}") from error
