"""Every file of a run: the journal of answers, what was found, results, run.json, the manifest."""
