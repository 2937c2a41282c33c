"""What a runner offers to a step."""
