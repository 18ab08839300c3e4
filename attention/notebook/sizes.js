// How large everything is: numbers in, numbers out. Joined in front of head_grid.js, which draws with these sizes.
// Lengths are CSS pixels while type has its usual size. A cell measures a whole number of device pixels, so that all cells come out equal.

const NARROW = 520; // below this the grid has two columns
const TIGHT = 112; // below this a head's name and its number stand one below the other
const MAX_CELL = 44;
const MAX_HEIGHT = 320; // of a map
const MIN_HEIGHT = { square: 44, usual: 60 };
const LEAST = 72; // width of a map
const MIN_TILE = 120; // room for the line under a map
const MAX_GUTTER = 76; // room for row labels
const GAP = 12;
const LINES_GAP = 20; // labels at the ends of a line reach out a little
const LABEL = { usual: 14, crowded: 12 }; // font sizes; crowded are more than so many heads or tokens
const CROWDED = { heads: 8, tokens: 12 };
const LINE = 20; // a line of text
const AROUND = 6; // a map and its texts
// Two rows of heads end above the fold of the smallest laptop, where the page has as much above them as this.
const FOLD = { least: 720, above: 340 };
const NO_LABELS = { step: 1, upright: [] };
const LENGTHS = [
  ...["label", "cellWidth", "cellHeight", "mapWidth", "mapHeight", "gap", "gutter", "tileWidth", "titleWidth"],
  ...["labelsHeight", "rowsHeight"],
];
const LARGE_CELL = { width: 64, height: 44, least: 14, together: 440 }; // heights: at most, at least, and of all rows
const COMPACT_MAP = { least: 30, most: 76, click: 24 };

// Sizes of maps with labels. `measure(label, bold)` tells how wide a label is at the usual font size.
function squareSizes({ width, height, heads, rows, cols, measure }) {
  const label = labelSize(heads, rows, cols);
  const widest = Math.max(...rows.map((row) => measure(row, true)));
  const gutter = Math.min(MAX_GUTTER, Math.ceil((widest * label) / LABEL.usual)) + 8;
  const columns = countColumns(width - gutter, heads, cols.length);
  const share = (width - (columns - 1) * GAP) / columns;
  // Row labels stand beside every map where there is room, otherwise beside the first map of each row.
  const everyLabelled = share - gutter >= Math.max(136, Math.min(240, 12 * cols.length));
  const room = everyLabelled ? share - gutter : (width - gutter - (columns - 1) * GAP) / columns;

  let cellWidth = Math.min(MAX_CELL, room / cols.length);
  const ofCols = alongLine(cols, cellWidth, label, measure);
  const labelsHeight = ofCols.height;
  const tight = room < TIGHT;
  const most = mapHeight(width, height, Math.ceil(heads / columns), (tight ? 3 : 2) * LINE + labelsHeight);
  let cellHeight = Math.max(1.4 * cellWidth, Math.min(1.6 * cellWidth, MIN_HEIGHT.square / rows.length));
  if (cellHeight * rows.length > most) {
    cellHeight = most / rows.length;
    cellWidth = Math.min(cellWidth, 1.6 * cellHeight);
  }
  cellWidth = wholePixels(cellWidth);
  cellHeight = wholePixels(cellHeight);
  return {
    columns,
    everyLabelled,
    label,
    ofCols: alongLine(cols, cellWidth, label, measure),
    ofRows: { step: Math.ceil((0.9 * label) / cellHeight), upright: [] },
    cellWidth,
    cellHeight,
    mapWidth: cellWidth * cols.length,
    mapHeight: cellHeight * rows.length,
    gap: GAP,
    gutter,
    tileWidth: Math.max(cellWidth * cols.length, Math.min(room, MIN_TILE)),
    labelsHeight,
  };
}

// Sizes of one map with numbers in its cells, where they can be read: "0.12", shorter ".12", or none.
function largeSizes({ width, rows, cols, measure }) {
  const label = labelSize(1, rows, cols);
  const widest = Math.max(...rows.map((row) => measure(row, true)));
  const gutter = Math.min(MAX_GUTTER, Math.ceil((widest * label) / LABEL.usual)) + 8;
  const cellWidth = wholePixels(Math.min(LARGE_CELL.width, (width - gutter) / cols.length));
  const tall = Math.max(LARGE_CELL.least, LARGE_CELL.together / rows.length);
  const cellHeight = wholePixels(Math.min(LARGE_CELL.height, tall));
  const room = cellHeight < label + 2 ? 0 : ((cellWidth - 4) * LABEL.usual) / label;
  const ofCols = alongLine(cols, cellWidth, label, measure);
  return {
    columns: 1,
    everyLabelled: true,
    label,
    numbered: room >= measure(".00"),
    short: room < measure("0.00"),
    ofCols,
    ofRows: { step: Math.ceil((0.9 * label) / cellHeight), upright: [] },
    cellWidth,
    cellHeight,
    mapWidth: cellWidth * cols.length,
    mapHeight: cellHeight * rows.length,
    gap: 0,
    gutter,
    tileWidth: cellWidth * cols.length,
    labelsHeight: ofCols.height,
  };
}

