"""Keras' own loop with its progress bar: a validation and a checkpoint at the end of each epoch of 150 steps."""

import sys

import keras
import numpy as np
import stopwatch

batch = int(sys.argv[1])
network = keras.Sequential([keras.Input((256,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
network.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
images, labels = np.random.rand(batch * 150, 256).astype("float32"), np.random.randint(0, 10, batch * 150)


class Watch(keras.callbacks.Callback):
    def on_train_batch_begin(self, number, logs=None):
        stopwatch.begin()

    def on_train_batch_end(self, number, logs=None):
        stopwatch.end()

    def on_test_batch_end(self, number, logs=None):
        stopwatch.elsewhere()


watched = [Watch(), keras.callbacks.ModelCheckpoint(f"{sys.argv[2]}/last.keras")]
held_out = images[: 4 * batch], labels[: 4 * batch]
network.fit(images, labels, batch, epochs=1000, verbose=1, validation_data=held_out, callbacks=watched)
