const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A CEL string literal. Control characters and lone surrogates have no place in a model name and are refused before. */
function celString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function celDimension(name: string): string {
  return IDENTIFIER.test(name) ? `dimensions.${name}` : `dimensions[${celString(name)}]`;
}

/** True for events of exactly this model. */
export function modelIs(model: string): string {
  return `dimensions.model == ${celString(model)}`;
}

/** True when the number dimension of this name is larger; an event without it does not match. */
export function dimensionAbove(name: string, threshold: number): string {
  return `${celDimension(name)} > ${threshold}`;
}
