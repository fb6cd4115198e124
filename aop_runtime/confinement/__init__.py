"""Running code that nobody vouches for: limits, a wall of namespaces around it, and nothing left behind."""
