"""Task files of lm-evaluation-harness, read as they are: YAML in, TaskSpecs out.

`reading` resolves includes, `shelf` finds tasks, groups and tags by name, `converting` turns one task's fields into a
TaskSpec with the help of `templates` (what is asked), `rows` (where rows and examples are) and `judging` (filters and
metrics). What cannot be done is named, all of it, in one `Unsupported`.
"""
