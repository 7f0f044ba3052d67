#!/usr/bin/env python3
"""Entry point of `alpha5-policy`, which is installed beside the package that it runs."""

import sys

from alpha5_security.cli import main

sys.exit(main())
