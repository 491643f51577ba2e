"""Beat the scheduler."""


def draw_game() -> None:
    """Soon."""
