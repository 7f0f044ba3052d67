"""Benchmarks of the whole way from pad to arm; `python3 -m benchmarks --help`.

They measure and compare within one run; they are no tests, and nothing here asserts a time.
"""

import sys
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parents[1]
"""Root of the workspace: where `python3 -m benchmarks` runs."""

sys.path.append(str(WORKSPACE / "tools"))  # for `stack` and `pad`
