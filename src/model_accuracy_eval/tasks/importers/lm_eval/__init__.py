"""Task files of lm-evaluation-harness: YAML in, TaskSpecs out.

`yaml_files` resolves includes, `task_groups` finds tasks, groups and tags, and `convert_task` turns one task's fields
into a TaskSpec with the help of `templates` (questions and right answers), `row_sources` (rows and examples) and
`metric_pipelines` (filters and metrics). All reasons against an import are named in one `Unsupported`.
"""
