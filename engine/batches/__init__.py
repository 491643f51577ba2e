"""Phase 1 of Sorted-F: cut the requests into batches, each as low in F as the solver finds."""
