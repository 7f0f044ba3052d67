"""The page in a browser without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_dives import HOSTILE, Tape, arbiter, refusal, write_story
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from reach_alpha5_bags.report import picture
from reach_alpha5_bags.report.cli import WRITTEN, main

BROWSER, CONTROL = shutil.which("chromium"), shutil.which("chromedriver")
PATIENCE = 60.0


@pytest.fixture(scope="module", autouse=True)
def browser_is_there() -> None:
    assert BROWSER and CONTROL, "install a browser: apt-get install chromium chromium-driver"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    bag, output = folder / "story.mcap", folder / "story.html"
    with Tape(bag) as tape:
        write_story(tape)
        told = refusal("odd", 1, source="x", reason=HOSTILE)
        tape.write("arbiter_state", arbiter(stops=5, last_refusal=told), 60.2)
    assert main([str(bag), "-o", str(output)]) == WRITTEN
    return output


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    profile = tmp_path_factory.mktemp("profile")
    for argument in (*picture.QUIET, f"--user-data-dir={profile}", "--window-size=1200,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(CONTROL)))
    yield driver
    driver.quit()


def opened(browser: Any, page: Path) -> Any:
    browser.get(page.as_uri())
    WebDriverWait(browser, PATIENCE).until(
        lambda b: b.find_elements(By.CSS_SELECTOR, "#lanes .entry")
    )
    return browser


def labels(browser: Any) -> set[str]:
    return set(
        browser.execute_script(
            "return [...document.querySelectorAll('#lanes .entry')].map(e => e.dataset.label)"
        )
    )


def test_the_page_shows_the_events_and_the_console_stays_empty(browser: Any, page: Path) -> None:
    opened(browser, page)
    assert {"teleop", "jogging", "no_input", "estop", "not_owner", "stop_unconfirmed", "lost"} <= (
        labels(browser)
    )
    listed = browser.find_element(By.ID, "events").text
    assert "teleop has the arm" in listed
    assert "diver in the water" in listed
    assert browser.find_elements(By.CSS_SELECTOR, "#joints path.trace[d^='M']")
    assert browser.find_elements(By.CSS_SELECTOR, "#views path[stroke^='hsl']")
    assert browser.get_log("browser") == []


def test_a_script_out_of_a_bag_does_not_run(browser: Any, page: Path) -> None:
    opened(browser, page)
    assert "taken" not in browser.title
    assert HOSTILE in browser.find_element(By.ID, "events").text
    assert not browser.find_elements(By.TAG_NAME, "img")


def test_the_policy_lets_no_other_script_run(browser: Any, page: Path) -> None:
    opened(browser, page)
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.other = 1';"
        "document.body.append(s)"
    )
    assert browser.execute_script("return window.other === undefined")
    assert "Content Security Policy" in str(browser.get_log("browser"))


def test_zooming_shows_a_part_and_all_shows_all_again(browser: Any, page: Path) -> None:
    opened(browser, page)
    rows = browser.find_elements(By.CSS_SELECTOR, "#events tbody tr")
    next(row for row in rows if "stop_unconfirmed" in row.text).click()
    WebDriverWait(browser, PATIENCE).until(lambda b: "estop" not in labels(b))
    assert "stop_unconfirmed" in labels(browser)
    browser.find_element(By.CSS_SELECTOR, "[data-do=clock]").click()
    browser.find_element(By.CSS_SELECTOR, "[data-do=all]").click()
    WebDriverWait(browser, PATIENCE).until(lambda b: "estop" in labels(b))
    assert browser.find_element(By.ID, "window").text.startswith("20:26:40")


def test_nothing_is_wider_than_a_phone(browser: Any, page: Path) -> None:
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        opened(browser, page)
        width = browser.execute_script("return document.documentElement.scrollWidth")
        assert width <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_picture_of_the_page_is_taken(page: Path, tmp_path: Path) -> None:
    picture.take(page, tmp_path / "page.png", size=(600, 400))
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
