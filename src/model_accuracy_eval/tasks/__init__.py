"""What a task is: its rows, its prompts, its problems; `importers` read other tools' tasks."""
