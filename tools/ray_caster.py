"""A small ray caster for primitives, so that the arm can be drawn on any machine.

Cylinders and boxes are found exactly, without meshes. Rays are parallel all along: for the camera,
for a key light, and for a dome of dimmer ones. Each pass shifts the pixels and moves the lights a
little; the mean of the passes has smooth edges and soft shadows.
"""

import math
from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin

Array = np.ndarray

TILE = 32  # px; divides the size of every picture
KEY_LIGHT = np.array([-0.45, -0.60, 0.95])
KEY_POWER, DOME_POWER = 0.62, 0.80
FLOOR_COLOUR = np.array([0.93, 0.945, 0.96])


def unit(vector: Array) -> Array:
    """Scale to length 1 along the last axis."""
    return vector / np.linalg.norm(vector, axis=-1, keepdims=True)


@dataclass(frozen=True, slots=True)
class Solid:
    """One primitive in the world: shape of coal, pose [m], linear RGB 0..1."""

    shape: coal.ShapeBase
    pose: pin.SE3
    colour: Array

    @property
    def reach(self) -> float:
        """Radius of the sphere about its origin that holds it [m]."""
        if isinstance(self.shape, coal.Box):
            return float(np.linalg.norm(self.shape.halfSide))
        return math.hypot(self.shape.radius, self.shape.halfLength)

    def hit(self, origins: Array, direction: Array) -> tuple[Array, Array]:
        """Where rays enter it: distances (N,) [m], inf for a miss, and outward normals (N, 3)."""
        rotation = self.pose.rotation
        start = (origins - self.pose.translation) @ rotation
        heading = direction @ rotation
        if isinstance(self.shape, coal.Box):
            near, normals = hit_box(start, heading, self.shape.halfSide)
        else:
            near, normals = hit_cylinder(start, heading, self.shape.radius, self.shape.halfLength)
        return near, normals @ rotation.T


