"""What the library knows of the world, as tables: devices, providers, grids, catalogue names, figures to learn from."""
