"""How large an installation must be: measured costs, a simulation that reproduces what was measured, larger loads."""
