"""Clusters of vectors, by linkage from the nearest pair upwards.

SciPy does the linkage that scikit-learn would ask it for, and loads in a third of the time.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, fcluster, linkage

Labels = NDArray[np.intp]


def near_clusters(vectors: NDArray[np.floating], similarity: float) -> Labels:
    """Clusters of which no two have a mean cosine of `similarity` or more; a label each row.

    Takes 8 bytes per pair of rows.
    """
    if len(vectors) < 2:
        return np.zeros(len(vectors), dtype=np.intp)
    tree = linkage(vectors, "average", metric="cosine")
    return np.asarray(fcluster(tree, 1.0 - similarity, criterion="distance") - 1, dtype=np.intp)


def so_many_clusters(
    vectors: NDArray[np.floating], count: int, method: Literal["average cosine", "ward"]
) -> list[int]:
    """`count` clusters, or one for each row where there are fewer; a label each row."""
    if min(count, len(vectors)) < 2:
        return [0] * len(vectors)
    tree = (
        linkage(vectors, "ward")
        if method == "ward"
        else linkage(vectors, "average", metric="cosine")
    )
    labels = cut_tree(tree, n_clusters=min(count, len(vectors)))
    return [int(label) for label in labels[:, 0]]
