"""The file in which the scene outlives the driver, and the files of its meshes."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reach_alpha5_driver.scene.desk import SceneCode, SceneError, check_size
from reach_alpha5_motion.obstacle_file import dump, parse
from reach_alpha5_motion.obstacles import ObstacleError, Scene

LARGEST_FILE = 1_000_000
"""Bytes of an obstacle file. Ours."""

LARGEST_MESHES = 4_000_000
"""Bytes of all meshes of a scene. Ours: they are read and made convex while the arm may move."""

NO_FILE = """\
there is no such file; correct the path, or, to begin with no obstacles, make it of two lines:
version: 1
obstacles: []"""


@dataclass(frozen=True, slots=True)
class LoadedScene:
    """A scene, and what the files of its meshes held when it named them first.

    They are not read again: a file that somebody edits would change what is kept clear of with the
    next change of something else.
    """

    scene: Scene = field(default_factory=Scene)
    meshes: Mapping[str, bytes] = field(default_factory=dict)


class ObstacleStore:
    """Loads and saves the scene of one driver. Not thread-safe."""

    def __init__(self, path: str) -> None:
        """Name the file; nothing is read yet.

        Args:
            path: absolute, or beginning with `~`; symbolic links are followed. Empty: nothing is
                saved.

        Raises:
            ObstacleError: the path is relative: where it leads to would depend on where the driver
                was started.
        """
        self.path: Path | None = None
        self._known: bytes | None = None
        """What the file held when it was last read or written; None: neither was it ever."""
        self._before: bytes | None = None
        """The same before the last `save`."""
        if path:
            expanded = os.path.expanduser(path)
            if not os.path.isabs(expanded):
                raise ObstacleError(
                    f"obstacle_file is {path}; it must be an absolute path, or begin with ~"
                )
            self.path = Path(os.path.realpath(expanded))

    def load(self) -> Scene:
        """Return what is saved; empty if nothing is to be.

        Raises:
            ObstacleError: the file is not there, cannot be read, or is broken: an obstacle that is
                dropped is one that the arm drives into. Every problem is told, one a line.
        """
        if self.path is None:
            return Scene()
        try:
            self._known = self._content()
            scene = parse(self._known.decode())
        except FileNotFoundError:
            raise ObstacleError(NO_FILE) from None
        except OSError as error:
            raise ObstacleError(_words(error)) from error
        except UnicodeDecodeError as error:
            raise ObstacleError(f"is not UTF-8: {error}") from error
        check_size(scene)
        return scene

    def save(self, scene: Scene) -> None:
        """Replace the file as a whole: after a power cut it holds the old scene or this one.

        Raises:
            SceneError: it cannot be written, or somebody else has changed it since it was read or
                written here. It holds what it held before.
        """
        if self.path is None:
            return
        if not self._is_as_known():
            raise SceneError(
                SceneCode.NOT_SAVED,
                f"somebody else has changed {self.path}, or it cannot be read any more; start the "
                "driver again to take it over as it is",
            )
        before = self._known
        try:
            self._put(dump(scene).encode())
        except Exception as error:
            if before is not None and self._known != before:
                with contextlib.suppress(OSError):
                    self._put(before)
            if isinstance(error, OSError):
                raise _not_saved(error) from error
            raise
        self._before = before

    def undo(self) -> None:
        """Make the file again what it was before the last `save`.

        Raises:
            SceneError: that fails.
        """
        if self.path is None or self._before is None:
            return
        try:
            self._put(self._before)
        except OSError as error:
            raise _not_saved(error) from error

    def loaded(self, scene: Scene, before: LoadedScene) -> LoadedScene:
        """Return a scene with the content of each of its mesh files.

        Args:
            scene: the scene; names of files are absolute, or relative to the folder of the
                obstacle file.
            before: the one that stood before; what it has loaded already is not read again.

        Raises:
            SceneError: a file cannot be read, or they are too large; one problem a line.
        """
        contents = {
            name: before.meshes[name] for name in scene.mesh_files if name in before.meshes
        }
        problems = []
        for name in scene.mesh_files:
            if name in contents:
                continue
            try:
                left = LARGEST_MESHES - sum(map(len, contents.values()))
                contents[name] = _read(
                    self._mesh_path(name),
                    left,
                    f"all meshes together may have {LARGEST_MESHES} bytes; {left} are left",
                )
            except (OSError, ValueError) as error:
                problems.append(f"{name}: {_words(error)}")
        if problems:
            raise SceneError(SceneCode.MESH_UNREADABLE, "\n".join(problems))
        return LoadedScene(scene, contents)

    def _mesh_path(self, name: str) -> Path:
        path = Path(name)
        if path.is_absolute():
            return path
        if self.path is None:
            raise ObstacleError(
                "without obstacle_file there is no folder for it; name its whole path"
            )
        return self.path.parent / path

    def _content(self) -> bytes:
        assert self.path is not None
        return _read(self.path, LARGEST_FILE, f"it may have {LARGEST_FILE} bytes")

    def _is_as_known(self) -> bool:
        try:
            return self._content() == self._known
        except (OSError, ObstacleError):
            return False

    def _put(self, content: bytes) -> None:
        """Make the file hold this."""
        assert self.path is not None
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._replace(content)
            self._known = content
            _sync_folder(folder)
        finally:
            os.close(folder)

    def _replace(self, content: bytes) -> None:
        assert self.path is not None
        beside = self.path.with_name(f".{self.path.name}.new")
        try:
            beside.unlink(missing_ok=True)  # left by a driver that was killed
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(beside, flags, 0o600), "wb") as file:
                os.fchmod(file.fileno(), stat.S_IMODE(self.path.stat().st_mode))
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
            raise


def _read(path: Path, most: int, bound: str) -> bytes:
    """Return the content of a regular file: a pipe would keep the node waiting.

    Args:
        path: of the file.
        most: bytes that it may have.
        bound: tells people of them.

    Raises:
        OSError: it cannot be read.
        ObstacleError: it is no regular file, or too large.
        ValueError: its name is none.
    """
    # Not to block is for the pipe; regular files do not care.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ObstacleError("is not a regular file")
        content = file.read(most + 1)
    if len(content) > most:
        raise ObstacleError(f"is too large: {bound}")
    return content


def _sync_folder(folder: int) -> None:
    """Make the names in a folder outlive a power cut, where its file system knows how to."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise


def _words(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def _not_saved(error: OSError) -> SceneError:
    return SceneError(SceneCode.NOT_SAVED, f"{error.filename or 'obstacle_file'}: {_words(error)}")
