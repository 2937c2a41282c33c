"""The client of the service that is evaluated."""
