// Parts of the page by their ids; each is there, or the page is not what it should be.

export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found as T;
}

export const text = (id: string, words: string): void => {
  find(id).textContent = words;
};
