"""What a reply states as its answer: a number, a formula, a letter, a call of a tool."""
