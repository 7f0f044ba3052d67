"""One page that tells a dive from its bag: `alpha5-report`.

Read `dive.py` first: it says which topic goes to which accumulator. Each accumulator takes the
messages of its topics one by one, with the time of their recording, and holds a bounded amount of
memory however long the bag is; what it has gathered it gives back as plain values. `page.py` makes
the page of these values.

A message is whatever has the fields of its definition, as `rosbags` and rclpy make it. Times are
seconds since the bag's begin, on the clock of the recorder, if nothing else is said.
"""
