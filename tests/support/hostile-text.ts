/** Runs in the page before anything of it: what every hostile text calls, and what a test reads of it afterwards. */
export const MARKER = `
  window.hostileFindings = [];
  window.__hostile = () => { window.hostileFindings.push('something ran'); };
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, target, sourceFile, lineNumber }) => {
    const where = (target.outerHTML ?? '').slice(0, 200) + ' ' + sourceFile + ':' + lineNumber;
    window.hostileFindings.push('against ' + effectiveDirective + ': ' + where);
  });`;

const LONG_WORD = 'W'.repeat(48);
const RIGHT_TO_LEFT = '\u202e';
const ISOLATE_RIGHT_TO_LEFT = '\u2067';
/** Ends what holds a text apart in a sentence that is one string, and turns what comes after it. */
export const BREAKS_OUT = `\u2069${RIGHT_TO_LEFT}`;
const ZERO_WIDTH = '\u200b\u2060\u200d';

/**
 * Texts that would run, draw, leave their place or break what holds them, were they taken for anything but
 * text. Elements that they would create are marked `data-hostile`. Short, so that every field takes them.
 */
export const HOSTILE_TEXTS: readonly string[] = [
  '<script data-hostile>__hostile()</script>',
  '<img data-hostile src=x onerror=__hostile()>',
  '<svg data-hostile onload=__hostile()>',
  'javascript:__hostile()//',
  '"><b data-hostile onmouseover="__hostile()">',
  "'><b data-hostile onclick='__hostile()'>",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template language would run it
  "{{constructor.constructor('__hostile()')()}}${__hostile()}",
  'data:text/html,<script>__hostile()</script>',
  String.raw`\u003cimg data-hostile src=x onerror=__hostile()\u003e%3Cb%`,
  `${RIGHT_TO_LEFT}<b data-hostile>${ZERO_WIDTH}onclick=__hostile()`,
  'null undefined NaN [object Object]',
  '__proto__',
  LONG_WORD,
  '</style><style data-hostile>*{display:none}</style>',
  '</textarea></title><!-- --!><b data-hostile> <![CDATA[',
  '<iframe data-hostile srcdoc="<script>top.__hostile()">',
  '<a data-hostile href="javascript:__hostile()">x</a>',
  'x" onfocus="__hostile()" autofocus data-hostile="',
  `'"\`\\'\\"<math data-hostile><mi xlink:href=x>`,
  "=1+cmd|'&lt;b data-hostile&gt;&#x3c;'!A1",
  `${BREAKS_OUT}<b data-hostile>${ISOLATE_RIGHT_TO_LEFT}onblur=__hostile()`,
];

/** Hands out hostile texts, every one with a mark of its own, and knows which of them have been seen since. */
export class HostileWriter {
  /** Texts that have not been seen on a page yet. */
  readonly unseenTexts = new Set<string>(HOSTILE_TEXTS);
  /** Fields that have not been shown yet, neither on a page nor in a title or a control. */
  readonly unseenFields = new Set<string>();
  /** Written texts that have not been shown yet, with the field that each was written to. */
  readonly #written = new Map<string, string>();
  #count = 0;

  /** The next of the texts, in turn, in the shape that the field needs. */
  text(field: string, shape: (text: string) => string = (text) => text): string {
    const hostile = HOSTILE_TEXTS[this.#count % HOSTILE_TEXTS.length];
    this.#count += 1;
    const text = shape(`${hostile} ~${this.#count}`);
    this.#written.set(text, field);
    this.unseenFields.add(field);
    return text;
  }

  /** Several at once. */
  texts(field: string, count = 5): string[] {
    return Array.from({ length: count }, () => this.text(field));
  }

  /** Takes note of what is visible as text, and of all that is shown. */
  see(visible: string, shown: string): void {
    const text = comparableText(visible);
    for (const each of this.unseenTexts)
      if (text.includes(comparableText(each))) this.unseenTexts.delete(each);
    const comparable = comparableText(shown);
    for (const [written, field] of this.#written) {
      if (!formsOf(written).some((form) => comparable.includes(form))) continue;
      this.#written.delete(written);
      this.unseenFields.delete(field);
    }
  }
}

/** The text itself, and as it appears within JSON, escaped once or twice. */
function formsOf(text: string): string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  return [text, quoted, JSON.stringify(quoted).slice(1, -1)].map(comparableText);
}

/** Line breaks are the page's own, and an editor shows characters that have no width as dots. */
function comparableText(text: string): string {
  return text
    .replace(/[\u200b-\u200f\u2060\u202a-\u202e\u2066-\u2069\ufeff•]/g, '')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}
