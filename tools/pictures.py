#!/usr/bin/env python3
"""Make the pictures of the README: what a browser shows of the sample dive.

One row of `PICTURES` a picture. Needs chromium and chromedriver; no display.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from domain import Domain
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from reach_alpha5_bags.report import cli, picture

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
WIDTH, HEIGHT = 1400, 900
"""Of the picture of the arm [pixels]."""

PATIENCE = 90.0
"""Longest time [s] that anything is waited for."""

ON_SCREEN = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => done()));
"""
"""Ends when what the page has by now has been drawn."""

NO_NOTES = """
const style = document.createElement('style');
style.textContent = '.mantine-Notification-root { display: none }';
document.head.append(style);
"""
"""Hides the note that this machine draws without a graphics card."""


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """Open a browser without a screen.

    Raises:
        SystemExit: it is not installed.
    """
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        sys.exit("chromium or chromedriver is missing: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for option in (*picture.QUIET, "--enable-unsafe-swiftshader"):
        options.add_argument(option)
    window = webdriver.Chrome(options=options, service=Service(driver))
    try:
        window.set_script_timeout(PATIENCE)
        # Of the page; the size of a window has the browser's bars in it.
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        yield window
    finally:
        window.quit()


@contextmanager
def served(environment: dict[str, str]) -> Iterator[str]:
    """Run `alpha5-view` and give the address of its page."""
    with subprocess.Popen(
        ["alpha5-view", "--no-open", "--port", "0"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            found = (re.search(r"seen at (\S+)", line) for line in process.stdout)
            url = next((match[1] for match in found if match), None)
            if url is None:
                sys.exit("alpha5-view ended at once")
            yield url
        finally:
            process.terminate()


def view(output: Path) -> None:
    """Take the page of `alpha5-view` while the sample dive is played."""
    domain = Domain()
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain.number)}
    play = ["alpha5-play", str(ROOT / "examples" / "sample_dive"), "--loop"]
    try:
        with served(environment) as url, browser() as window:
            window.get(url)
            window.execute_script(NO_NOTES)
            with subprocess.Popen(play, env=environment, stdout=subprocess.DEVNULL) as player:
                try:
                    _wait_for_words(window, "JOGGING")
                    window.execute_async_script(ON_SCREEN)
                    window.save_screenshot(str(output))
                finally:
                    player.terminate()
    finally:
        domain.release()


def report(output: Path) -> None:
    """Take the page that `alpha5-report` makes of the sample dive."""
    with tempfile.TemporaryDirectory(prefix="alpha5_picture_") as folder:
        page = Path(folder) / "sample_dive.html"
        if cli.main([str(ROOT / "examples" / "sample_dive"), "-o", str(page)]) != cli.WRITTEN:
            sys.exit("there is no report of the sample dive")
        picture.take(page, output)


def _wait_for_words(window: webdriver.Chrome, words: str) -> None:
    script = "return document.getElementById('alpha5-status')?.innerText ?? ''"
    WebDriverWait(window, PATIENCE).until(lambda w: words in w.execute_script(script))


PICTURES: dict[str, Callable[[Path], None]] = {"view.png": view, "report.png": report}
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
