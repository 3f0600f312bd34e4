//! What the receiver makes of it. Each measure is defined here, once, with its equation; simulator, live runs and studies use it.
