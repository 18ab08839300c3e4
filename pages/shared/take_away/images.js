// A picture as a PNG or SVG file, made in the browser from what is drawn there: a chart by plotly itself, the grid of
// heads from its numbers (grid_svg.js).

const SCALE = 2; // of a PNG: sharp on paper, too
const LARGEST = 8000; // pixels of a PNG, either way
const EDGE = 8; // px around the title of a chart, and the height of its lines
const LINE = 20;

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
  const look = { title, ink: style.color, font: style.fontFamily, ground };
  link.href = await urlOf(figure ? await chartSvg(figure, look) : gridSvg(grid, look), format);
  link.download = `${file}.${format}`;
  link.click();
}

// The chart as plotly draws it, with its title in lines above it.
async function chartSvg(figure, { title, ink, font, ground }) {
  const { width, height } = figure._fullLayout;
  const layout = { ...figure.layout, paper_bgcolor: ground };
  const drawn = await window.Plotly.toImage({ data: figure.data, layout }, { format: "svg", width, height });
  const chart = new DOMParser().parseFromString(await (await fetch(drawn)).text(), "image/svg+xml").documentElement;
  const lines = title ? inLines(title, width - 2 * EDGE, font) : [];
  const above = lines.length ? lines.length * LINE + EDGE : 0;
  const size = { width, height: height + above, viewBox: `0 0 ${width} ${height + above}` };
  const svg = node(null, "svg", { ...size, "font-family": font, "font-size": TYPE.title, fill: ink });
  node(svg, "rect", { width, height: height + above, fill: ground });
  lines.forEach((line, i) => text(svg, line, EDGE, (i + 1) * LINE));
  chart.setAttribute("y", above);
  svg.append(chart);
  return { text: new XMLSerializer().serializeToString(svg), width, height: height + above };
}

// A title that is too wide for one line, broken between words.
function inLines(title, room, font) {
  pen.font = `${TYPE.title}px ${font}`;
  const lines = [""];
  for (const word of title.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (pen.measureText(longer).width <= room || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

async function urlOf({ text, width, height }, format) {
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
