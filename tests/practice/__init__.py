"""Situations of voice, video, TCP and queues with answers that are known before any run."""
