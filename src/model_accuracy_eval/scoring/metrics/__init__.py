"""How an answer is compared with the right one; one table of them all."""
