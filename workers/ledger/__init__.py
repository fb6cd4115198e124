"""What is true about jobs and documents: every change is one atomic step in Redis (`lua/`)."""
