"""What the service does in a second, and what it takes: `make bench-service`."""
