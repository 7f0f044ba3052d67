"""What can be wrong with a launch file or with how it was called."""


class LaunchError(Exception):
    """Something that the user has to change; the text says what and where."""
