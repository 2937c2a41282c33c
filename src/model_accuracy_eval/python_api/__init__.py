"""The Python interface: evaluate a service or an adapter, compare two runs, judge replies that another tool saved.

Nothing here prints, ends the process or installs signal handlers unless it is asked to. Every failure is an
`errors.EvalError` with a sentence and the exit code that the command line would end with.
"""
