/** The part of the SDK that needs no Node.js: a page in a browser imports it as `@tollgate/sdk/browser`. */
export type * from '#contract';
export { TollgateClient } from './client.js';
export { ApiError, ConnectionError } from './errors.js';
export type { StreamMessage } from './event-stream.js';
export type { CallOptions, WriteOptions } from './path-transport.js';
export type { ProjectClient } from './project-client.js';
export type { FollowOptions, FollowQuery } from './resources/analysis.js';
export type { WaitOptions } from './resources/corrections.js';
export type { EventsQuery, ExportQuery } from './resources/usage.js';
export type { TenantClient } from './tenant-client.js';
export type { ClientOptions, PageOptions, RequestOptions } from './transport.js';
export type { WithLeaseOptions, WorkLease } from './with-lease.js';
