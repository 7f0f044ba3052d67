"""What the arm keeps out of: changed while the driver runs, saved, there again after a start."""
