"""How the arm moves through space: a pure library without ROS, threads, clock or I/O."""
