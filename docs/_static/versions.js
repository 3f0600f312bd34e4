// Fills the selector of versions from `versions-list.js`, next to the folders of the versions. Without this file the
// selector stays hidden. A page that another version lacks leads to the start page of that version.
(() => {
  const select = document.getElementById("version");
  const versions = window.fairwaveVersions;
  if (!select || !Array.isArray(versions)) return;
  const root = new URL(select.dataset.root + ".", document.baseURI);
  const current = root.pathname.split("/").filter(Boolean).pop();
  for (const { name } of versions) {
    select.add(new Option(name, name, name === current, name === current));
  }
  select.addEventListener("change", () => {
    const chosen = versions.find(({ name }) => name === select.value);
    const page = chosen.pages.includes(select.dataset.page) ? select.dataset.page : "docs/index.html";
    location.href = new URL(`../${chosen.name}/${page}`, root).href;
  });
  select.parentElement.hidden = false;
})();
