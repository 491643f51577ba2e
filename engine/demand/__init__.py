"""What is asked of the servers: classes, lengths, arrivals, predictions."""
