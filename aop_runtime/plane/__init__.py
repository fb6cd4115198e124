"""The tool plane: every call of every tool goes through it, whatever the tool comes from."""
