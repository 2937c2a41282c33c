"""Files of saved replies, whichever tool wrote them: how each shape is recognised by its content, and read."""
