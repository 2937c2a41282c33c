"""A run in the formats of other programs: each module makes names and contents of files from an `ExportedRun`."""
