// Scripts that a walk through hostile text runs in the page.

export const DIALOG = '[role=dialog]';

/** Runs in the page: the name of what is open. */
export const DIALOG_TITLE = `(() => {
  const dialog = document.querySelector('${DIALOG}');
  return (dialog?.querySelector('h2')?.textContent ?? dialog?.getAttribute('aria-label') ?? '').replace(/\\s~.*/, '');
})()`;

/** Runs in the page: until timers that were due have run, and what they changed is drawn. */
export const DRAWN = `new Promise((done) => {
  setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)));
})`;

/**
 * Runs in the page: names from outside, which end in their mark, that could turn the letters of the console's
 * own words after them: those stand in the same line, and nothing holds the name apart. Where the text is one
 * string, an isolate holds the name apart, unless the name itself can end the isolate.
 */
const TURNED = `() => {
  const turned = [];
  const flows = (node) => node instanceof Element && /^(inline|contents)$/.test(getComputedStyle(node).display);
  const isApart = (element) => !flows(element) || getComputedStyle(element).unicodeBidi.startsWith('isolate');
  const beside = (node) => {
    let text = '';
    for (let next = node.nextSibling; next !== null; next = next.nextSibling) {
      if (next instanceof Element && (next.tagName === 'BR' || !flows(next))) break;
      text += next.textContent;
    }
    return text;
  };
  const isolates = /\\u2068[^\\u202a-\\u202e\\u2066-\\u2069]*\\u2069/g;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    const [, rest] = /^.*~\\d+(.*)$/s.exec(node.data.replace(isolates, '')) ?? [];
    if (rest === undefined || node.parentElement.closest('option, pre, code, .cm-editor, .sr-only') !== null) continue;
    let after = rest;
    for (let each = node; ; each = each.parentElement) {
      after += beside(each);
      if (isApart(each.parentElement)) break;
    }
    if (/\\p{L}/u.test(after)) turned.push('a name that turns “' + after.slice(0, 40) + '” after ' + node.data.slice(0, 60));
  }
  return turned;
}`;

/** Runs in the page: all that it says, and what must not be in it. */
export const LOOK = `(() => {
  const findings = [];
  const visible = document.body.innerText;
  const shown = [visible, document.title];
  for (const element of document.body.querySelectorAll('*')) {
    for (const name of ['title', 'aria-label', 'placeholder', 'alt', 'label']) {
      if (element.hasAttribute(name)) shown.push(element.getAttribute(name));
    }
    if ('value' in element) shown.push(String(element.value));
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) findings.push('an attribute ' + name + '=' + value);
      if (/^(href|src|action|formaction|xlink:href)$/i.test(name) && !/^(https?:|blob:|[/#.?]|$)/i.test(value))
        findings.push('an address ' + value);
    }
  }
  for (const option of document.querySelectorAll('option')) shown.push(option.value, option.textContent);
  for (const { outerHTML } of document.querySelectorAll('[data-hostile], main iframe, main object, main embed, main base'))
    findings.push('an element ' + outerHTML.slice(0, 100));
  findings.push(...window.hostileFindings.splice(0));
  findings.push(...(${TURNED})());
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) findings.push('the page is ' + (scrollWidth - clientWidth) + ' px too wide');
  return { visible, shown: shown.join('\\n'), findings };
})()`;

/**
 * Runs in the page: its buttons with their kinds, which are the first words of their names; names from
 * outside are one kind.
 */
export const BUTTONS = `(within) => {
  const kinds = new Map();
  for (const button of document.querySelectorAll(within + ' button')) {
    if (button.disabled || button.type === 'submit' || !button.checkVisibility()) continue;
    const name = (button.getAttribute('aria-label') ?? button.innerText).trim().replace(/\\s+/g, ' ');
    const [verb = 'of a name'] = name.match(/^[A-Z][a-z]+( about)?(?= )/) ?? [];
    const kind = /~\\d+$/.test(name) ? verb + ' …' : name.split(' ').slice(0, 2).join(' ');
    if (!kinds.has(kind)) kinds.set(kind, { kind, button });
  }
  return [...kinds.values()];
}`;

/** Runs in the page. Sets what a person would type, and gives React its turn. */
export const TYPE = `async (within, texts) => {
  const KINDS = ['text', 'search', 'url', 'password', 'textarea'];
  const names = [];
  const changed = [];
  const turn = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(null);
  });
  for (const field of document.querySelectorAll(within + ' input, ' + within + ' textarea')) {
    if (!KINDS.includes(field.type) || field.disabled || field.readOnly || !field.checkVisibility()) continue;
    const name = field.getAttribute('aria-label') ?? field.labels?.[0]?.innerText ?? field.name;
    if (names.includes(name)) continue;
    names.push(name);
    const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value');
    for (const text of texts) {
      if (!field.isConnected) break;
      set.call(field, text);
      field.dispatchEvent(new Event('input', { bubbles: true }));
      await turn();
      if (field.isConnected && field.value !== text) changed.push(name + ' made ' + field.value + ' of ' + text);
    }
  }
  return { names, changed };
}`;
