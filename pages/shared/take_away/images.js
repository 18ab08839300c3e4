// A picture as a PNG or SVG file, made in the browser from what is drawn there: a chart by plotly itself, the grid of
// heads from its numbers (grid_svg.js).

const SCALE = 2; // of a PNG: sharp on paper, too
const LARGEST = 8000; // pixels of a PNG, either way

export default function images({ parentElement: root, data: [data] }) {
  let row = root.querySelector(".root");
  if (!row) {
    row = add(root, "div", "root");
    for (const format of ["png", "svg"]) {
      const button = add(row, "button", "button");
      button.type = "button";
      button.addEventListener("click", () => save(button, format));
    }
  }
  ["png", "svg"].forEach((format, i) => {
    const button = row.children[i];
    button.data = data;
    setText(button, data.words[format]);
  });
}

async function save(button, format) {
  const { chart, file, title } = button.data;
  const place = document.querySelector(`.st-key-${chart.replace(/[^\w-]/g, "-")}`);
  const figure = place?.querySelector(".js-plotly-plot");
  const grid = [...(place?.querySelectorAll("*") ?? [])].find((node) => node.shadowRoot?.headGrid)?.shadowRoot.headGrid;
  if (!figure && !grid) return;
  const style = getComputedStyle(button);
  const ground = style.getPropertyValue("--st-background-color"); // what is transparent on the page has it in a file
  const link = document.createElement("a");
  link.href = figure
    ? await chartUrl(figure, format, ground)
    : await gridUrl(gridSvg(grid, { title, ink: style.color, font: style.fontFamily, ground }), format);
  link.download = `${file}.${format}`;
  link.click();
}

function chartUrl(figure, format, ground) {
  const { width, height } = figure._fullLayout;
  const layout = { ...figure.layout, paper_bgcolor: ground };
  const scale = format === "png" ? SCALE : 1;
  return window.Plotly.toImage({ data: figure.data, layout }, { format, width, height, scale });
}

async function gridUrl({ text, width, height }, format) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  if (format === "svg") return url;
  const image = new Image();
  image.src = url;
  await image.decode();
  const ratio = Math.min(SCALE, LARGEST / Math.max(width, height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL();
}
