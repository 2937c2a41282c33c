"""The named steps from a reply to what metrics compare, and how samples are chosen."""
