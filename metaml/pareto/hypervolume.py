"""The volume that a front dominates, up to a reference point, in two and three dimensions (Zitzler & Thiele 1998)."""

from collections.abc import Iterator

import numpy as np

from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.pareto.dominance import is_non_dominated


def hypervolume(costs: Floats, reference: Floats) -> float:
    """Return the volume between the points and the reference; points beyond it add nothing.

    >>> hypervolume(np.array([[0.0, 2.0], [1.0, 1.0]]), np.array([3.0, 3.0]))
    5.0
    """
    points, reference = _inside(costs, reference)
    if len(reference) == 2:
        return _area(points, reference)
    return float(sum(height * _area(layer, reference[:2]) for layer, height in _layers(points, reference)))


def hypervolume_gains(candidates: Floats, front: Floats, reference: Floats) -> Floats:
    """Return by how much each candidate alone would increase the volume that a front dominates.

    >>> hypervolume_gains(np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([[1.0, 1.0]]), np.array([3.0, 3.0])).tolist()
    [5.0, 0.0]
    """
    points, reference = _inside(front, reference)
    if len(reference) == 2:
        return _area_gains(candidates, points, reference)
    total = np.zeros(len(candidates))
    # Below the lowest point nothing is dominated yet.
    layers = list(_layers(points, reference))
    bottom = points[:, 2].min() if len(points) else reference[2]
    slabs = [(np.empty((0, 2)), -np.inf, bottom)]
    height = bottom
    for layer, thickness in layers:
        slabs.append((layer, height, height + thickness))
        height += thickness
    for layer, low, high in slabs:
        thick = np.clip(high - np.maximum(candidates[:, 2], low), 0.0, None)
        total += thick * _area_gains(candidates[:, :2], layer, reference[:2])
    return total


def _inside(costs: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """Return the non-dominated points inside the reference, each once, and the reference."""
    reference = np.asarray(reference, dtype=np.float64)
    if len(reference) not in (2, 3):
        raise BadRequest(f"A hypervolume is computed in 2 or 3 dimensions, not in {len(reference)}.")
    points = np.asarray(costs, dtype=np.float64).reshape(-1, len(reference))
    points = points[(points < reference).all(axis=1)]
    return np.unique(points[is_non_dominated(points)], axis=0), reference


def _layers(points: Floats, reference: Floats) -> Iterator[tuple[Floats, float]]:
    """Yield slices along the third axis: the two-dimensional points that dominate in it, and how thick it is."""
    points = points[np.argsort(points[:, 2], kind="stable")]
    edges = np.append(points[:, 2], reference[2])
    for n in range(1, len(points) + 1):
        if edges[n] > edges[n - 1]:
            yield points[:n, :2], float(edges[n] - edges[n - 1])


def _steps(points: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """Return the edges of the strips under a two-dimensional front, from left to right, and the height of each."""
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    heights = np.minimum.accumulate(points[:, 1]) if len(points) else points[:, 1]
    return np.append(points[:, 0], reference[0]), heights


def _area(points: Floats, reference: Floats) -> float:
    edges, heights = _steps(points, reference)
    return float((np.diff(edges) * (reference[1] - heights)).sum())


def _area_gains(candidates: Floats, points: Floats, reference: Floats) -> Floats:
    """Return the area between each candidate and the front: the sum over the strips that it reaches."""
    edges, heights = _steps(points, reference)
    left = np.append(-np.inf, edges[:-1])
    tops = np.append(reference[1], heights)
    width = np.clip(edges - np.maximum(candidates[:, :1], left), 0.0, None)
    height = np.clip(tops - candidates[:, 1:2], 0.0, None)
    gains: Floats = (width * height).sum(axis=1)
    return gains
