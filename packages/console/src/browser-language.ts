/**
 * On machines without a configured language, such as containers, Chromium reports the invalid locale
 * `en-US@posix`. The chart library formats numbers with it while it loads, which would break the whole console.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}