// Sizes of lines between the keys above and the queries below.
function lineSizes({ width, height, heads, rows, cols, measure }) {
  const label = labelSize(heads, rows, cols);
  const columns = countColumns(width, heads, 0);
  const mapWidth = wholePixels(Math.min(2 * MAX_HEIGHT, (width - (columns - 1) * LINES_GAP) / columns));
  const ofCols = alongLine(cols, mapWidth / cols.length, label, measure);
  const ofRows = alongLine(rows, mapWidth / rows.length, label, measure);
  const text = (mapWidth < TIGHT ? 3 : 2) * LINE + ofCols.height + ofRows.height;
  return {
    columns,
    everyLabelled: true,
    label,
    ofCols,
    ofRows,
    cellWidth: mapWidth / cols.length,
    cellHeight: mapWidth / rows.length, // a query's share of its row of labels
    mapWidth,
    mapHeight: wholePixels(Math.min(0.9 * mapWidth, mapHeight(width, height, Math.ceil(heads / columns), text))),
    gap: LINES_GAP,
    tileWidth: mapWidth,
    labelsHeight: ofCols.height,
    rowsHeight: ofRows.height,
  };
}

// Sizes of the overview: one row of tiny maps per section, its title on the left (above, where it is narrow).
function compactSizes({ width, heads, rows, cols, titles, measure }) {
  const titleWidth = Math.ceil(Math.max(...titles.map((title) => measure(title, true)))) + 18;
  const gap = 8;
  const share = (width - (width < NARROW ? 0 : titleWidth) - (heads - 1) * gap) / heads;
  const side = Math.min(COMPACT_MAP.most, Math.max(COMPACT_MAP.least, share));
  const cell = side / Math.max(cols.length, rows.length);
  const cellWidth = wholePixels(Math.max(cell, COMPACT_MAP.click / cols.length));
  const cellHeight = wholePixels(Math.max(cell, COMPACT_MAP.click / rows.length));
  return {
    columns: heads,
    ofCols: NO_LABELS,
    ofRows: NO_LABELS,
    cellWidth,
    cellHeight,
    mapWidth: cellWidth * cols.length,
    mapHeight: cellHeight * rows.length,
    gap,
    titleWidth,
  };
}

// The same with all lengths `unit` times as long.
function enlarged(sizes, unit) {
  if (unit === 1) return sizes;
  const larger = { ...sizes };
  for (const name of LENGTHS) if (name in sizes) larger[name] = sizes[name] * unit;
  return larger;
}

function labelSize(heads, rows, cols) {
  const crowded = heads > CROWDED.heads || Math.max(rows.length, cols.length) > CROWDED.tokens;
  return crowded ? LABEL.crowded : LABEL.usual;
}

// How tall a map may be for `lines` of heads to stand above the fold, each with so much text; where they cannot, and on
// a phone, they need not.
function mapHeight(width, height, lines, text) {
  if (width < NARROW) return MAX_HEIGHT;
  const room = Math.max(FOLD.least, height) - FOLD.above;
  const most = (room - (lines - 1) * LINE) / lines - text - AROUND;
  return most < MIN_HEIGHT.usual ? MAX_HEIGHT : Math.min(MAX_HEIGHT, most);
}

// Labels along a line with so much room for each: every how manieth is shown, which stand upright, how tall they are.
function alongLine(labels, room, label, measure) {
  const widths = labels.map((text) => (measure(text) * label) / LABEL.usual);
  const usual = widths.toSorted((a, b) => a - b)[Math.floor(labels.length / 2)];
  const step = Math.ceil(Math.max(0.8 * label, Math.min(label, usual + 1.5)) / room);
  const shown = labels.map((_, i) => i).filter((i) => i % step === 0);
  const upright = standUp(labels, widths, shown, step * room, label);
  const tallest = Math.max(0, ...shown.map((i) => (upright[i] ? widths[i] : 0)));
  return { step, upright, height: Math.min(66, Math.max(LINE, Math.ceil(tallest) + 8)) };
}

// Labels that would run into a neighbour stand upright: of each such pair the wider one. A single letter never does.
function standUp(labels, widths, shown, room, label) {
  const single = labels.map((text) => [...text].length === 1);
  const upright = widths.map((width, i) => !single[i] && width > 1.6 * room);
  const space = (i) => (upright[i] ? label : widths[i]);
  for (let k = 1; k < shown.length; k++) {
    const [left, right] = [shown[k - 1], shown[k]];
    for (const wider of space(left) > space(right) ? [left, right] : [right, left]) {
      const crowded = (space(left) + space(right)) / 2 > room - 2;
      if (crowded && !single[wider]) upright[wider] = true;
    }
  }
  return upright;
}

// How many maps stand side by side, in rows of about equal length: two on a phone, up to four of the usual eight heads.
// A cell of a map wants a pixel.
function countColumns(width, heads, cells) {
  if (width < NARROW - MAX_GUTTER) return Math.min(2, heads);
  const most = heads <= 8 ? 4 : heads > 16 && width > 1500 ? 16 : 8;
  const fit = Math.max(2, Math.min(most, Math.floor((width + GAP) / (Math.max(LEAST, cells) + GAP))));
  return Math.ceil(heads / Math.ceil(heads / fit));
}

function wholePixels(length) {
  const ratio = window.devicePixelRatio || 1;
  return Math.floor(length * ratio + 1e-6) / ratio || length; // of more cells than pixels, each has less than one
}
