"""All that a person writes, as closed models; YAML as data only."""
