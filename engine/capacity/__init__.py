"""How much a server carries, how many a load needs, and what they cost (docs/model.md 4)."""
