"""The papers' questions on Wi-Fi and in a cell, instead of on wires that lose packets."""

from functools import partial

from fairwave_study.study import from_folder

study = partial(from_folder, __name__)
