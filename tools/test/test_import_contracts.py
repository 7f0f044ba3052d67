"""The contracts of pyproject.toml bite: a module nobody named is a core."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"
CONTRACTS = """
[tool.importlinter]
root_packages = ["arm", "pad"]
include_external_packages = true
contract_types = ["pure_cores: import_contracts.PureCores", "only: import_contracts.Only"]
[[tool.importlinter.contracts]]
name = "cores"
type = "pure_cores"
shells = ["*.node", "arm.transport"]
pure = ["math"]
[[tool.importlinter.contracts]]
name = "only"
type = "only"
source = "arm.sim"
may_import = ["arm.codec"]
"""
FILES = {
    "arm/__init__.py": "",
    "arm/codec.py": "import math\n",
    "arm/core.py": "from arm import codec\n",
    "arm/node.py": "import threading\nfrom arm import core\n",
    "arm/transport/__init__.py": "",
    "arm/transport/port.py": "import socket\n",
    "arm/sim/__init__.py": "",
    "arm/sim/arm.py": "from arm import codec\n",
    "pad/__init__.py": "",
    "pad/core.py": "import math\n",
}


def lint(folder: Path, **changes: str) -> tuple[int, str]:
    """Check the example with some files written anew."""
    for name, text in (FILES | changes).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "pyproject.toml").write_text(CONTRACTS)
    done = subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=folder,
        env=dict(os.environ, PYTHONPATH=f"{ROOT / 'tools'}{os.pathsep}{folder}"),
        capture_output=True,
        text=True,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def test_what_keeps_the_contracts_passes(tmp_path: Path) -> None:
    status, said = lint(tmp_path)
    assert status == 0, said
    assert "2 kept" in said


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("arm/core.py", "import time\n", "arm.core imports time"),
        ("arm/brand_new.py", "import rclpy\n", "arm.brand_new imports rclpy"),
        ("arm/core.py", "def f():\n    import os.path\n", "arm.core imports os"),
        ("arm/core.py", "from arm.transport import port\n", "arm.core imports arm.transport.port"),
        ("arm/core.py", "from arm import node\n", "a core never imports a shell"),
        ("arm/sim/arm.py", "from arm import core\n", "arm.sim.arm imports arm.core"),
        ("arm/sim/arm.py", "import pad.core\n", "arm.sim.arm imports pad.core"),
    ],
)
def test_what_breaks_a_contract_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    status, output = lint(tmp_path, **{file: text})
    assert status == 1, output
    assert said in output
