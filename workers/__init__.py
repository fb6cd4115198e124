"""The compiler's stages behind a queue: what is saved is compiled and published, whatever dies in between."""
