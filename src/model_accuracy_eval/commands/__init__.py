"""One file a command, called as it is typed; `cli` is their door."""
