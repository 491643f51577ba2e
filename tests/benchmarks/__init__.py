"""Programs under benchmarks/ that others rely on."""
