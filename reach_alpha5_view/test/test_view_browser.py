"""The page as people see it: a real browser without a screen, the command, and real DDS."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Before rclpy: a run of its own, which no other on this machine meets.
os.environ.setdefault("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import imageio.v3 as imageio
import numpy as np
import rclpy
from geometry_msgs.msg import Point
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from sensor_msgs.msg import JointState
from view_material import DEPLOYED, JOINTS, model, urdf

from reach_alpha5_msgs import msg

PATIENCE = 180.0
"""Longest time [s] to wait for what must come; a safety bound on a busy machine."""

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

ELSEWHERE = (2.0, 1.0, 1.0, 0.0, 0.005)
"""Another posture."""

BLUE_ENOUGH = 100
"""Pixels of the arm's blue. Measured: 384 and 240 in the two postures, 1 without an arm, which is
of the axes of the frames."""

OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Bench:
    """The command in a process, a driver and an arbiter in this one, and browsers that look."""

    def __init__(self, folder: Path) -> None:
        self.namespace = f"/test_{uuid.uuid4().hex}"
        self.folder = folder
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("bench", namespace=self.namespace, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.positions = DEPLOYED
        self.arm = msg.ArmState(
            state=msg.ArmState.ENABLED,
            active=True,
            powered=True,
            link=msg.LinkCounters(connected=True, telemetry_rate=77.0),
        )
        self.arbiter = msg.ArbiterState(owner="teleop", driver_connected=True)
        create = self.node.create_publisher
        self._joint_states = create(JointState, "joint_states", 10)
        self._arms = create(msg.ArmState, "arm_state", 10)
        self._telemetries = create(msg.GripperTel, "gripper_tel", 10)
        self._arbiters = create(msg.ArbiterState, "arbiter_state", LATCHED)
        self.obstacles = create(msg.Obstacles, "obstacles", LATCHED)
        self.driver = self.node.create_timer(0.1, self._speak)
        self.node.create_timer(0.1, lambda: self._arbiters.publish(self.arbiter))
        # In a thread: a driver speaks on while this test waits for a browser.
        self._is_over = False
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()
        description = folder / "drone.urdf"
        description.write_text(urdf())
        self._log = folder / "said"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "reach_alpha5_view.browser.cli", "--no-open", "--port", "0",
                 "--namespace", self.namespace, "--description", str(description)],
                stdout=log, stderr=log,
            )  # fmt: skip
        self.browsers: list[webdriver.Chrome] = []
        try:
            self.until(
                lambda: "to be seen at" in self._log.read_text(), lambda: self._log.read_text()
            )
        except BaseException:
            self.close()
            raise
        self.url = re.findall(r"to be seen at (\S+)", self._log.read_text())[0]

    def _spin(self) -> None:
        while not self._is_over:
            self.executor.spin_once(timeout_sec=0.1)

    def _speak(self) -> None:
        positions = self.positions
        self._joint_states.publish(JointState(name=list(JOINTS), position=list(positions)))
        self.arm.joints = [
            msg.JointHealth(name=name, position=position, temperature=23.0)
            for name, position in zip(JOINTS, positions, strict=True)
        ]
        self._arms.publish(self.arm)
        x, y, z = model().tip(DEPLOYED).tolist()  # stays: what changes the picture is the arm
        gripper = msg.Gripper(joint_positions=list(positions), end_position=Point(x=x, y=y, z=z))
        self._telemetries.publish(msg.GripperTel(gripper=gripper))

    def until(self, condition: Callable[[], object], seen: Callable[[], object] = str) -> None:
        """Wait until the condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"it did not come; seen last: {seen()}"
            assert self.process.poll() is None, self._log.read_text()
            time.sleep(0.1)

    def look(self, width: int = 1000, height: int = 600) -> Page:
        """Open the page in a browser of its own."""
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        driver = shutil.which("chromedriver")
        if chromium is None or driver is None:
            pytest.fail(
                "the page is tested in a browser: install chromium and chromedriver "
                "(Debian: apt-get install -y chromium chromium-driver)"
            )
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        profile = self.folder / f"profile_{len(self.browsers)}"
        for option in (*OPTIONS, f"--window-size={width},{height}", f"--user-data-dir={profile}"):
            options.add_argument(option)
        browser = webdriver.Chrome(options=options, service=Service(driver))
        self.browsers.append(browser)
        browser.set_script_timeout(PATIENCE)
        browser.get(self.url)
        return Page(browser)

    def close(self) -> None:
        for browser in self.browsers:
            browser.quit()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._is_over = True
        self._thread.join()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


