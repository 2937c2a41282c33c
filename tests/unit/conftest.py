"""Property tests on shared machines: no deadline for a single example, and the same examples every time in CI."""

from hypothesis import HealthCheck, settings

settings.register_profile("shared", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")
