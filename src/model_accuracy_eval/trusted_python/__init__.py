"""Python that belongs to tasks and that the user trusts: run in a process of its own, never in ours."""
