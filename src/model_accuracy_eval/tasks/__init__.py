"""What can be evaluated: the table of datasets (`dataset_table`), task files, own questions; and their prompts."""
