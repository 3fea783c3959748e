"""What a model's throughput counts; needs no framework, so that tables can ask."""

from sweetspot.study.transformers import SHAPES

NOT_IMAGES = frozenset({"mnist_mlp", "imdb_bilstm", "lstm_text", "tweet_bilstm"})


def unit_of(model: str) -> str:
    """`images`, or `samples` where a sample is no image; of a transformer what its shape says."""
    if model in SHAPES:
        return SHAPES[model].unit
    return "samples" if model in NOT_IMAGES else "images"
