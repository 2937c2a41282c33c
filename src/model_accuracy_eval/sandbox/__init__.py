"""Running code that a model wrote: workers that stay warm, in the strongest isolation that the machine has."""
