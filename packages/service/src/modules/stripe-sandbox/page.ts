import { createHash } from 'node:crypto';
import { type SandboxSession, successUrlOf } from './session.js';

/** A page and the policy that it is sent with. */
export interface HtmlPage {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #16202e; --soft: #5b6879; --line: #dfe4ea; --paper: #fff; --ground: #f3f5f8;
  --accent: #2456d6; --accent-ink: #fff; --warn: #7a4b00; --warn-ground: #fff3d6; --bad: #a3182b; --bad-ground: #fdecee;
  --good: #116a3e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf4; --soft: #9aa7b8; --line: #2c3644; --paper: #171e28;
  --ground: #0e131a; --accent: #7aa2ff; --accent-ink: #0b1220; --warn: #ffd58a; --warn-ground: #33270d; --bad: #ff9aa8;
  --bad-ground: #34151b; --good: #74d9a3; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.banner { background: var(--warn-ground); color: var(--warn); padding: .6rem 1rem; text-align: center; font-size: .9rem; }
main { max-width: 27rem; margin: 9vh auto 4rem; padding: 0 1rem; }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: 14px; padding: 2rem;
  box-shadow: 0 10px 30px rgb(10 20 40 / .07); }
h1 { font-size: 1.05rem; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
.amount { font-size: 2.4rem; font-weight: 650; letter-spacing: -.02em; margin: .2rem 0 1.4rem; font-variant-numeric: tabular-nums; }
.amount small { font-size: 1.05rem; font-weight: 500; color: var(--soft); letter-spacing: 0; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .35rem 1rem; margin: 0 0 1.6rem; padding: 1rem 0 0;
  border-top: 1px solid var(--line); font-size: .9rem; }
dt { color: var(--soft); } dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
form + form { margin-top: .6rem; }
button, a.button { display: block; width: 100%; padding: .8rem 1rem; border-radius: 9px; border: 1px solid var(--line);
  background: transparent; color: inherit; font: inherit; font-weight: 550; text-align: center; text-decoration: none; cursor: pointer; }
button.primary, a.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
button:hover, a.button:hover { filter: brightness(1.06); }
button:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.back { display: block; margin-top: 1.3rem; text-align: center; color: var(--soft); font-size: .92rem; }
.alert { background: var(--bad-ground); color: var(--bad); border-radius: 9px; padding: .7rem .9rem; margin: 0 0 1.2rem; font-size: .92rem; }
.good { color: var(--good); }
p { margin: .4rem 0 1.4rem; color: var(--soft); }
p:last-child { margin-bottom: 0; }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** The page on which an open session is paid. Its URL ends with the session's id. */
export function openPage(session: SandboxSession): HtmlPage {
  const { id, productName, amountMinor, currency, cancelUrl, expiresAt, declined } = session;
  const price = priceText(amountMinor, currency);
  const alert =
    declined === 0
      ? ''
      : '<p class="alert" role="alert">The card was declined. You were not charged. Try again.</p>';
  const back =
    cancelUrl === null ? '' : `<a class="back" href="${escapeHtml(cancelUrl)}">Cancel and go back</a>`;
  return page(
    `Pay ${price}`,
    `${alert}<h1>${escapeHtml(productName)}</h1>
<div class="amount">${escapeHtml(shownAmount(amountMinor, currency))} <small>${escapeHtml(currency.toUpperCase())}</small></div>
<dl><dt>Payment</dt><dd>one-time, no subscription</dd><dt>Expires</dt><dd>${escapeHtml(timeText(expiresAt))}</dd></dl>
<form method="post" action="${escapeHtml(`${id}/pay`)}"><button class="primary">Pay ${escapeHtml(price)}</button></form>
<form method="post" action="${escapeHtml(`${id}/decline`)}"><button>Pay with a declined test card</button></form>
${back}`,
    [successUrlOf(session)],
  );
}

export function completePage(session: SandboxSession): HtmlPage {
  const { productName, amountMinor, currency } = session;
  return page(
    'Paid',
    `<h1 class="good">Paid</h1>
<p>${escapeHtml(productName)}, ${escapeHtml(priceText(amountMinor, currency))}.</p>
<a class="button primary" href="${escapeHtml(successUrlOf(session))}">Continue</a>`,
  );
}

export function expiredPage({ cancelUrl }: SandboxSession): HtmlPage {
  const back =
    cancelUrl === null ? '' : `<a class="button primary" href="${escapeHtml(cancelUrl)}">Go back</a>`;
  return page(
    'Checkout expired',
    `<h1>This checkout has expired</h1><p>You were not charged. Start a new checkout to buy the plan.</p>${back}`,
  );
}

export function absentPage(): HtmlPage {
  return page(
    'Checkout not found',
    '<h1>Checkout not found</h1><p>The address may be incomplete. Check the link and try again.</p>',
  );
}

/** The page to which buyers return when no shop page is configured. */
export function returnPage(outcome: 'success' | 'cancel'): HtmlPage {
  const [title, text] =
    outcome === 'success'
      ? ['Thank you', 'Your payment was successful. Your plan will be active in a moment.']
      : ['Cancelled', 'You were not charged. The checkout stays open until it expires.'];
  return page(
    title,
    `<h1${outcome === 'success' ? ' class="good"' : ''}>${title}</h1><p>${text}</p>
<a class="button primary" href="../../?checkout=${outcome}">Go to the console</a>
<p>To show your own pages instead, set <code>TOLLGATE_CHECKOUT_SUCCESS_URL</code> and <code>TOLLGATE_CHECKOUT_CANCEL_URL</code>.</p>`,
  );
}

/** @param formTargets URLs to which a form may redirect, besides the sandbox itself */
function page(title: string, content: string, formTargets: readonly string[] = []): HtmlPage {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<div class="banner"><strong>Test mode.</strong> This is Tollgate’s payment sandbox. No money is moved and no card is needed.</div>
<main><div class="card">
${content}
</div></main>
</body>
</html>
`;
  const targets = ["'self'", ...formTargets.map((url) => new URL(url).origin)];
  const contentSecurityPolicy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    'img-src data:',
    "base-uri 'none'",
    // Browsers apply it to redirects of forms, too.
    `form-action ${targets.join(' ')}`,
    "frame-ancestors 'none'",
  ].join('; ');
  return { html, contentSecurityPolicy };
}

/** Formats minor units as people write them: 1900 USD is 19.00, 1900 JPY is 1,900. No floats. */
export function shownAmount(amountMinor: number, currency: string): string {
  const digits = fractionDigits(currency);
  const text = String(amountMinor).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits).replace(/\B(?=(\d{3})+$)/g, ',');
  return digits === 0 ? whole : `${whole}.${text.slice(-digits)}`;
}

function priceText(amountMinor: number, currency: string): string {
  return `${shownAmount(amountMinor, currency)} ${currency.toUpperCase()}`;
}

function fractionDigits(currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}

function timeText(unixS: number): string {
  return `${new Date(unixS * 1_000).toISOString().slice(11, 16)} UTC`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
