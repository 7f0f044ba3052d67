"""Entry point of `tools/launch`, apart from the package: only this process sees its folder."""

import sys

from launch_runner.cli import main

sys.exit(main())
