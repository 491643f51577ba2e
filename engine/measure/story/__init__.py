"""Why one request waited: its life in a run, told so that a person can check it."""

from engine.measure.story.in_words import in_words
from engine.measure.story.tell import LostCache, Story, obstacle, tell, waiting_at

__all__ = ["LostCache", "Story", "in_words", "obstacle", "tell", "waiting_at"]
