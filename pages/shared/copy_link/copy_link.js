// A button that copies the whole address of what is on the screen.

export default function copyLink({ parentElement: root, data: [data] }) {
  let parts = root.parts;
  if (!parts) {
    const row = add(root, "div", "root");
    parts = root.parts = { button: add(row, "button", "button"), field: add(row, "input", "field") };
    parts.told = add(row, "span", "told");
    parts.button.type = "button";
    parts.field.readOnly = true;
    parts.field.hidden = true;
    parts.told.setAttribute("role", "status");
    parts.button.addEventListener("click", () => copy(parts));
  }
  parts.data = data;
  setText(parts.button, data.words.copy);
  parts.field.setAttribute("aria-label", data.words.field);
  parts.field.hidden = true;
  setText(parts.told, "");
}

async function copy(parts) {
  const { words } = parts.data;
  const link = linkOf(parts.data);
  try {
    await navigator.clipboard.writeText(link);
    setText(parts.told, words.copied);
  } catch {
    // There is no clipboard: the page is not from a safe address, or is inside another one that does not allow it.
    parts.field.hidden = false;
    parts.field.value = link;
    parts.field.focus();
    parts.field.select();
    setText(parts.told, words.select);
  }
}

// What Python has said, unless a part of the page that runs by itself has changed the address since.
function linkOf({ link, here }) {
  const there = new URLSearchParams(location.search);
  if (!here || !there.size) return link;
  const settings = new URLSearchParams([...there].filter(([name]) => here.names.includes(name)));
  const known = new URLSearchParams(here.bar);
  settings.sort();
  known.sort();
  return String(settings) === String(known) ? link : `${link.split("?")[0]}?${settings}`;
}
