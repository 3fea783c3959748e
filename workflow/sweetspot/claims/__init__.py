"""What a study's text claims, recomputed from its tables."""
