"""Task files of UltraEval: JSON in, TaskSpecs out.

`config_files` reads tasks and names them as UltraEval does, `convert_config` turns them into TaskSpecs with the help of
`sampling_presets` and `reply_pipelines`, and `postprocess` is what transforms import. All reasons against an import are
named in one `Unsupported`.
"""
