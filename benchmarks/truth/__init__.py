"""Measured servers beside what the project says of them (docs/engines.md)."""
