#!/usr/bin/env python3
"""Make the sample dive: record the whole stack on the simulated arm while a pad session is played.

Beside the pad, somebody's app asks for motion without having been neutral first, and again, as it
should, while the pilot has the arm: the refusals are in the bag.

    tools/run examples/make_sample_dive.py [--output examples/sample_dive]
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

EXAMPLES = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLES.parent / "tools"))

from demo import read_session  # noqa: E402
from stack import Client, Stack, await_ready  # noqa: E402

from reach_alpha5_bags.settings import installed  # noqa: E402
from reach_alpha5_msgs.msg import ClientHeartbeat, GripperCtrl  # noqa: E402

PATIENCE = 30.0
PORT = "/tmp/alpha5_sim"
"""Where the simulated arm is: this is what the bag says the port is called."""


class App:
    """Beats, and asks for motion without a word before."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._heart = client.node.create_publisher(ClientHeartbeat, "app/heartbeat", 10)
        self._commands = client.node.create_publisher(GripperCtrl, "app/gripper_ctrl", 10)
        client.node.create_timer(0.2, self._beat)

    def _beat(self) -> None:
        beat = ClientHeartbeat(client_id="app-1", present=True)
        beat.header.stamp = self._client.node.get_clock().now().to_msg()
        self._heart.publish(beat)

    def is_alive(self) -> bool:
        """Say whether the arbiter hears it."""
        state = self._client.last("arbiter_state")
        return any(source.name == "app" and source.alive for source in state.sources)

    def ask(self, forward: float) -> None:
        """Ask for motion forward, in [-1, 1]; 0 is neutral."""
        command = GripperCtrl(arm_input=GripperCtrl.ARM_INPUT_CARTESIAN)
        command.header.stamp = self._client.node.get_clock().now().to_msg()
        command.cartesian.x = forward
        command.lifetime.nanosec = 200_000_000
        self._commands.publish(command)


WORDS = {"deadman": (0.5,), "cartesian_right": (0.0, 0.5)}
"""What the app asks for, as a phase of the pad session begins."""


def dive(client: Client, app: App) -> None:
    """Play the session to the stack."""
    start = time.monotonic()
    for at, item in read_session(EXAMPLES / "pad_session"):
        while (wait := start + at - time.monotonic()) > 0:
            time.sleep(wait)
        if isinstance(item, str):
            print(f"{at:6.1f} s  {item}")
            for word in WORDS.get(item, ()):
                app.ask(word)
        else:
            item.header.stamp = client.node.get_clock().now().to_msg()
            client.joy.publish(item)


def without_log() -> str:
    """Return the record profile without /rosout, which names the files of this machine."""
    profile = yaml.safe_load(installed("record.yaml").read_text())
    del profile["shared"]["/rosout"]
    return yaml.safe_dump(profile)


def main() -> int:
    """Make the dive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=EXAMPLES / "sample_dive")
    output = parser.parse_args().output
    if output.exists():
        print(f"{output} exists already; remove it first", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="alpha5_dive_") as name:
        folder = Path(name)
        bag = folder / output.name
        profile = folder / "record.yaml"
        profile.write_text(without_log())
        with Stack(folder, sim_port=PORT) as stack:
            client = Client(stack.domain.number)
            command = ["alpha5-record", "--writer", "own", "--profile", str(profile)]
            recorder = subprocess.Popen([*command, "--output", str(bag)], env=stack.environment)
            try:
                await_ready(client)
                app = App(client)
                client.wait_for(app.is_alive, PATIENCE, "the app is heard")
                # The arbiter answers to its journal's readers alone.
                client.wait_for(
                    lambda: client.node.count_subscribers("arbiter_journal"),
                    PATIENCE,
                    "the recorder is there",
                )
                dive(client, app)
            finally:
                recorder.send_signal(signal.SIGINT)
                status = recorder.wait(PATIENCE)
                client.close()
        if status:
            return status
        shutil.move(bag, output)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
