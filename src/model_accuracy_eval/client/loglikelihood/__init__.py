"""Log-likelihoods of given texts and of option letters, by whichever method a service supports."""
