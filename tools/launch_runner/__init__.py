"""Run the project's launch files on machines without `ros2 launch`.

The XML is that of stock `launch` and `launch_ros`, read with the same meaning. Whatever this
runner does not implement it refuses by name, so that it cannot drift silently from the real thing.
"""
