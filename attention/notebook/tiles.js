// The nodes of the grid and how they are filled. Joined in front of head_grid.js, which decides what they show.

const within = (at, count) => Math.max(0, Math.min(count - 1, at));

// Labels for every n-th token, so that there are no more than there is room for; some of them stand upright.
function setLabels(parent, labels, { step, upright }) {
  fill(parent, Math.ceil(labels.length / step), () => make("span"));
  [...parent.children].forEach((label, place) => {
    const index = place * step;
    setText(label, labels[index]);
    label.style.setProperty("--index", index);
    label.classList.toggle("upright", !!upright[index]);
  });
}

const labelOf = (parent, index, { step }) => (index % step === 0 ? parent.children[index / step] : undefined);

function makeSection() {
  const node = make("div", "section");
  node.setAttribute("role", "presentation");
  node.parts = { title: add(node, "div", "section-title"), grid: add(node, "div", "grid") };
  node.parts.grid.setAttribute("role", "presentation");
  return node;
}

function makeTile() {
  const node = make("div", "tile");
  const top = add(node, "div", "top");
  const [title, value] = [add(top, "span", "title"), add(top, "span", "value")];
  const cols = add(node, "div", "cols");
  const middle = add(node, "div", "middle");
  const rows = add(middle, "div", "rows");
  const map = add(middle, "div", "map");
  const canvas = add(map, "canvas");
  add(map, "div", "grid-lines");
  const mark = add(map, "div", "mark");
  node.parts = { title, value, cols, rows, map, canvas, mark, captions: add(node, "div", "captions") };
  return node;
}

function makeCaption() {
  const node = make("div", "caption");
  add(node, "span", "label");
  add(node, "span", "number");
  return node;
}
