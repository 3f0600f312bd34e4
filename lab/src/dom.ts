// Elements of the page by id. A missing id is a bug, so `find` throws.

export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element with the id ${id}`);
  return found as T;
}

export function setText(id: string, text: string): void {
  find(id).textContent = text;
}

/** Shows a button as pressed or not. */
export function setPressed(button: HTMLElement, isPressed: boolean): void {
  button.setAttribute("aria-pressed", String(isPressed));
}

/** The page's font for a canvas. */
export const canvasFont = (pixels: number): string => `${pixels}px ${getComputedStyle(document.body).fontFamily}`;
