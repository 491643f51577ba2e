"""Programs that attack a real server or the whole engine for long, and count what breaks."""
