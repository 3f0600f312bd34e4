// Runs the lab in a frame of a notebook. It opens scenarios that the notebook sets and returns results to the notebook.

function render({ model, el }) {
  const bytes = Uint8Array.from(atob(model.get("page")), (letter) => letter.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: "text/html" }));
  const frame = document.createElement("iframe");
  frame.title = "fairwave lab";
  frame.src = address;
  frame.style.width = "100%";
  frame.style.border = "0";
  frame.style.height = `${model.get("height")}px`;
  frame.allow = "clipboard-write; microphone";
  el.append(frame);
  const open = () => frame.contentWindow.postMessage({ fairwave: { open: model.get("scenario") } }, "*");
  const heard = (event) => {
    if (event.source !== frame.contentWindow || !event.data.fairwave) return;
    model.set("result", event.data.fairwave);
    model.save_changes();
  };
  addEventListener("message", heard);
  model.on("change:scenario", open);
  return () => {
    removeEventListener("message", heard);
    URL.revokeObjectURL(address);
  };
}

export default { render };
