"""A small network by PyTorch Lightning's Trainer, with its progress bar and a validation each epoch."""

import sys

import pytorch_lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Small(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))

    def training_step(self, batch, number):
        return torch.nn.functional.cross_entropy(self.network(batch[0]), batch[1])

    def validation_step(self, batch, number):
        self.log("loss", self.training_step(batch, number))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


size = int(sys.argv[1])
data = DataLoader(TensorDataset(torch.rand(size * 300, 256), torch.randint(10, (size * 300,))), batch_size=size)
trainer = pytorch_lightning.Trainer(max_epochs=1000, accelerator="cpu", logger=False, enable_checkpointing=False)
trainer.fit(Small(), data, data)
