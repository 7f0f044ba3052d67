"""A picture of a page, as a headless browser shows it: for the docs."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

BROWSER = "chromium"
SIZE = (1200, 1500)
"""Width and height of the window [pixels]."""

PATIENCE = 60.0
"""Time [s] that the browser gets."""

QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip


def take(page: Path, picture: Path, size: tuple[int, int] = SIZE, browser: str = BROWSER) -> None:
    """Write a PNG picture of the top of a page.

    Raises:
        OSError: there is no such browser.
        subprocess.SubprocessError: it failed, or took too long.
    """
    with tempfile.TemporaryDirectory(prefix="alpha5_picture_") as folder:
        subprocess.run(
            [
                browser, *QUIET, f"--user-data-dir={folder}", f"--window-size={size[0]},{size[1]}",
                f"--screenshot={picture.resolve()}", page.resolve().as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        )  # fmt: skip
