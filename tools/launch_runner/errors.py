"""What can be wrong with a launch file or with how it was called."""


class LaunchError(Exception):
    """Something that the user has to change; the text says what and where."""


class NotInstalled(LaunchError):
    """A package or a program of one that is not on this machine."""
