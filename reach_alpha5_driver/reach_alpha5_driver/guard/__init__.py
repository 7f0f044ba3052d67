"""The guard: a process of its own that stops the arm when the driver dies or hangs."""
