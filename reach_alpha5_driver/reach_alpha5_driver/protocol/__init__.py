"""The arm's wire, without I/O: frames, a stream decoder, and typed packets in SI units."""
