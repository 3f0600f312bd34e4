"""Situations of voice, video, TCP and queues whose answer is known before anything is run."""
