"""The datasets that have a name: where their rows are, how they are asked, how they are judged. One file each."""
