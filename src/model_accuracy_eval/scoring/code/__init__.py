"""Code that a model wrote: read from its reply, put together with its tests, and judged by running it."""
