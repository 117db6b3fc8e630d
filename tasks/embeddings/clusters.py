"""Hierarchical clusters of vectors.

SciPy is used directly, because scikit-learn takes three times as long to import.
"""

import numpy as np
from numpy.typing import NDArray


def clusters_below(vectors: NDArray[np.floating], similarity: float) -> NDArray[np.intp]:
    """Cluster rows until no two clusters have a mean cosine of `similarity`.

    Return labels. The computation takes 8 bytes per pair of rows.
    """
    if len(vectors) < 2:
        return np.zeros(len(vectors), dtype=np.intp)
    from scipy.cluster.hierarchy import fcluster, linkage  # takes half a second to load

    tree = linkage(vectors, "average", "cosine")
    return np.asarray(fcluster(tree, 1.0 - similarity, criterion="distance") - 1, dtype=np.intp)


def clusters_by_count(
    vectors: NDArray[np.floating], count: int, method: str, metric: str
) -> list[int]:
    """Cluster rows into at most `count` clusters; return labels.

    With fewer rows, each is a cluster.

    Args:
        method, metric: linkage method and distance metric of SciPy.
    """
    if min(count, len(vectors)) < 2:
        return [0] * len(vectors)
    from scipy.cluster.hierarchy import cut_tree, linkage  # takes half a second to load

    labels = cut_tree(linkage(vectors, method, metric), min(count, len(vectors)))
    return [int(label) for label in labels[:, 0]]
