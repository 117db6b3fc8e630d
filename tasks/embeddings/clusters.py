"""Clusters of vectors, by linkage from the nearest pair upwards.

SciPy does the linkage that scikit-learn would ask it for, and loads in a third of the time.
"""

import numpy as np
from numpy.typing import NDArray


def clusters_below(vectors: NDArray[np.floating], similarity: float) -> NDArray[np.intp]:
    """Clusters of which no two have a mean cosine of `similarity` or more; a label each row.

    Takes 8 bytes per pair of rows.
    """
    if len(vectors) < 2:
        return np.zeros(len(vectors), dtype=np.intp)
    from scipy.cluster.hierarchy import fcluster, linkage  # takes half a second to load

    tree = linkage(vectors, "average", "cosine")
    return np.asarray(fcluster(tree, 1.0 - similarity, criterion="distance") - 1, dtype=np.intp)


def clusters_by_count(
    vectors: NDArray[np.floating], count: int, method: str, metric: str
) -> list[int]:
    """`count` clusters, or one for each row where there are fewer; a label each row.

    Args:
        method: of linkage, as SciPy calls it; so is `metric`, of distance.
    """
    if min(count, len(vectors)) < 2:
        return [0] * len(vectors)
    from scipy.cluster.hierarchy import cut_tree, linkage  # takes half a second to load

    labels = cut_tree(linkage(vectors, method, metric), min(count, len(vectors)))
    return [int(label) for label in labels[:, 0]]
