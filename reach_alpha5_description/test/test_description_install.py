"""What the package needs at run time is really installed with it."""

import os
import re
from pathlib import Path

import pytest
import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

NOT_INSTALLED = {"test", "__pycache__"}


def folders(package: Path) -> list[str]:
    return sorted(
        f.name
        for f in package.iterdir()
        if f.is_dir() and f.name not in NOT_INSTALLED and not f.name.startswith(".")
    )


def installed_share() -> Path | None:
    try:
        return Path(get_package_share_directory("reach_alpha5_description"))
    except PackageNotFoundError:
        return None


def test_U18_cmake_installs_every_folder(package):
    text = (package / "CMakeLists.txt").read_text()
    named = [
        name
        for block in re.findall(r"install\(DIRECTORY\s+(.*?)\s+DESTINATION", text, re.DOTALL)
        for name in block.split()
    ]
    assert sorted(named) == folders(package)


@pytest.mark.skipif(installed_share() is None, reason="the package is not built here")
def test_U18_every_file_is_in_the_installed_share(package):
    share = installed_share()
    for folder in folders(package):
        for file in (package / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                installed = share / file.relative_to(package)
                assert installed.is_file(), f"{installed} is missing"
                assert os.access(file, os.X_OK) == os.access(installed, os.X_OK)


def test_config_files_are_plain_yaml_for_any_reader(package):
    for file in (package / "config").glob("*.yaml"):
        assert yaml.safe_load(file.read_text())
