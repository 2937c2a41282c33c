"""An OpenAI-compatible server for one small Llama, in NumPy and the standard library."""
