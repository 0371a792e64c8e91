/** The parts of a chart image. */
export interface Picture {
  readonly title: string;
  /** The range, the buckets and the timezone. */
  readonly note: string;
  readonly plot: HTMLCanvasElement;
  readonly legend: readonly { readonly label: string; readonly value: string; readonly color: string }[];
}

const MARGIN = 20;
const TITLE_PX = 15;
const TEXT_PX = 12;
const LINE = 20;
const HEAD = MARGIN + TITLE_PX + LINE + 8;
const SWATCH = 10;
const LEGEND_MAX = 50;

/** The chart as an image, with title and legend, in the colours of the theme. */
export async function pictureOf({ title, note, plot, legend }: Picture): Promise<Blob> {
  const scale = plot.width / plot.clientWidth;
  const entries = legend.slice(0, LEGEND_MAX);
  const width = plot.clientWidth + 2 * MARGIN;
  const height = HEAD + plot.clientHeight + 12 + entries.length * LINE + MARGIN;
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser cannot create images.');
  const style = getComputedStyle(document.documentElement);
  const color = (role: string) => style.getPropertyValue(role);
  context.scale(scale, scale);
  context.fillStyle = color('--panel');
  context.fillRect(0, 0, width, height);
  context.drawImage(plot, MARGIN, HEAD, plot.clientWidth, plot.clientHeight);
  const write = (text: string, x: number, y: number, font: string, role: string, room: number) => {
    context.font = `${font} "Inter Variable", system-ui, sans-serif`;
    context.fillStyle = color(role);
    context.fillText(fitting(context, text, room), x, y);
  };
  const inner = width - 2 * MARGIN;
  write(title, MARGIN, MARGIN + TITLE_PX, `600 ${TITLE_PX}px`, '--ink', inner);
  write(note, MARGIN, MARGIN + TITLE_PX + LINE, `${TEXT_PX}px`, '--ink-faint', inner);
  for (const [index, line] of entries.entries()) {
    const y = HEAD + plot.clientHeight + 12 + index * LINE + TEXT_PX;
    context.fillStyle = line.color;
    context.fillRect(MARGIN, y - SWATCH + 1, SWATCH, SWATCH);
    context.font = `${TEXT_PX}px "Inter Variable", system-ui, sans-serif`;
    const valueWidth = context.measureText(line.value).width;
    write(line.label, MARGIN + SWATCH + 8, y, `${TEXT_PX}px`, '--ink-soft', inner - valueWidth - SWATCH - 24);
    write(line.value, width - MARGIN - valueWidth, y, `${TEXT_PX}px`, '--ink', valueWidth + 1);
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('The image is too large.')) : resolve(blob)));
  });
}

function fitting(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let cut = text;
  while (cut !== '' && context.measureText(`${cut}…`).width > room) cut = cut.slice(0, -1);
  return `${cut}…`;
}
