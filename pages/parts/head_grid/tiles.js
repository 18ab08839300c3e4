// The nodes of the grid and how they are filled. Joined in front of head_grid.js, which decides what they show.

const pen = document.createElement("canvas").getContext("2d");

const within = (at, count) => Math.max(0, Math.min(count - 1, at));

function setLabels(parent, labels) {
  fill(parent, labels.length, (index) => {
    const label = make("span");
    label.style.setProperty("--index", index);
    return label;
  });
  labels.forEach((text, i) => setText(parent.children[i], text));
}

function makeSection() {
  const node = make("div", "section");
  node.setAttribute("role", "presentation");
  node.parts = { title: add(node, "div", "section-title"), grid: add(node, "div", "grid") };
  node.parts.grid.setAttribute("role", "presentation");
  return node;
}

function makeTile() {
  const node = make("div", "tile");
  node.setAttribute("role", "radio");
  const top = add(node, "div", "top");
  const [title, value] = [add(top, "span", "title"), add(top, "span", "value")];
  const cols = add(node, "div", "cols");
  const middle = add(node, "div", "middle");
  const rows = add(middle, "div", "rows");
  const map = add(middle, "div", "map");
  const canvas = add(map, "canvas");
  add(map, "div", "lines");
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

function bytes(base64) {
  const letters = atob(base64);
  const array = new Uint8Array(letters.length);
  for (let i = 0; i < array.length; i++) array[i] = letters.charCodeAt(i);
  return array;
}

function putPixels(canvas, pixels, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), width, height);
  canvas.getContext("2d").putImageData(image, 0, 0);
}

function isDark(color) {
  pen.fillStyle = "#ffffff";
  pen.fillStyle = color.trim(); // the browser turns any colour it knows into #rrggbb; others leave it white
  const [red, green, blue] = pen.fillStyle.match(/[\da-f]{2}/gi).map((part) => parseInt(part, 16));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}
