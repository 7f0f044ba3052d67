"""`alpha5-pad`: pads and their profiles on the command line. Shell."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from reach_alpha5_common.broken_pipe import quiet
from reach_alpha5_common.refusal import Problem
from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.calibrator import live, schema, screen
from reach_alpha5_teleop.calibrator.guide import Guide, Say
from reach_alpha5_teleop.calibrator.listening import listening
from reach_alpha5_teleop.calibrator.writing import profile_text
from reach_alpha5_teleop.detect import Detector
from reach_alpha5_teleop.profile import Profile, ProfileError, load

LOOP_PERIOD = 0.05
"""Longest time [s] between two looks at the keyboard."""

REDRAW = 0.1
"""Shortest time [s] between two drawings of the table."""

NOT_IN_ORDER = 1
"""Exit code when a profile is refused, or none was made."""

WRONG_USE = 2
"""Exit code when the command cannot begin, as `argparse` has it."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

LISTENED = {"topic": "joy", "namespace": "alpha5"}
"""Where a pad is listened to unless the command line says otherwise."""

EPILOG = """\
The command listens to a pad and publishes nothing: with it alone, nothing can move. While teleop
runs beside it, the pad moves the arm as ever. It needs no window. Examples:

  alpha5-pad list
  alpha5-pad show --topic /alpha5/joy
  alpha5-pad make my_pad            writes my_pad.yaml here
  alpha5-pad check my_pad.yaml
  alpha5-pad show --profile ./my_pad.yaml
"""


@quiet
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except KeyboardInterrupt:
        print("\nalpha5-pad: left", file=sys.stderr)
        return INTERRUPTED
    except ProfileError as error:
        print(f"alpha5-pad: {error}", file=sys.stderr)
        return NOT_IN_ORDER
    except ValueError as error:
        print(f"alpha5-pad: {error}", file=sys.stderr)
        return WRONG_USE
    return code


def _list(_: argparse.Namespace) -> int:
    for profile in profiles.shipped():
        node = profile.node or "any node"
        modes = ", ".join(mode.value for mode in profile.modes)
        print(f"{profile.name:<26} {node:<21} {live.lengths(profile):<36} {modes}")
    print(f"\nThey are in {profiles.folder()}")
    return 0


def _check(options: argparse.Namespace) -> int:
    code = 0
    for file in options.files:
        try:
            profile = profiles.find(str(Path(file).absolute()))
        except ProfileError as error:
            print(error, file=sys.stderr)
            code = NOT_IN_ORDER
        else:
            print(f"{file}: in order; for {live.lengths(profile)}")
    return code


def _schema(_: argparse.Namespace) -> int:
    print(schema.text(), end="")
    return 0


def _show(options: argparse.Namespace) -> int:
    auto = options.profile == profiles.AUTO
    profile = None if auto else profiles.find(options.profile)
    detector = Detector(profiles.shipped())
    note = f"waiting for a pad on {options.topic}" if auto else ""
    frames, drawn = 0, float("-inf")
    with listening(options.topic, options.namespace) as ear, screen.view() as view:
        view.show([], note or f"waiting for a pad on {options.topic}")
        while options.frames is None or frames < options.frames:
            for frame in ear.hear(LOOP_PERIOD):
                frames += 1
                now = time.monotonic()
                if auto and profile is None:
                    profile, note = _found(detector.see(frame, now), note)
                elif profile is not None:
                    note = live.misfit(profile, frame) or f"profile {profile.name}"
                is_last = options.frames is not None and frames >= options.frames
                if is_last or now - drawn >= REDRAW:
                    drawn = now
                    view.show(live.rows(frame, profile), note)
    return 0


def _found(seen: Profile | Problem | None, note: str) -> tuple[Profile | None, str]:
    if isinstance(seen, Profile):
        return seen, f"profile {seen.name}"
    return None, note if seen is None else f"{seen.code}: {seen.reason}"


def _make(options: argparse.Namespace) -> int:
    is_path = "/" in options.name or options.name.endswith(profiles.SUFFIX)
    path = Path(options.name if is_path else f"{options.name}{profiles.SUFFIX}")
    if path.exists():
        raise ValueError(f"{path} exists; give another name, or remove it")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent}; make it first")
    with listening(options.topic, options.namespace) as ear:
        guide = Guide(time.monotonic())
        lines = screen.Lines()
        _tell(guide.start())
        while guide.calibration is None and not guide.has_left:
            for frame in ear.hear(LOOP_PERIOD):
                _tell(guide.on_frame(frame, time.monotonic()))
            for line in lines.read():
                _tell(guide.answer(line, time.monotonic()))
            _tell(guide.tick(time.monotonic()))
    if guide.calibration is None:
        return NOT_IN_ORDER
    text = profile_text(path.stem, guide.calibration)
    load(text)
    _write(path, text)
    print(f"{path} is written. Look at what it does with: {_show_command(path, options)}")
    print(f"teleop takes it with the parameter profile:={path.absolute()}")
    return 0


def _show_command(path: Path, options: argparse.Namespace) -> str:
    """Return the command that shows the profile with the pad that it was made with."""
    words = ["alpha5-pad", "show"]
    for name, default in LISTENED.items():
        if (given := getattr(options, name)) != default:
            words += [f"--{name}", given]
    # Without a slash it would be the name of a profile that is installed.
    file = str(path) if path.is_absolute() else f"./{path}"
    return shlex.join([*words, "--profile", file])


def _tell(said: list[Say]) -> None:
    for say in said:
        key = f"[{say.key}] " if say.key else ""
        print(f"{say.tone.value} {key}{say.text}", flush=True)


def _write(path: Path, text: str) -> None:
    """Write the file whole or not at all, and over no other.

    Raises:
        ValueError: it cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.link(file.name, path)
    except OSError as error:
        raise ValueError(f"{path} was not written: {error}") from error


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alpha5-pad",
        description="Shows what a gamepad does, checks its profile, and makes one.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    listed = commands.add_parser("list", help="profiles that come with the package")
    listed.set_defaults(run=_list)

    check = commands.add_parser("check", help="say what is wrong in profiles, all of it at once")
    check.add_argument("files", nargs="+", metavar="FILE", help="a profile (YAML)")
    check.set_defaults(run=_check)

    printed = commands.add_parser("schema", help="print the format as JSON Schema, for editors")
    printed.set_defaults(run=_schema)

    show = commands.add_parser("show", help="what each axis and button does now")
    _listens(show)
    show.add_argument(
        "--profile",
        default=profiles.AUTO,
        help="name or path; default: found out from the first frames",
    )
    show.add_argument("--frames", type=_positive, help="leave after so many frames")
    show.set_defaults(run=_show)

    make = commands.add_parser(
        "make", help="ask for each control in turn and write a profile that does so"
    )
    _listens(make)
    make.add_argument("name", metavar="NAME", help="name of the profile, or path of the file")
    make.set_defaults(run=_make)
    return parser


def _listens(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--topic", default=LISTENED["topic"], help="topic of the pad; default: %(default)s"
    )
    parser.add_argument(
        "--namespace",
        default=LISTENED["namespace"],
        help="where the topic is; default: %(default)s",
    )


if __name__ == "__main__":
    raise SystemExit(main())
