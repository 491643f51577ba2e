"""Schedules of the real vLLM, recorded afresh and held against `engine vllm` (docs/engines.md)."""
