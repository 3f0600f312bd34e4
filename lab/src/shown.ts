// What the page shows, as its panels ask for it.

import type { Engine } from "./engine";
import type { Seen } from "./protocol";

export interface Shown {
  /** Who runs what is asked for. */
  readonly engine: Engine;
  /** The last run; nothing before the first. */
  readonly seen: Seen | undefined;
  /** What is set, as JSON. */
  readonly scenario: string;
  /** What the controls say, in words. */
  readonly settings: string;
}
