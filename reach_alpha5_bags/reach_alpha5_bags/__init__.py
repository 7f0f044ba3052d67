"""A dive as a file: what is recorded, how it is recorded, read, played and reported."""
