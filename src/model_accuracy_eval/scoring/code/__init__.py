"""Code that a model wrote: read out of its reply, put together with its tests, judged by what came of running it."""