def hit_slab(start: Array, heading: Array, half: Array) -> tuple[Array, Array]:
    """Entry and exit distance of rays through |coordinate| <= half, one column per coordinate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = (-half - start) / heading, (half - start) / heading
    return np.minimum(one, two), np.maximum(one, two)


def hit_box(start: Array, heading: Array, half: Array) -> tuple[Array, Array]:
    """Rays against a box about the origin."""
    enter, leave = hit_slab(start, heading, half)
    side = np.argmax(enter, axis=1)
    near = np.take_along_axis(enter, side[:, None], axis=1)[:, 0]
    normals = -np.sign(heading)[side][:, None] * np.eye(3)[side]
    return np.where((near <= leave.min(axis=1)) & (near > 0.0), near, np.inf), normals


def hit_cylinder(start: Array, heading: Array, radius: float, half: float) -> tuple[Array, Array]:
    """Rays against a cylinder about z."""
    a = max(float(heading[:2] @ heading[:2]), 1e-12)
    b = start[:, :2] @ heading[:2]
    root = b * b - a * (np.einsum("ij,ij->i", start[:, :2], start[:, :2]) - radius * radius)
    span = np.sqrt(np.maximum(root, 0.0))
    side, far = (-b - span) / a, (-b + span) / a
    cap, out = (c[:, 0] for c in hit_slab(start[:, 2:], heading[2:], np.array([half])))
    near = np.maximum(side, cap)
    found = (root > 0.0) & (near <= np.minimum(far, out)) & (near > 0.0)
    normals = np.zeros_like(start)
    wall = side >= cap
    normals[wall, :2] = (start[wall, :2] + side[wall, None] * heading[:2]) / radius
    normals[~wall, 2] = -math.copysign(1.0, heading[2])
    return np.where(found, near, np.inf), normals


def trace(solids: list[Solid], origins: Array, direction: Array) -> tuple[Array, Array, Array]:
    """First surface along parallel rays: distance (N,), normal (N, 3), index of the solid (N,).

    Neighbours in `origins` should be neighbours in space: rays are taken TILE * TILE at a time,
    and solids whose sphere such a bundle misses are left out.
    """
    distance = np.full(len(origins), np.inf)
    normal, which = np.zeros_like(origins), np.full(len(origins), -1)
    across = np.linalg.svd(direction[None])[2][1:].T  # two axes at right angles to the rays
    flat = origins @ across
    centres = np.array([solid.pose.translation for solid in solids]) @ across
    reaches = np.array([solid.reach for solid in solids])
    for first in range(0, len(origins), TILE * TILE):
        bundle = slice(first, first + TILE * TILE)
        low, high = flat[bundle].min(axis=0), flat[bundle].max(axis=0)
        gap = np.linalg.norm(centres - np.clip(centres, low, high), axis=1)
        for index in np.flatnonzero(gap < reaches):
            near, normals = solids[index].hit(origins[bundle], direction)
            better = near < distance[bundle]
            distance[bundle][better] = near[better]
            normal[bundle][better] = normals[better]
            which[bundle][better] = index
    return distance, normal, which


@dataclass(frozen=True, slots=True)
class Camera:
    """A camera with parallel rays.

    Attributes:
        target: point in the middle of the picture [m].
        azimuth, elevation: where the camera stands, seen from the target [rad].
        width, height: picture [px].
        scale: [px/m].
    """

    target: Array
    azimuth: float
    elevation: float
    width: int
    height: int
    scale: float

    @property
    def axes(self) -> Array:
        """Rows: right, up, and forward (into the picture)."""
        ca, sa = math.cos(self.azimuth), math.sin(self.azimuth)
        ce, se = math.cos(self.elevation), math.sin(self.elevation)
        return np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [-ce * ca, -ce * sa, -se]])

    def rays(self, shift: Array) -> Array:
        """Start of each pixel's ray (height * width, 3), tile by tile; shift (2,) [px]."""
        right, up, forward = self.axes
        u = (np.arange(self.width) + shift[0] - self.width / 2) / self.scale
        v = (self.height / 2 - np.arange(self.height) - shift[1]) / self.scale
        plane = u[None, :, None] * right + v[:, None, None] * up
        tiles = plane.reshape(self.height // TILE, TILE, self.width // TILE, TILE, 3)
        return tiles.swapaxes(1, 2).reshape(-1, 3) + self.target - 2.0 * forward

    def picture(self, colours: Array) -> Array:
        """Colours (height * width, 3) in the order of the rays, as an image (height, width, 3)."""
        tiles = colours.reshape(self.height // TILE, self.width // TILE, TILE, TILE, 3)
        return tiles.swapaxes(1, 2).reshape(self.height, self.width, 3)

    def project(self, point: Array) -> Array:
        """Pixel (2,) of a point."""
        right, up, _ = self.axes
        away = point - self.target
        return np.array(
            [self.width / 2 + away @ right * self.scale, self.height / 2 - away @ up * self.scale]
        )


def studio(direction: Array) -> Array:
    """Brightness (N,) that a mirror shows of a room with soft boxes, looking this way (N, 3)."""
    up = direction[:, 2]
    sky = 0.10 + 0.30 * np.clip(up, 0.0, 1.0)
    box = np.clip((up - 0.50) / 0.12, 0.0, 1.0) * np.clip((0.93 - up) / 0.12, 0.0, 1.0)
    strip = np.clip(
        1.0 - np.abs(direction @ unit(np.array([-0.7, -0.4, 0.1])) - 0.86) / 0.07, 0, 1
    )
    return sky + 0.9 * box + 1.1 * strip


def render(solids: list[Solid], camera: Camera, floor: float, passes: int) -> Array:
    """Picture (height, width, 3) in sRGB 0..1 of solids on a floor at the given z [m]."""
    draws = np.random.default_rng(0)
    forward = camera.axes[2]
    colours = np.array([solid.colour for solid in solids])
    total = np.zeros((camera.height * camera.width, 3))
    for index in range(passes):
        rays = camera.rays(draws.uniform(size=2))
        distance, normal, which = trace(solids, rays, forward)
        to_floor = (floor - rays[:, 2]) / forward[2]
        ground = distance > to_floor
        distance = np.where(ground, to_floor, distance)
        normal[ground] = (0.0, 0.0, 1.0)
        albedo = np.where(ground[:, None], FLOOR_COLOUR, colours[which])

        points = rays + distance[:, None] * forward + 1e-5 * normal
        key = unit(KEY_LIGHT + 0.12 * draws.normal(size=3))
        turn, rise = 2.39996 * index, math.asin(math.sqrt((index + 0.5) / passes))
        dome = np.array(
            [math.cos(turn) * math.cos(rise), math.sin(turn) * math.cos(rise), math.sin(rise)]
        )
        lit = np.zeros(len(points))
        for light, power in ((key, KEY_POWER), (dome, DOME_POWER)):
            facing = np.clip(normal @ light, 0.0, 1.0)
            free = facing > 0.0
            free[free] = np.isinf(trace(solids, points[free], light)[0])
            # The floor shows shadows only: full light on it is 1, whatever the angle.
            share = np.where(ground, power / (KEY_POWER + DOME_POWER), power * facing)
            lit += np.where(free, share, 0.0)
        colour = albedo * np.where(ground, 0.35 + 0.65 * lit, 0.16 + 1.25 * lit)[:, None]

        part = ~ground
        cosine = np.clip(-(normal[part] @ forward), 0.0, 1.0)
        mirror = forward + 2.0 * cosine[:, None] * normal[part]
        gloss = 0.055 + 0.5 * (1.0 - cosine) ** 5
        sheen = 0.30 * albedo[part] + gloss[:, None]
        colour[part] += sheen * studio(mirror)[:, None]
        total += colour
    linear = np.clip(total / passes, 0.0, 1.0)
    srgb = np.where(linear < 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return camera.picture(srgb)
