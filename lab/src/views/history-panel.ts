// Undo and Redo: buttons and keys.

import type { Address } from "../address";
import { find } from "../dom";
import type { PageStore } from "../state";

export function connectHistoryPanel(store: PageStore, address: Address): void {
  const [undo, redo] = [find<HTMLButtonElement>("undo"), find<HTMLButtonElement>("redo")];
  store.subscribe(["canUndo", "canRedo"], ({ canUndo, canRedo }) => {
    undo.disabled = !canUndo;
    redo.disabled = !canRedo;
  });
  undo.addEventListener("click", () => address.undo());
  redo.addEventListener("click", () => address.redo());
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isText(event.target)) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) address.undo();
    else if (key === "y" || (key === "z" && event.shiftKey)) address.redo();
    else return;
    event.preventDefault();
  });
}

/** Whether the browser undoes input in this element. */
function isText(target: EventTarget | null): boolean {
  if (target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLInputElement && ["text", "number", "search"].includes(target.type);
}
