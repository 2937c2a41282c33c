"""Task files of lm-evaluation-harness, read as they are: YAML in, TaskSpecs out.

`reading` resolves includes, `shelf` finds tasks, groups and tags by name, `converting` turns one task's fields into a
TaskSpec with the help of `asking` and `templates` (what is asked), `rows` (where rows and examples are), `judging`
(filters) and `measuring` (metrics). What cannot be done is named, all of it, in one `Unsupported`.
"""
