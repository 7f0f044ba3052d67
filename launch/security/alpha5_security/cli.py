"""The command `alpha5-policy`: make a policy file, or compare one with the graph that runs."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from alpha5_security.comparison import RunningNode, problems
from alpha5_security.layout import Layout, LayoutError
from alpha5_security.policy import Enclave
from alpha5_security.policy_file import PolicyFileError, read, written
from alpha5_security.table import enclaves

EPILOG = """examples:
  alpha5-policy make --namespace left > left.policy.xml
  alpha5-policy make --estop-endpoints deck bridge --upstream > dive.policy.xml
  alpha5-policy check dive.policy.xml

docs/security.md says what to do with the file, and what it cannot do."""

PERIOD = 0.25
"""Time [s] between two looks at the graph."""
SETTLED = 2.0
"""Time [s] after which nothing more is expected to be found."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    default = Layout()
    command = argparse.ArgumentParser(
        prog="alpha5-policy",
        description="The SROS 2 policy of an arm: who may say what.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = command.add_subparsers(dest="verb", required=True, metavar="make | check")
    make = verbs.add_parser(
        "make",
        help="print a policy file; each feature that is on must be named",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    make.add_argument(
        "--namespace", default=default.namespace, help="of the arm's nodes, as in the launch file"
    )
    make.add_argument(
        "--people",
        nargs="*",
        default=list(default.people),
        metavar="SOURCE",
        help="sources of the arbiter that are a person's: they may reset",
    )
    make.add_argument(
        "--automation",
        nargs="*",
        default=list(default.automation),
        metavar="SOURCE",
        help="its other sources",
    )
    make.add_argument(
        "--goal-source",
        default=default.goal_source,
        metavar="SOURCE",
        help='the source that calls the actions; "" for none',
    )
    make.add_argument(
        "--estop-endpoints",
        nargs="*",
        default=[],
        metavar="NAME",
        help="the arbiter's estop_endpoints",
    )
    make.add_argument(
        "--upstream", action="store_true", help="the arbiter's upstream_timeout is not 0"
    )
    make.add_argument(
        "--service-mode", action="store_true", help="for the desk: the driver's service_mode"
    )
    make.add_argument("--verbs", action="store_true", help="the launch file's verbs is true")
    check = verbs.add_parser("check", help="compare a policy file with the graph that runs")
    check.add_argument("file", type=Path)
    check.add_argument(
        "--wait",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="how long the graph has to agree; discovery takes its time (default 10)",
    )
    return command


def text_of(layout: Layout) -> str:
    """Return the policy file of a layout; its head says how it was made."""
    words = [f"namespace {layout.namespace}"]
    for option, names in (
        ("people", layout.people),
        ("automation", layout.automation),
        ("e-stop endpoints", layout.estop_endpoints),
    ):
        words.append(f"{option} {' '.join(names) or '(none)'}")
    words.append(f"goal source {layout.goal_source or '(none)'}")
    words += ["upstream"] * layout.upstream + ["service mode"] * layout.service_mode
    words += ["verbs"] * layout.verbs
    head = "Made by alpha5-policy make; do not edit. " + ", ".join(words)
    return written(enclaves(layout), head)


def await_agreement(
    policy: Sequence[Enclave], look: Callable[[], Sequence[RunningNode]], seconds: float
) -> list[str]:
    """Look at the graph until it has agreed with the policy for `SETTLED`.

    Args:
        policy: it.
        look: returns the graph as it is known now; more of it may be found later.
        seconds: how long to wait for that.

    Returns:
        What does not agree at the end of the time; empty = it agreed.
    """
    start = time.monotonic()
    agreed_since = None
    while True:
        found = problems(policy, look())
        now = time.monotonic()
        if found:
            agreed_since = None
        elif agreed_since is None:
            agreed_since = now
        elif now >= agreed_since + SETTLED:
            return []
        if found and now >= start + seconds:
            return found
        time.sleep(PERIOD)


def _check(file: Path, seconds: float) -> int:
    # Here, so that a policy can be made where there is no ROS.
    import rclpy
    from rclpy.parameter import Parameter

    from alpha5_security.graph import read_graph

    policy = read(file.read_text(encoding="utf-8"))
    rclpy.init()
    # It offers nothing, so that any enclave has room for it.
    node = rclpy.create_node(
        "_alpha5_policy",
        enable_rosout=False,
        start_parameter_services=False,
        parameter_overrides=[Parameter("start_type_description_service", value=False)],
    )
    try:
        found = await_agreement(policy, lambda: read_graph(node), seconds)
        seen = read_graph(node)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    for problem in found:
        print(problem)
    if not seen:
        print("no node runs in this domain", file=sys.stderr)
        return 1
    print(f"{len(seen)} nodes, {len(found)} disagreements", file=sys.stderr)
    return 1 if found else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status: 1 = graph and policy disagree, 2 = cannot."""
    options = parser().parse_args(argv)
    try:
        if options.verb == "check":
            return _check(options.file, options.wait)
        layout = Layout(
            options.namespace.strip("/"),
            tuple(options.people),
            tuple(options.automation),
            options.goal_source,
            tuple(options.estop_endpoints),
            options.upstream,
            options.service_mode,
            options.verbs,
        )
        print(text_of(layout), end="")
    except (LayoutError, PolicyFileError, OSError) as error:
        print(f"alpha5-policy: {error}", file=sys.stderr)
        return 2
    return 0
