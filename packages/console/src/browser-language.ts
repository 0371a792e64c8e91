/**
 * Where a machine has no language, as containers do, Chromium names one that there is not: `en-US@posix`. The
 * charts' library asks for numbers in it as it is loaded, and nothing of the console would be seen.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}
