import type { RouteOptions } from 'fastify';
import type { App } from './types.js';

/** Upper bound of a path parameter's length; no id is longer. */
export const PATH_PARAMETER_CHARS_MAX = 512;

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Remembers the methods of each path, for 405, OPTIONS and tests of all routes. */
export class RouteTable {
  readonly #paths = new Map<string, KnownPath>();
  readonly #routes: RouteOptions[] = [];

  constructor(app: App) {
    app.addHook('onRoute', (route) => this.#add(route));
  }

  /** Every registered route. */
  get routes(): readonly RouteOptions[] {
    return this.#routes;
  }

  /** Returns the methods of the path of this URL, sorted; empty when no route has the path. */
  methodsAt(url: string): string[] {
    const path = url.split('?', 1)[0] ?? '';
    const found = new Set<string>();
    for (const known of this.#paths.values()) {
      if (known.pattern.test(path)) for (const method of known.methods) found.add(method);
    }
    return [...found].sort();
  }

  #add(route: RouteOptions): void {
    this.#routes.push(route);
    const known = this.#paths.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set<string>() };
    for (const method of [route.method].flat()) known.methods.add(method);
    this.#paths.set(route.url, known);
  }
}

function patternOf(url: string): RegExp {
  const escaped = url.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll(/:[A-Za-z_]+/g, '[^/]+').replaceAll('*', '.*')}$`);
}
