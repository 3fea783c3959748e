"""What a model's throughput counts; needs no framework, so that tables can ask."""

NOT_IMAGES = frozenset({"mnist_mlp", "imdb_bilstm", "lstm_text", "tweet_bilstm"})


def unit_of(model: str) -> str:
    """`images`, or `samples` where a sample is no image."""
    return "samples" if model in NOT_IMAGES else "images"
