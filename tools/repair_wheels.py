"""Repair the exported CMake files of the ROS wheels, and leave out what they would build in vain.

They name paths of the container that they were built in; a package that is built against them
would look for numpy and Python there. Standard library only. Safe to run any number of times.
"""

from __future__ import annotations

import re
from pathlib import Path

VERSION = "2"
"""Part of the environment's key: a change here repairs environments that exist."""

CPP_GENERATORS = (
    "generator_cpp|typesupport_cpp|typesupport_introspection_cpp|typesupport_fastrtps_cpp"
)
"""Generators of C++ for interface packages. Nothing in this workspace is C++, and they would take
most of the time of a first build. A stock ROS 2 is never touched."""

CONTAINER = r"/opt/python/cp3\d+-cp3\d+"


def repair(prefix: Path, site_packages: Path, include: str) -> int:
    """Rewrite the CMake files below `prefix`; return how many changed.

    Args:
        prefix: the virtual environment.
        site_packages: its package folder, with numpy in it.
        include: where Python.h of its Python lies.
    """
    numpy = next(site_packages.glob("numpy/_core/include"), site_packages / "numpy/core/include")
    replacements = [
        (CONTAINER + r"/lib/python3\.\d+/site-packages/numpy/_?core/include", str(numpy)),
        (CONTAINER + r"/include/python3\.\d+", include),
        # The wheels bundle these two libraries under hashed names; nothing of ours links them.
        (r"/usr/lib64/libtinyxml2\.so", "tinyxml2"),
        (r'"lttng-ust;dl', '"dl'),
        (
            r'ament_register_extension\(\s*"rosidl_generate_idl_interfaces"\s*'
            rf'"rosidl_(?:{CPP_GENERATORS})"[^)]*\)',
            "# not registered: no C++ is built here",
        ),
    ]
    changed = 0
    for folder in ("share", "lib/cmake"):
        for file in sorted((prefix / folder).rglob("*.cmake")):
            before = after = file.read_text()
            for pattern, replacement in replacements:
                after = re.sub(pattern, lambda _, text=replacement: text, after)
            if after != before:
                file.write_text(after)
                changed += 1
    return changed
