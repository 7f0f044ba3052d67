"""`alpha5-view`: a page in the browser that shows what the arm does. It only looks."""

from __future__ import annotations

import argparse
import subprocess
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from rclpy.exceptions import InvalidNamespaceException
from rclpy.utilities import remove_ros_args

from reach_alpha5_common.node_life import run
from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_motion.model import ModelError
from reach_alpha5_view.browser.view_node import PortError, ViewNode, serve
from reach_alpha5_view.scene.config import SceneConfig

WRONG_USE = 2
"""Exit code when the command cannot begin, as `argparse` has it."""

PORT = 8080

EPILOG = """\
It publishes nothing and calls nothing. Several browsers may look at once. The arm is drawn as the
topic robot_description has it, which robot_state_publisher gives; where that does not run, as in
FILE, or else as in the package reach_alpha5_description. NAME:=VALUE go to xacro: give mount_xyz,
mount_rpy and prefix here as to the launch file. Examples:

  alpha5-view
  alpha5-view --host 0.0.0.0 --no-open        # whoever reaches this machine may look
  alpha5-view --namespace left prefix:=left_ mount_xyz:="0.18 0.1 -0.12"
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = list(sys.argv if arguments is None else ["alpha5-view", *arguments])
    options = _parser().parse_args(remove_ros_args(given)[1:])
    mappings: dict[str, str] = dict(options.mappings)
    try:
        description, origin = _description(options.description, mappings)
        server = serve(options.host, options.port)
    except (OSError, ModelError) as error:
        hint = "; choose another with --port" if isinstance(error, PortError) else ""
        print(f"alpha5-view: {error}{hint}", file=sys.stderr)
        return WRONG_USE
    is_made = False

    def make() -> ViewNode:
        nonlocal is_made
        try:
            node = ViewNode(
                server,
                description,
                origin,
                is_fixed=options.description is not None,
                config=SceneConfig(prefix=mappings.get("prefix", "")),
                namespace=options.namespace,
            )
        except (ModelError, InvalidNamespaceException) as error:
            raise ParameterError(str(error)) from error
        is_made = True
        url = f"http://{options.host}:{server.get_port()}"
        print(f"the arm of /{options.namespace.strip('/')} is to be seen at {url}", flush=True)
        if options.open:
            webbrowser.open(url)
        return node

    try:
        return run(make, given)
    finally:
        if not is_made:
            server.stop()


def _description(file: Path | None, mappings: dict[str, str]) -> tuple[str, str]:
    """Return the text of the description, and where it is from in words.

    Raises:
        ModelError: there is none, or xacro cannot expand it.
    """
    origin = str(file)
    if file is None:
        origin = "reach_alpha5_description"
        try:
            file = Path(get_package_share_directory(origin)) / "urdf" / "drone.urdf.xacro"
        except PackageNotFoundError as error:
            raise ModelError(f"{origin} is not installed; give --description FILE") from error
    # A process of its own: xacro prints to stdout, and changes the state of its module.
    command = ["xacro", str(file), *(f"{name}:={value}" for name, value in mappings.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ModelError(f"xacro cannot expand {file}: {done.stderr.strip()}")
    return done.stdout, origin


def _mapping(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":=")
    if not name or not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME:=VALUE")
    return name, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alpha5-view",
        description="Show in a browser what the arm does and why it does not. It only looks.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "mappings",
        metavar="NAME:=VALUE",
        nargs="*",
        type=_mapping,
        help="arguments of the robot description; `prefix` is that of the arm's joints as well",
    )
    parser.add_argument(
        "--namespace", default="alpha5", help="of the arm's nodes (default %(default)s)"
    )
    parser.add_argument(
        "--host",
        default="localhost",
        help="name or address to listen at; 0.0.0.0 = every one of this machine "
        "(default %(default)s)",
    )
    parser.add_argument(
        "--port", type=int, default=PORT, help="0 = any that is free (default %(default)s)"
    )
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="open the page in the browser of this machine",
    )
    parser.add_argument(
        "--description",
        metavar="FILE",
        type=Path,
        help="a URDF or xacro file to draw, whatever the topic robot_description says",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
