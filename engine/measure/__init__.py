"""What a run was worth: times, tables, verdicts, and why one request waited."""
