"""Many runs of one experiment: what is turned, and what comes of it."""
