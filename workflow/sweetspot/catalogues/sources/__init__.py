"""Where prices of today are published: a module a source, all of one form (`source.Source`)."""
