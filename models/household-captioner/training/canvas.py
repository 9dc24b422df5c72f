"""Drawing: a pinhole camera, and a canvas that keeps beside the colours which object every pixel shows.

Everything is polygons, painted from far to near (painter's algorithm). The
object-id buffer is what makes the captions honest and the training dense: an
object is named only if enough of its pixels are to be seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

import textures
from mesh import Colour, Mesh

SIZE = 256
"""Width and height while drawing; the camera's picture is half of that."""

NEAR = 0.06
"""Polygons with a corner nearer than this, or behind the camera, are left out."""

BACKGROUND, FURNITURE, PERSON, FIRST_OBJECT = 1, 2, 3, 10
"""Object ids; 0 is the wall."""

_SUBPIXEL_BITS = 4

cv2.setNumThreads(1)


class Camera:
    """A pinhole camera that looks from `position` at `target`; `fov` and `roll` in radians."""

    def __init__(self, position: np.ndarray, target: np.ndarray, fov: float, roll: float = 0.0):
        forward = target - position
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, [0, 0, 1])
        right /= np.linalg.norm(right)
        up = np.cross(right, forward)
        c, s = math.cos(roll), math.sin(roll)
        right, up = right * c + up * s, up * c - right * s
        self.position = np.array(position, np.float32)
        self._axes = np.stack([right, -up, forward]).astype(np.float32)
        self._focal = SIZE / 2 / math.tan(fov / 2)

    def project(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pixels (…, 2) and depths (…) of points (…, 3)."""
        seen = (points - self.position) @ self._axes.T
        depth = np.maximum(seen[..., 2], 0.05)
        u = seen[..., 0] * self._focal / depth + SIZE / 2
        v = seen[..., 1] * self._focal / depth + SIZE / 2
        return np.stack([u, v], -1), seen[..., 2]

    def plane(self, origin: Sequence[float], along: Sequence[float], across: Sequence[float]) -> np.ndarray:
        """The homography from (metres along, metres across, 1) on a plane to pixels."""
        columns = [
            self._axes @ np.array(along, np.float32),
            self._axes @ np.array(across, np.float32),
            self._axes @ (np.array(origin, np.float32) - self.position),
        ]
        intrinsics = np.array([[self._focal, 0, SIZE / 2], [0, self._focal, SIZE / 2], [0, 0, 1]], np.float64)
        return intrinsics @ np.stack(columns, 1)


class Canvas:
    """Colours (float, 0 to 255) and object ids of one picture, with the light that falls on everything."""

    def __init__(self, camera: Camera, light: np.ndarray, ambient: float, texture_seed: int | None = None):
        self.camera = camera
        self.light = light
        self.ambient = ambient
        self.image = np.zeros((SIZE, SIZE, 3), np.float32)
        self.ids = np.zeros((SIZE, SIZE), np.uint8)
        self.textures = textures.load() if texture_seed is None else textures.load(texture_seed)

    def brightness(self, normal: Sequence[float]) -> float:
        """How brightly a surface with this normal is lit."""
        facing = max(0.0, float(np.dot(self.light, normal)))
        return self.ambient + (1 - self.ambient) * facing

    def fill(self, pixels: np.ndarray, colour: Colour, object_id: int) -> None:
        """One convex polygon in a flat colour."""
        corners = _fixed_point(pixels)
        cv2.fillConvexPoly(self.image, corners, [float(c) for c in colour], cv2.LINE_8, _SUBPIXEL_BITS)
        cv2.fillConvexPoly(self.ids, corners, object_id, cv2.LINE_8, _SUBPIXEL_BITS)

    def draw(self, mesh: Mesh, object_id: int) -> int:
        """A shaded mesh; returns how many pixels it covers, whether or not something hides them later."""
        pixels, order, colours = self._shade(mesh)
        silhouette = np.zeros((SIZE, SIZE), np.uint8)
        for i in order:
            self.fill(pixels[i], colours[i], object_id)
            cv2.fillConvexPoly(silhouette, _fixed_point(pixels[i]), 1, cv2.LINE_8, _SUBPIXEL_BITS)
        return int(np.count_nonzero(silhouette))

    def _shade(self, mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pixels of all quads, the indices of those to draw from far to near, and all colours as lit."""
        quads = mesh.quads
        pixels, depth = self.camera.project(quads)
        normals = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-9
        to_camera = self.camera.position - quads.mean(1)
        facing = (normals * to_camera).sum(1)
        normals = np.where((facing > 0)[:, None], normals, -normals)
        lit = self.ambient + (1 - self.ambient) * np.clip(normals @ self.light, 0, 1)
        visible = ((facing > 0) | mesh.two_sided) & (depth.min(1) > NEAR)
        order = np.argsort(-np.linalg.norm(to_camera, axis=1))
        return pixels, order[visible[order]], np.clip(mesh.colours * lit[:, None], 0, 255)

    def cover(
        self,
        texture: np.ndarray,
        tint: Colour,
        tile: float,
        plane: np.ndarray,
        pixels: np.ndarray,
        object_id: int,
        brightness: float,
    ) -> None:
        """A polygon with a texture lying on a plane, each repetition `tile` metres wide."""
        x0, y0 = (max(0, int(low) - 1) for low in pixels.min(0))
        x1, y1 = (min(SIZE, int(high) + 2) for high in pixels.max(0))
        if x1 <= x0 or y1 <= y0:
            return
        mask = np.zeros((SIZE, SIZE), np.uint8)
        cv2.fillConvexPoly(mask, _fixed_point(pixels), 1, cv2.LINE_8, _SUBPIXEL_BITS)
        inside = mask[y0:y1, x0:x1] > 0
        to_window = np.array([[1, 0, -x0], [0, 1, -y0], [0, 0, 1]], np.float64)
        to_metres = np.diag([tile / textures.SIZE, tile / textures.SIZE, 1])
        warped = cv2.warpPerspective(
            texture,
            to_window @ plane @ to_metres,
            (x1 - x0, y1 - y0),
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_WRAP,
        )
        colours = warped[..., None] * (np.array(tint, np.float32) * np.float32(brightness))
        np.copyto(self.image[y0:y1, x0:x1], colours, where=inside[..., None])
        self.ids[y0:y1, x0:x1][inside] = object_id

    def cover_level(
        self, x: tuple[float, float], y: tuple[float, float], z: float, texture: np.ndarray, tint: Colour, tile: float
    ) -> None:
        """A level textured rectangle: a table top, a mattress."""
        corners = np.array([(x[0], y[0], z), (x[1], y[0], z), (x[1], y[1], z), (x[0], y[1], z)], np.float32)
        pixels, _ = self.camera.project(corners)
        plane = self.camera.plane((x[0], y[0], z), (1, 0, 0), (0, 1, 0))
        self.cover(texture, tint, tile, plane, pixels, FURNITURE, self.brightness((0, 0, 1)))

    def cast_shadows(self, outlines: list[np.ndarray], darkness: float) -> None:
        """Soft shadows of convex outlines (n, 3) on everything but the wall."""
        shadow = np.zeros((SIZE, SIZE), np.float32)
        for outline in outlines:
            pixels, depth = self.camera.project(outline)
            if depth.min() > NEAR:
                cv2.fillConvexPoly(shadow, _fixed_point(pixels), 1.0, cv2.LINE_8, _SUBPIXEL_BITS)
        shadow = cv2.GaussianBlur(shadow, (0, 0), 3.5) * (self.ids != 0)
        self.image *= (1 - darkness * shadow)[..., None]


def _fixed_point(pixels: np.ndarray) -> np.ndarray:
    return np.round(np.clip(pixels, -3000, 3000) * (1 << _SUBPIXEL_BITS)).astype(np.int32)
