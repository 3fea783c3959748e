"""A small network by Lightning's Trainer with its bar: a validation and a checkpoint each epoch of 150 steps."""

import sys

import pytorch_lightning
import stopwatch
import torch
from torch.utils.data import DataLoader, TensorDataset


class Small(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(256, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))

    def training_step(self, batch, number):
        return torch.nn.functional.cross_entropy(self.network(batch[0]), batch[1])

    def validation_step(self, batch, number):
        stopwatch.elsewhere()
        self.log("loss", self.training_step(batch, number))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


class Watch(pytorch_lightning.Callback):
    def on_train_batch_start(self, *_):
        stopwatch.begin()

    def on_train_batch_end(self, *_):
        stopwatch.end()


def loaded(count):
    rows = TensorDataset(torch.rand(size * count, 256), torch.randint(10, (size * count,)))
    return DataLoader(rows, batch_size=size)


size = int(sys.argv[1])
saved = pytorch_lightning.callbacks.ModelCheckpoint(sys.argv[2], save_top_k=-1)
trainer = pytorch_lightning.Trainer(max_epochs=1000, accelerator="cpu", logger=False, callbacks=[Watch(), saved])
trainer.fit(Small(), loaded(150), loaded(4))
