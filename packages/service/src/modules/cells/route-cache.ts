import { BoundedMap } from '../../kernel/bounded-map.js';
import { DomainError } from '../../kernel/errors.js';
import { KeyCounts } from '../../kernel/key-counts.js';
import type { MaybePromise } from '../../kernel/maybe-promise.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import type { TenantRoute } from './directory-store.js';

/** Up to this age, a route to another cell is used without a new look-up. */
const FRESH_MS_MAX = 5_000;
/** Up to this age, it is used while it is looked up again. If the tenant has left, the cell refuses the request. */
const RENEWED_MS_MAX = 60_000;
/** Maximum age of other results: tenants of this cell, frozen tenants, unknown addresses. */
export const OTHER_MS_MAX = 500;
const ROUTES_CACHED_MAX = 100_000;
const UNKNOWN_CACHED_MAX = 20_000;
/** Upper bound of the look-ups at the same time; one source may have three quarters of them. */
const LOOK_UPS_MAX = 64;
/** Look-ups without a result that one source may make at once, and how many more it may make each second. */
const FAILED_LOOK_UPS_MAX = 100;
const FAILED_LOOK_UPS_PER_S = 10;
const SOURCES_MAX = 10_000;
/** Time without look-ups after a failure of the directory. */
const AWAY_MS = 1_000;

export interface RouteCacheOptions {
  readonly lookUp: (address: string) => Promise<TenantRoute | undefined>;
  /** The cell of this process. */
  readonly cellName: string;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
}

interface CachedRoute {
  readonly route: TenantRoute;
  readonly askedAtMs: number;
}

/** The look-ups without a result that a source could still make at a time. */
interface Allowance {
  readonly left: number;
  readonly atMs: number;
}

/**
 * Looks up addresses in the directory, and caches the results. Found and unknown addresses have separate caches, and
 * each source (the IP address of a client) has a share of the look-ups. So made-up keys neither displace routes nor
 * keep the directory busy. While the directory is unavailable, known routes stay in use.
 */
export class RouteCache {
  readonly #options: RouteCacheOptions;
  readonly #routes = new BoundedMap<string, CachedRoute>(ROUTES_CACHED_MAX);
  readonly #unknown = new BoundedMap<string, number>(UNKNOWN_CACHED_MAX);
  readonly #allowances = new BoundedMap<string, Allowance>(SOURCES_MAX);
  readonly #flights = new Map<string, Promise<TenantRoute | undefined>>();
  /** Look-ups in flight by source. */
  readonly #held = new KeyCounts();
  #awayUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: RouteCacheOptions) {
    this.#options = options;
  }

  /**
   * Returns the route of the tenant that an address names; undefined if it names none.
   *
   * @throws DomainError `directory_unavailable`; `unknown_keys_limit_reached`; `server_busy`
   */
  get(address: string, source: string): MaybePromise<TenantRoute | undefined> {
    const nowMs = this.#options.nowMs();
    const cached = this.#routes.get(address);
    if (cached !== undefined) return this.#current(address, source, cached, nowMs);
    const unknownAtMs = this.#unknown.get(address);
    if (unknownAtMs !== undefined && nowMs - unknownAtMs < OTHER_MS_MAX) return undefined;
    return this.#renew(address, source);
  }

  /**
   * Returns the route after the cell that the cached one leads to has refused a request. An unchanged route counts as a
   * look-up without a result: the key is revoked, or the project does not exist.
   */
  async getAgain(address: string, source: string): Promise<TenantRoute | undefined> {
    const before = this.#routes.get(address)?.route.version;
    if (this.#allowanceOf(source, this.#options.nowMs()).left < 1) throw tooManyGuesses();
    const route = await this.#renew(address, source);
    if (route?.version === before) this.#spend(source);
    return route;
  }

  #renew(address: string, source: string): Promise<TenantRoute | undefined> {
    const running = this.#flights.get(address);
    if (running !== undefined) return running;
    const refusal = this.#refusalOf(address, source);
    if (refusal !== undefined) return Promise.reject(refusal);
    const flight = this.#lookUp(address, source).finally(() => this.#flights.delete(address));
    this.#flights.set(address, flight);
    return flight;
  }

  #current(
    address: string,
    source: string,
    { route, askedAtMs }: CachedRoute,
    nowMs: number,
  ): MaybePromise<TenantRoute | undefined> {
    const ageMs = nowMs - askedAtMs;
    const leadsAway = route.cell !== this.#options.cellName && route.state !== 'frozen';
    if (ageMs < (leadsAway ? FRESH_MS_MAX : OTHER_MS_MAX)) return route;
    const renewed = this.#renew(address, source);
    if (leadsAway && ageMs < RENEWED_MS_MAX) {
      renewed.catch(() => {});
      return route;
    }
    // A frozen tenant will soon be in another cell. An old route to another cell is better than none.
    return leadsAway ? renewed.catch(() => route) : renewed;
  }

  async #lookUp(address: string, source: string): Promise<TenantRoute | undefined> {
    const askedAtMs = this.#options.nowMs();
    this.#held.add(source, 1);
    try {
      const route = await this.#options.lookUp(address);
      if (route !== undefined) this.#routes.set(address, { route, askedAtMs });
      else {
        this.#routes.delete(address);
        this.#unknown.set(address, askedAtMs);
        this.#spend(source);
      }
      return route;
    } catch (error) {
      this.#awayUntilMs = this.#options.nowMs() + AWAY_MS;
      throw new DomainError('directory_unavailable', { cause: error });
    } finally {
      this.#held.add(source, -1);
    }
  }

  /** Returns why a source may not look up an address now; undefined if it may. A known address is not a guess. */
  #refusalOf(address: string, source: string): DomainError | undefined {
    const nowMs = this.#options.nowMs();
    if (nowMs < this.#awayUntilMs) return new DomainError('directory_unavailable');
    const isGuess = !this.#routes.has(address);
    if (isGuess && this.#allowanceOf(source, nowMs).left < 1) {
      return tooManyGuesses();
    }
    const isOverShare = this.#held.of(source) >= tenantShare(this.#flights.size, LOOK_UPS_MAX);
    return isOverShare ? new DomainError('server_busy') : undefined;
  }

  #spend(source: string): void {
    const nowMs = this.#options.nowMs();
    this.#allowances.set(source, { left: this.#allowanceOf(source, nowMs).left - 1, atMs: nowMs });
  }

  #allowanceOf(source: string, nowMs: number): Allowance {
    const last = this.#allowances.get(source);
    if (last === undefined) return { left: FAILED_LOOK_UPS_MAX, atMs: nowMs };
    const regained = ((nowMs - last.atMs) / 1_000) * FAILED_LOOK_UPS_PER_S;
    return { left: Math.min(FAILED_LOOK_UPS_MAX, last.left + regained), atMs: nowMs };
  }
}

function tooManyGuesses(): DomainError {
  return new DomainError('unknown_keys_limit_reached', { retryAfterS: 1 });
}

/** Returns the source of requests from an IP address: all addresses of one IPv6 network of 64 bits are one source. */
export function sourceOf(ipAddress: string): string {
  if (!ipAddress.includes(':') || ipAddress.startsWith('::ffff:')) return ipAddress;
  const [head = '', tail = ''] = ipAddress.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  const missing = 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  const all = ipAddress.includes('::')
    ? [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...(tail === '' ? [] : tail.split(':'))]
    : groups;
  return all.slice(0, 4).join(':');
}
