"""What serves: how long a round lasts on it, and how much memory it has."""
