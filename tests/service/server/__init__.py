"""The server over HTTP: a real one, with a real Valkey and a file store."""
