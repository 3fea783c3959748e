"""What was tried to choose methods and presets: it imports the library, and nothing of the library imports it."""
