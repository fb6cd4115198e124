"""Dedicated tools that hand a fence's text to another tool: as TypeScript, or as one argument."""
