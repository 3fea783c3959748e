"""A script of one's own as it is described: what is refused, what is filled in, and what its steps count."""

from pathlib import Path

import pytest
from sweetspot.cells import Cell
from sweetspot.errors import UserError
from sweetspot.study.scripts import Script, load_script, script_names

CELL = Cell("here", "command", "mine", 16, 4, "bf16", "ddp")
PLAIN = "command: python train.py --batch {batch_size} --gpus {gpus}\nsteps: {pattern: 'step'}\n"


def load(folder, text):
    file = folder / "commands" / "mine.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return load_script(file)


def test_values_are_filled_into_arguments_not_into_a_shell():
    script = Script(command="prog '{batch_size} {gpus}' {precision}", precisions={"bf16": "a b; c"}, steps="keras")
    values = script.values(CELL, 3, "/tmp/x")
    assert script.argv(values) == ["prog", "16 4", "a b; c"]
    shell = Script(command="prog {precision} | tee log", shell=True, precisions={"bf16": "a b; c"}, steps="keras")
    assert shell.argv(values | {"precision": "a b; c"}) == ["/bin/sh", "-c", "prog 'a b; c' | tee log"]
    every = Script(command="{global_batch_size} {variant} {run} {scratch} {x-1} {}", steps="keras")
    assert every.argv(values) == ["64", "ddp", "3", "/tmp/x", "{x-1}", "{}"]


@pytest.mark.parametrize(
    ("product", "samples"),
    [
        ("{batch_size} * {gpus}", 64),
        ("{global_batch_size}*1024", 65_536),
        ("8", 8),
        (2048, 2048),
        ("{batch_size} * 3 * {gpus}", 192),
    ],
)
def test_samples_of_a_step_are_a_product(product, samples):
    assert Script(command="x", samples_per_step=product, steps="keras").samples(CELL) == samples


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("command: x\n", ["key 'steps' is missing"]),
        ("command: x --b {batch}\nsteps: keras\n", ["{batch_size}", "found {batch}"]),
        ("command: [x]\nshell: true\nsteps: keras\n", ["command as one text, since shell is true"]),
        ("command: x 'y\nsteps: keras\n", ["quotes end"]),
        ("command: ' '\nsteps: keras\n", ["names a program"]),
        ("command: x\nsteps: {pattern: '(('}\n", ["a regular expression"]),
        ("command: x\nsteps: {pattern: '(?P<speed>x)'}\n", ["found speed"]),
        ("command: x\nsamples_per_step: '{batch_size} + 1'\nsteps: keras\n", ["product of whole numbers"]),
        ("command: x\nsamples_per_step: '{precision}'\nsteps: keras\n", ["product of whole numbers"]),
        ("command: x\nenvironment: {'A=B': c}\nsteps: keras\n", ["environment", "A=B"]),
        ("command: x\nprecisions: {fp64: double}\nsteps: keras\n", ["precisions", "fp64"]),
        ("command: x\nfile: y\nsteps: keras\n", ["key 'file' is unknown"]),
    ],
)
def test_a_description_that_means_nothing_is_refused_with_its_file(tmp_path, text, words):
    with pytest.raises(UserError) as caught:
        load(tmp_path, text)
    message = "\n".join(caught.value.sentences)
    assert message.startswith(str(tmp_path / "commands" / "mine.yaml"))
    for word in words:
        assert word in message


def test_another_meaning_has_another_digest_and_another_title_has_not(tmp_path):
    plain = load(tmp_path, PLAIN)
    assert plain.digest() == load(tmp_path, PLAIN + "title: Mine\n").digest()
    assert plain.digest() == load(tmp_path, PLAIN + "# a remark\n").digest()
    assert plain.digest() != load(tmp_path, PLAIN.replace("--batch", "--size")).digest()
    assert plain.digest() != load(tmp_path, PLAIN + "unit: tokens\n").digest()
    assert (script_names(tmp_path), script_names(Path("nowhere"))) == (["mine"], [])
    assert plain.told() == {"batch_size", "gpus"}
