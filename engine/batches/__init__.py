"""Phase 1 of Sorted-F: the requests as a list of batches, each as low in F as its solver finds.

arXiv 2508.06133 defines F(X) = sum of outputs / |X|^2 over batches X whose
peaks s + o add up to at most M. Its text was not available: the solvers are
reconstructed from its abstract and from summaries.
"""
