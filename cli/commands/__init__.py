"""One module a command, each loaded only when its command is run."""
