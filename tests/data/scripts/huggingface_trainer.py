"""A tiny GPT-2 by Hugging Face's Trainer, with its bar and logs as they come, an evaluation and checkpoints."""

import sys

import stopwatch
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

batch = int(sys.argv[1])
model = GPT2LMHeadModel(GPT2Config(vocab_size=200, n_positions=16, n_embd=16, n_layer=1, n_head=1))
texts = [{"input_ids": tokens, "labels": tokens} for tokens in torch.randint(0, 200, (4000, 16))]
arguments = TrainingArguments(
    output_dir=sys.argv[2],
    per_device_train_batch_size=batch,
    max_steps=5000,
    logging_steps=50,
    eval_strategy="steps",
    eval_steps=100,
    save_strategy="steps",
    save_steps=200,
    report_to="none",
    use_cpu=True,
)


class Watch(TrainerCallback):
    def on_step_begin(self, *_, **__):
        stopwatch.begin()

    def on_step_end(self, *_, **__):
        stopwatch.end()

    def on_save(self, *_, **__):
        stopwatch.elsewhere(0)

    def on_evaluate(self, *_, **__):
        stopwatch.elsewhere()


Trainer(model=model, args=arguments, train_dataset=texts, eval_dataset=texts[:32], callbacks=[Watch()]).train()
