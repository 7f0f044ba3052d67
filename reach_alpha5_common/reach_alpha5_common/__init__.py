"""What every reach_alpha5 package shares: command values, refusals, parameter tables, node life.

The modules `command`, `refusal` and `parameters` are pure. `messages` and `node_life` are the
shell that the nodes share; they are the only modules here that import ROS.
"""
