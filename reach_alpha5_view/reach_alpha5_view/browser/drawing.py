"""Draws shapes and links with viser. What has not changed is not sent again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import viser

from reach_alpha5_view.browser.arm_visual import Place
from reach_alpha5_view.scene.shapes import ORIGIN, UNTURNED, Colour, Kind, Quaternion, Shape

AXES_LENGTH = 0.05
"""m: of the axes of a frame that is shown."""

_Key = tuple[str, int]
_Maker = Callable[[viser.SceneApi, str, Shape], Any]


class Drawing:
    """The picture that every viewer of one server sees."""

    def __init__(self, scene: viser.SceneApi, shown_axes: frozenset[str]) -> None:
        """Begin empty.

        Args:
            scene: where everything is drawn.
            shown_axes: links whose frames are shown as axes.
        """
        self._scene = scene
        self._shown_axes = shown_axes
        self._links: dict[str, tuple[Place, Any]] = {}
        self._shapes: dict[str, dict[_Key, tuple[Shape, Any]]] = {}

    def clear(self) -> None:
        """Take everything away."""
        for layer in list(self._shapes):
            self.draw(layer, ())
        for _, handle in self._links.values():
            handle.remove()
        self._links.clear()

    def move(self, places: Mapping[str, Place]) -> None:
        """Put links where they are; one that is new gets a frame."""
        for name, place in places.items():
            if name not in self._links:
                handle = self._scene.add_frame(
                    f"/{name}",
                    show_axes=name in self._shown_axes,
                    axes_length=AXES_LENGTH,
                    axes_radius=AXES_LENGTH / 30.0,
                    position=place.position,
                    wxyz=_wxyz(place.orientation),
                )
            else:
                before, handle = self._links[name]
                if before == place:
                    continue
                handle.position, handle.wxyz = place.position, _wxyz(place.orientation)
            self._links[name] = place, handle

    def draw(self, layer: str, shapes: Iterable[Shape]) -> None:
        """Show these shapes of a layer and no others. What is in a frame that is unknown is not.

        Args:
            layer: any name; layers are apart from each other.
            shapes: of which no two have the same namespace and number.
        """
        before = self._shapes.get(layer, {})
        now: dict[_Key, tuple[Shape, Any]] = {}
        for shape in shapes:
            maker = _MAKERS.get(shape.kind)
            if maker is None or shape.frame not in self._links:
                continue
            key = shape.namespace, shape.number
            if key in before:
                then, handle = before.pop(key)
                if _at_rest(then) == _at_rest(shape):
                    _move(handle, then, shape)
                    now[key] = shape, handle
                    continue
                handle.remove()
            handle = maker(self._scene, _path(shape), shape)
            _move(handle, _at_rest(shape), shape)
            now[key] = shape, handle
        for _, handle in before.values():
            handle.remove()
        self._shapes[layer] = now


def _move(handle: Any, then: Shape, shape: Shape) -> None:
    if then.position != shape.position:
        handle.position = shape.position
    if then.orientation != shape.orientation:
        handle.wxyz = _wxyz(shape.orientation)


def _at_rest(shape: Shape) -> Shape:
    """Return all of a shape but where it is."""
    return replace(shape, position=ORIGIN, orientation=UNTURNED)


def _path(shape: Shape) -> str:
    return f"/{shape.frame}/{shape.namespace.replace(' ', '_')}/{shape.number}"


def _wxyz(rotation: Quaternion) -> tuple[float, float, float, float]:
    x, y, z, w = rotation
    return w, x, y, z


def _rgb(colour: Colour) -> tuple[int, int, int]:
    red, green, blue = (round(255 * part) for part in colour[:3])
    return red, green, blue


def _opacity(colour: Colour) -> float | None:
    return colour[3] if colour[3] < 1.0 else None


def _box(scene: viser.SceneApi, path: str, shape: Shape) -> Any:
    return scene.add_box(
        path, _rgb(shape.colour), dimensions=shape.size, opacity=_opacity(shape.colour)
    )


def _sphere(scene: viser.SceneApi, path: str, shape: Shape) -> Any:
    return scene.add_icosphere(
        path, 0.5, _rgb(shape.colour), scale=shape.size, opacity=_opacity(shape.colour)
    )


def _cylinder(scene: viser.SceneApi, path: str, shape: Shape) -> Any:
    return scene.add_cylinder(
        path, 0.5, 1.0, _rgb(shape.colour), scale=shape.size, opacity=_opacity(shape.colour)
    )


def _arrow(scene: viser.SceneApi, path: str, shape: Shape) -> Any:
    shaft, head, length = shape.size
    return scene.add_arrows(
        path,
        np.array([shape.points]),
        _rgb(shape.colour),
        shaft_radius=shaft / 2.0,
        head_radius=head / 2.0,
        head_length=length,
    )


def _line_list(scene: viser.SceneApi, path: str, shape: Shape) -> Any:
    points = np.array(shape.points, dtype=np.float32).reshape(-1, 2, 3)
    return _lines(scene, path, shape, points)


def _line_strip(scene: viser.SceneApi, path: str, shape: Shape) -> Any:
    corners = np.array(shape.points, dtype=np.float32)
    return _lines(scene, path, shape, np.stack([corners[:-1], corners[1:]], axis=1))


def _lines(scene: viser.SceneApi, path: str, shape: Shape, points: Any) -> Any:
    return scene.add_line_segments(path, points, _rgb(shape.colour), thickness=shape.size[0])


def _triangles(scene: viser.SceneApi, path: str, shape: Shape) -> Any:
    corners = np.array(shape.points, dtype=np.float32)
    return scene.add_mesh_simple(
        path,
        corners,
        np.arange(len(corners), dtype=np.uint32).reshape(-1, 3),
        color=_rgb(shape.colour),
        opacity=_opacity(shape.colour),
        flat_shading=True,
        side="double",
        scale=shape.size,
        cast_shadow=False,
    )


def _text(scene: viser.SceneApi, path: str, shape: Shape) -> Any:
    return scene.add_label(
        path,
        shape.text,
        font_size_mode="scene",
        font_scene_height=shape.size[2],
        anchor="center-center",
    )


_MAKERS: dict[Kind, _Maker] = {
    Kind.BOX: _box,
    Kind.SPHERE: _sphere,
    Kind.CYLINDER: _cylinder,
    Kind.ARROW: _arrow,
    Kind.LINE_LIST: _line_list,
    Kind.LINE_STRIP: _line_strip,
    Kind.TRIANGLES: _triangles,
    Kind.TEXT: _text,
}
"""How each kind is drawn. A mesh file is where the node that names it runs, not here: none is
drawn."""
