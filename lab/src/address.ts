// The page's state in its address, as a history: each change is an entry, so Back, Forward, reload and a copied link work, and Undo
// and Redo are Back and Forward. In a frame (a notebook) the history is kept in memory, and the address of the notebook stays.

import { fromHash, type PageLink, toHash, type View } from "./link";
import type { PageState, PageStore } from "./state";

/** Opens the page's state from an address; `undefined` opens the page's default. */
export type OpenLink = (link: PageLink | undefined) => Promise<void>;

interface Entry {
  position: number;
}

export class Address {
  private position = 0;
  private last = 0;
  /** The hashes of the history, from `first` on. */
  private hashes: string[] = [];
  private current = "";
  /** The latest commit: older ones that still compress are dropped. */
  private commits = 0;
  /** The next commit belongs to the current entry: it comes from opening an address. */
  private isOpening = true;

  constructor(
    private readonly store: PageStore,
    private readonly openLink: OpenLink,
    private readonly isFramed: boolean,
  ) {
    const entry = history.state as Entry | null;
    if (!isFramed && entry && Number.isInteger(entry.position)) this.position = this.last = entry.position;
    this.current = location.hash;
    this.hashes[this.position] = this.current;
    store.subscribe(["toml", "kept", "addedKeys", "lesson"], (state) => void this.commit(state));
    if (!isFramed) addEventListener("popstate", () => void this.arrive(history.state as Entry | null));
  }

  /** Opens the address; false if it holds no scenario or one that cannot be read: then `onProblem` gets the words. */
  async openHash(hash: string, onProblem: (words: string) => void): Promise<boolean> {
    try {
      const link = await fromHash(hash);
      if (!link) return false;
      this.isOpening = true;
      await this.openLink(link);
      return true;
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  /** From now on, changes are entries of the history. */
  begin(): void {
    this.isOpening = false;
    this.renderButtons();
  }

  undo(): void {
    this.move(-1);
  }

  redo(): void {
    this.move(1);
  }

  private move(by: -1 | 1): void {
    const { canUndo, canRedo } = this.store.state;
    if (by < 0 ? !canUndo : !canRedo) return;
    if (!this.isFramed) history.go(by);
    else {
      this.position += by;
      void this.open(this.hashes[this.position] ?? "");
    }
  }

  /** The browser has moved to another entry, or the reader has written another address. */
  private async arrive(entry: Entry | null): Promise<void> {
    if (entry && Number.isInteger(entry.position)) this.position = entry.position;
    else if (location.hash === this.hashes[0]) this.position = 0;
    else {
      this.position++;
      this.last = this.position;
      history.replaceState({ position: this.position }, "");
    }
    this.last = Math.max(this.last, this.position);
    if (location.hash === this.current) this.renderButtons();
    else await this.open(location.hash);
  }

  private async open(hash: string): Promise<void> {
    this.commits++;
    this.current = hash;
    this.hashes[this.position] = hash;
    this.isOpening = true;
    this.renderButtons();
    if (!hash.startsWith("#s=")) await this.openLink(undefined);
    else {
      await this.openHash(hash, (message) => this.store.update({ problem: { message, line: null } }));
    }
    this.isOpening = false;
  }

  private async commit(state: Readonly<PageState>): Promise<void> {
    const commit = ++this.commits;
    const { isOpening } = this;
    if (!state.toml) return;
    const hash = await toHash(state.toml, viewOf(state));
    if (commit !== this.commits || hash === this.current) return;
    // The state at which the page opened without a scenario in its address needs no entry.
    if (isOpening && !this.current.startsWith("#s=")) {
      this.initial = hash;
      return;
    }
    if (hash === this.initial && !this.current.startsWith("#s=")) return;
    this.current = hash;
    if (isOpening) this.write("replace", hash);
    else {
      this.position++;
      this.last = this.position;
      this.write("push", hash);
    }
    this.renderButtons();
  }

  /** The state that belongs to an address without a scenario. */
  private initial: string | undefined;

  private write(how: "push" | "replace", hash: string): void {
    this.hashes[this.position] = hash;
    this.hashes.length = this.last + 1;
    if (this.isFramed) return;
    const entry: Entry = { position: this.position };
    if (how === "push") history.pushState(entry, "", hash);
    else history.replaceState(entry, "", hash);
  }

  private renderButtons(): void {
    this.store.update({ canUndo: this.position > 0, canRedo: this.position < this.last });
  }
}

function viewOf({ kept, addedKeys, lesson }: Readonly<PageState>): View {
  return { kept: kept?.toml, keys: addedKeys, lesson };
}
