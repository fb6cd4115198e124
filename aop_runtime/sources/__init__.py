"""Where tools come from. Each module makes the same thing of a grant: `Tool`s."""
