"""Names for people of networks, frameworks, providers and units, which the files know by keys."""

import re
from collections.abc import Collection, Mapping

from sweetspot.study.frameworks import FRAMEWORKS

NETWORKS = {
    "alexnet": "AlexNet",
    "bert": "BERT",
    "bert_base": "BERT-base",
    "bert_large": "BERT-large",
    "densenet121": "DenseNet-121",
    "dlrm": "DLRM",
    "efficientnet_b0": "EfficientNet-B0",
    "flux1": "FLUX.1",
    "gnmt": "GNMT",
    "googlenet": "GoogLeNet",
    "gpt2": "GPT-2",
    "gpt3": "GPT-3",
    "gpt_small": "GPT (small)",
    "inception3": "Inception v3",
    "inception4": "Inception v4",
    "inceptionv3": "Inception v3",
    "llama2_70b": "Llama 2 70B",
    "llama2_70b_lora": "Llama 2 70B (LoRA)",
    "llama31_405b": "Llama 3.1 405B",
    "llama31_8b": "Llama 3.1 8B",
    "lenet": "LeNet",
    "maskrcnn": "Mask R-CNN",
    "mobilenet": "MobileNet",
    "mobilenet_v2": "MobileNet v2",
    "ncf": "NCF",
    "resnet18": "ResNet-18",
    "resnet34": "ResNet-34",
    "resnet50": "ResNet-50",
    "resnet101": "ResNet-101",
    "resnet152": "ResNet-152",
    "retinanet": "RetinaNet",
    "rgat": "R-GAT",
    "rnnt": "RNN-T",
    "ssd": "SSD",
    "ssd300": "SSD300",
    "tacotron2": "Tacotron 2",
    "transformer_xl_base": "Transformer-XL (base)",
    "transformer_xl_large": "Transformer-XL (large)",
    "transformerxlbase": "Transformer-XL (base)",
    "transformerxllarge": "Transformer-XL (large)",
    "unet3d": "3D U-Net",
    "vgg11": "VGG-11",
    "vgg16": "VGG-16",
    "vgg19": "VGG-19",
    "vit_b16": "ViT-B/16",
    "waveglow": "WaveGlow",
    "xception": "Xception",
}
BY_TOKENS = re.compile(r"(.+)\.(pretrain|full|lora|qlora)\.\d+")  # model, method, tokens of a sequence
METHODS = {"pretrain": "pretraining", "full": "full fine-tuning", "lora": "LoRA", "qlora": "QLoRA", "grpo": "GRPO"}
# Of published figures; frameworks that are measured here say theirs themselves.
OTHER_FRAMEWORKS = {"cntk": "CNTK", "mxnet": "MXNet"}
PROVIDERS = {
    "aws": "Amazon Web Services",
    "azure": "Microsoft Azure",
    "coreweave": "CoreWeave",
    "crusoe": "Crusoe",
    "digital-ocean": "DigitalOcean",
    "digitalocean": "DigitalOcean",
    "gce": "Google Cloud",
    "gcp": "Google Cloud",
    "google": "Google Cloud",
    "hetzner": "Hetzner",
    "hotaisle": "Hot Aisle",
    "hyperstack": "Hyperstack",
    "lambda": "Lambda",
    "leadergpu": "LeaderGPU",
    "nebius": "Nebius",
    "oci": "Oracle Cloud",
    "own": "one's own",
    "paperspace": "Paperspace",
    "runpod": "RunPod",
    "softlayer": "IBM SoftLayer",
    "together": "Together AI",
    "vast": "Vast.ai",
    "vast.ai": "Vast.ai",
    "vastai": "Vast.ai",
    "verda": "Verda",
    "vultr": "Vultr",
}


def model_title(model: str, own: Mapping[str, str] | None = None) -> str:
    """The name for people of a model: the study's `own`, else that of a well-known network, else its key.

    Work by tokens (`token_work.cell_name`) is named by what is done to the model: `LoRA of Llama-3.1-8b`.
    """
    trained = BY_TOKENS.fullmatch(model)
    known = f"{METHODS[trained[2]]} of {trained[1].capitalize()}" if trained else NETWORKS.get(model, model)
    return (own or {}).get(model) or known


def class_title(name: object) -> str:
    """The name for people of a class of jobs: of the network it is called by, `ResNet-50 (urgent)`; else its own."""
    first, *rest = str(name).split(" ", 1)
    return " ".join([model_title(first), *rest])


def unit_in_words(units: Collection[str]) -> str:
    """What a study's speeds count (images, samples, runs, relative units); samples where they count several."""
    if set(units) == {"relative"}:
        return "relative units"
    return "".join(units or {"images"}) if len(units) < 2 else "samples"


def framework_title(framework: str) -> str:
    """The name for people of a framework: a well-known one's, else its key."""
    own = FRAMEWORKS[framework].title if framework in FRAMEWORKS else OTHER_FRAMEWORKS.get(framework)
    return own or framework


def provider_title(provider: str, own: Mapping[str, str] | None = None) -> str:
    """The name for people of a provider: the study's `own`, else a well-known one's, else its key."""
    return (own or {}).get(provider) or PROVIDERS.get(provider, provider)
