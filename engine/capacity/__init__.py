"""How much a server carries, how many servers a load needs, and what they cost (DESIGN 4, 5)."""
