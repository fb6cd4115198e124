"""The surroundings of the service: settings, logs, probes, metrics, local servers, `aop dev`."""
