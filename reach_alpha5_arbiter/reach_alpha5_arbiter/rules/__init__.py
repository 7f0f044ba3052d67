"""What the arbiter does about each event, one idea a file. All of it works on a `Machine`."""
