"""A tiny GPT-2 by Hugging Face's Trainer, with its progress bar and logs as they come."""

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

batch = int(sys.argv[1])
model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=64, n_embd=64, n_layer=2, n_head=2))
texts = [{"input_ids": tokens, "labels": tokens} for tokens in torch.randint(0, 1000, (4000, 64))]
arguments = TrainingArguments(
    output_dir=sys.argv[2],
    per_device_train_batch_size=batch,
    max_steps=5000,
    logging_steps=10,
    eval_strategy="steps",
    eval_steps=20,
    report_to="none",
    save_strategy="no",
    use_cpu=True,
)
Trainer(model=model, args=arguments, train_dataset=texts, eval_dataset=texts[:32]).train()
