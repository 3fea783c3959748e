"""Operations of a step against torch's own counter, on small shapes, for each method. Skipped without torch."""

import pytest
from sweetspot.study.open_models import OpenModel, flop_per_token

torch = pytest.importorskip("torch")
SEQUENCE, RANK = 64, 8
# Width of all heads, width and key-value heads apart; a tied head.
SMALL = {
    "plain": {"layers": 2, "width": 64, "heads": 4, "kv": 4, "head": 16, "inner": 192, "words": 512, "tied": False},
    "grouped": {"layers": 3, "width": 96, "heads": 4, "kv": 2, "head": 32, "inner": 256, "words": 320, "tied": True},
}


class Adapted(torch.nn.Module):
    """A linear map whose weight is frozen, with adapters."""

    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = torch.nn.Linear(base.in_features, RANK, bias=False)
        self.up = torch.nn.Linear(RANK, base.out_features, bias=False)

    def forward(self, values):
        return self.base(values) + self.up(self.down(values))


class Layer(torch.nn.Module):
    """Attention and a gated feed-forward, as in Llama, by matrix products that the counter sees."""

    def __init__(self, shape, adapted):
        super().__init__()
        self.shape, linear = shape, lambda rows, columns: torch.nn.Linear(rows, columns, bias=False)
        width, heads, kv = shape["width"], shape["heads"] * shape["head"], shape["kv"] * shape["head"]
        maps = {"q": (width, heads), "k": (width, kv), "v": (width, kv), "o": (heads, width)}
        told = {name: linear(*sizes) for name, sizes in maps.items()}
        self.attention = torch.nn.ModuleDict({n: Adapted(m) if adapted else m for n, m in told.items()})
        inner = shape["inner"]
        self.gate, self.up, self.down = linear(width, inner), linear(width, inner), linear(inner, width)

    def forward(self, values):
        rows, shape = values.shape[0], self.shape
        heads = lambda name, count: self.attention[name](values).view(rows, count, shape["head"]).transpose(0, 1)  # noqa: E731
        times = shape["heads"] // shape["kv"]
        queries = heads("q", shape["heads"])
        keys, own = (heads(name, shape["kv"]).repeat_interleave(times, 0) for name in "kv")
        scores = torch.softmax(queries @ keys.transpose(1, 2) / shape["head"] ** 0.5, -1)
        values = values + self.attention["o"]((scores @ own).transpose(0, 1).reshape(rows, -1))
        return values + self.down(torch.nn.functional.silu(self.gate(values)) * self.up(values))


def counted(shape, method):
    """Operations of forward and backward of one sequence, each token."""
    from torch.utils.flop_counter import FlopCounterMode

    adapted = method in ("lora", "qlora")
    words = torch.nn.Embedding(shape["words"], shape["width"])
    layers = torch.nn.Sequential(*(Layer(shape, adapted) for _ in range(shape["layers"])))
    head = torch.nn.Linear(shape["width"], shape["words"], bias=False)
    if adapted:
        for part in (words, head):
            part.requires_grad_(False)
        for name, weight in layers.named_parameters():
            weight.requires_grad_("attention" in name and "base" not in name)
    # Adapters of the first layer need no gradient of the words, in PEFT they get one (enable_input_require_grads).
    values = words(torch.arange(SEQUENCE) % shape["words"])
    values = values if values.requires_grad else values.requires_grad_()
    with FlopCounterMode(display=False) as counter:
        head(layers(values)).square().mean().backward()
    trained = counter.get_total_flops()
    if method == "grpo":  # each token is also generated, and its probability asked of the old and the reference policy
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            for _ in range(3):
                head(layers(values))
        trained += counter.get_total_flops()
    return trained / SEQUENCE


@pytest.mark.parametrize("method", ["pretrain", "full", "lora", "qlora", "grpo"])
@pytest.mark.parametrize("name", SMALL)
def test_operations_are_those_that_torch_counts(name, method):
    shape = SMALL[name]
    heads, kv = shape["heads"] * shape["head"], shape["kv"] * shape["head"]
    layer = 2 * shape["width"] * (heads + kv) + 3 * shape["width"] * shape["inner"]
    words = shape["words"] * shape["width"]
    parameters = shape["layers"] * layer + words * (1 if shape["tied"] else 2)
    model = OpenModel(
        name, parameters, parameters, shape["tied"], shape["layers"], shape["width"], shape["heads"], shape["kv"],
        shape["head"], shape["words"], SEQUENCE, "this test",
    )  # fmt: skip
    assert flop_per_token(model, method, SEQUENCE, RANK) == pytest.approx(counted(shape, method), rel=0.01)
