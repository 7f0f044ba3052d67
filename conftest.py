"""Settings of all tests: no example of Hypothesis is timed, since the machine may be busy."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
