/**
 * Reads the options of a benchmark, given as `name=value`.
 *
 * @param defaults by name; where the default is a number, so is the value
 * @throws Error that names an unknown option, or one that is not a number
 */
export function readOptions(defaults) {
  const options = { ...defaults };
  for (const argument of process.argv.slice(2)) {
    const [name, value] = argument.split('=');
    if (!(name in defaults)) throw new Error(`unknown option ${name}`);
    options[name] = typeof defaults[name] === 'number' ? numberOf(name, value) : value;
  }
  return options;
}

function numberOf(name, text) {
  const value = Number(text);
  if (Number.isNaN(value)) throw new Error(`option ${name} must be a number, not ${text}`);
  return value;
}
