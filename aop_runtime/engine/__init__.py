"""The engine: a phase's agent, and the phases of a procedure one after the other."""
