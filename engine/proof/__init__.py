"""The mathematics under the bounds: dual functions, their ascent, the integer program."""
