"""Pages in one file, to keep and to send round."""
