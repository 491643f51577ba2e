"""What a gap rests on and is made of: certificates, their words, losses, convergence."""
