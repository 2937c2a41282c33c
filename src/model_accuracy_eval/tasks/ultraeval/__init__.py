"""UltraEval's task files, read as they are: JSON in, TaskSpecs out.

`configs` reads one task or a list of them and names them as UltraEval does, `sampling` and `judging` turn the parts of
a task into ours, `converting` the whole, and `finding` knows what a file or a name stands for. What cannot be done is
named, all of it, in one `Unsupported`. `programs` and `postprocess` are what rows and transforms need later.
"""
