#!/usr/bin/env python3
"""Make the pictures of the README: the real stack on the simulated arm, as a browser shows it.

One row of `PICTURES` a picture. Needs chromium and chromedriver; no display.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pad import Pad
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait
from stack import Client, Stack, await_ready

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = (1280, 720)
PATIENCE = 60.0
"""Longest time [s] that anything is waited for."""

OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size={},{}".format(*SIZE),
)


def browser() -> webdriver.Chrome:
    """Return a browser without a screen.

    Raises:
        SystemExit: it is not installed.
    """
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        sys.exit("chromium or chromedriver is missing: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for option in OPTIONS:
        options.add_argument(option)
    return webdriver.Chrome(options=options, service=Service(driver))


def view(output: Path) -> None:
    """Take the page of `alpha5-view` while a pad moves the simulated arm."""
    with (
        tempfile.TemporaryDirectory(prefix="alpha5_picture_") as folder,
        Stack(Path(folder)) as stack,
    ):
        client = Client(stack.domain.number)
        page = subprocess.Popen(
            ["alpha5-view", "--no-open", "--port", "0"],
            env=dict(stack.environment),
            stdout=subprocess.PIPE,
            text=True,
        )
        window = browser()
        try:
            await_ready(client)
            assert page.stdout is not None
            url = next(m[1] for line in page.stdout if (m := re.search(r"seen at (\S+)", line)))
            window.get(url)
            pad = Pad(client)
            try:
                pad.set(lb=1)
                time.sleep(1.0)  # as a person would
                pad.set(left_y=0.6, right_y=0.4)
                WebDriverWait(window, PATIENCE).until(
                    lambda w: "JOGGING" in w.find_element("id", "alpha5-status").text
                )
                # New things fade in, the trail grows, and the note about software rendering goes.
                time.sleep(12.0)
                for close in window.find_elements(
                    "css selector", ".mantine-Notification-closeButton"
                ):
                    close.click()
                time.sleep(1.0)
                window.save_screenshot(str(output))
            finally:
                pad.unplug()
        finally:
            window.quit()
            page.terminate()
            page.wait()
            client.close()


PICTURES: dict[str, Callable[[Path], None]] = {"view.png": view}
"""What makes each file of docs/images."""


def main() -> int:
    """Make all pictures, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*PICTURES, []], metavar="NAME", help="all unless named"
    )
    names = parser.parse_args().names or list(PICTURES)
    for name in names:
        PICTURES[name](IMAGES / name)
        print(IMAGES / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