class Page:
    """What one browser shows."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self._browser = browser

    def panel(self, name: str) -> str:
        script = "return document.getElementById(arguments[0])?.innerText ?? ''"
        return self._browser.execute_script(script, f"alpha5-{name}")

    def words(self) -> str:
        return self.panel("status")

    def has_canvas(self) -> bool:
        return bool(self._browser.find_elements("css selector", "canvas"))

    def loaded(self) -> list[str]:
        script = "return performance.getEntriesByType('resource').map(entry => entry.name)"
        return self._browser.execute_script(script)

    def width(self) -> int:
        return self._browser.execute_script("return document.documentElement.scrollWidth")

    def blue(self) -> np.ndarray:
        """Where the picture, without the panel, has the blue of the arm."""
        image = imageio.imread(io.BytesIO(self._browser.get_screenshot_as_png()))
        red, green, blue = (image[:, :600, part].astype(int) for part in range(3))
        return (blue > green + 45) & (green > red + 15) & (blue > 90)


@pytest.fixture
def bench(tmp_path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


def test_the_page_shows_the_arm_where_its_joints_are_and_marks_it_when_it_is_silent(bench):
    page = bench.look()
    bench.until(page.has_canvas)
    bench.until(lambda: page.blue().sum() > BLUE_ENOUGH, lambda: page.blue().sum())
    assert all(name.startswith(("blob:", "data:", bench.url)) for name in page.loaded())
    # At rest two pictures are the same; when joints move, the arm is elsewhere.
    bench.until(lambda: "3.142 rad" in page.panel("joints"), lambda: page.panel("joints"))
    before = page.blue()
    bench.positions = ELSEWHERE
    bench.until(lambda: (before & ~page.blue()).sum() > before.sum() / 2)
    bench.until(lambda: page.blue().sum() > BLUE_ENOUGH)
    bench.until(lambda: "2.000 rad" in page.panel("joints"))
    # U12: what a dead driver said last must not look alive.
    assert "STALE" not in page.words() + page.panel("joints")
    bench.driver.cancel()
    bench.until(lambda: "nothing heard of the driver" in page.words(), page.words)
    bench.until(lambda: "axis_e STALE" in page.panel("joints"))
    bench.until(lambda: page.blue().sum() < BLUE_ENOUGH, lambda: page.blue().sum())
    bench.driver.reset()
    bench.until(lambda: page.blue().sum() > BLUE_ENOUGH)
    bench.until(lambda: "STALE" not in page.words() + page.panel("joints"))


def test_every_viewer_reads_owner_and_latch_and_what_others_wrote_is_no_markup(bench):
    wide, narrow = bench.look(), bench.look(400, 600)
    for page in (wide, narrow):
        bench.until(lambda page=page: "owner: teleop" in page.words(), page.words)
        bench.until(lambda page=page: "77 Hz" in page.panel("joints"))
    bench.arbiter.owner = ""
    bench.arbiter.estop_latched = True
    bench.arbiter.estop_level = msg.EStop.CUT
    bench.arbiter.estop_source = "diver"
    bench.arbiter.estop_reason = "<b id='evil'>tangled</b>"
    for page in (wide, narrow):
        bench.until(lambda page=page: "E-STOP (CUT) by diver: <b id" in page.words(), page.words)
        assert "owner: nobody" in page.words()
        assert page.panel("evil").strip() == ""
    assert narrow.width() <= 500  # the least that chromium's window has; nothing is beside it


def test_it_only_looks(bench):
    page = bench.look()
    bench.until(lambda: "owner: teleop" in page.words(), page.words)
    of = ("browser_view", bench.namespace)
    assert of in bench.node.get_node_names_and_namespaces()
    published = bench.node.get_publisher_names_and_types_by_node(*of)
    assert {name for name, _ in published} <= {"/rosout", "/parameter_events"}
    assert bench.node.get_client_names_and_types_by_node(*of) == []
    services = bench.node.get_service_names_and_types_by_node(*of)
    assert [name for name, _ in services if "type_desc" not in name] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_U13_it_leaves_cleanly_while_somebody_looks(bench, number):
    page = bench.look()
    bench.until(lambda: "owner: teleop" in page.words(), page.words)
    bench.process.send_signal(number)
    assert bench.process.wait(PATIENCE) == 0
    assert "Traceback" not in (bench.folder / "said").read_text()
