/**
 * Every error that the service can return: its stable code, HTTP status and default message.
 * `docs/errors.md` is generated from this registry and a test proves the two equal.
 */
export const ERRORS = {
  invalid_request: { status: 400, message: 'The request is not valid.' },
  invalid_json: { status: 400, message: 'The body is not valid JSON.' },
  unlike_units: { status: 400, message: 'Quantities with different units cannot be added up or compared.' },
  counter_changed: {
    status: 400,
    message:
      'A published version defines a counter of this name in another way. Give the counter another name.',
  },
  json_too_deep: { status: 400, message: 'The JSON is nested too deeply.' },
  json_too_complex: { status: 400, message: 'The JSON contains too many values.' },
  subject_pair_incomplete: { status: 400, message: 'subject_type and subject_id must be sent together.' },
  occurred_at_out_of_range: { status: 400, message: 'occurred_at is outside the accepted time range.' },
  rule_set_not_found: {
    status: 404,
    statusInBody: 400,
    message: 'The project has no rule set with this id.',
  },
  rule_set_not_published: {
    status: 409,
    statusInBody: 400,
    message: 'The rule set is a draft or archived. Send events to a published one.',
  },
  rule_set_archived: { status: 409, message: 'The rule set is archived.' },
  pricing_rule_set_limit_reached: {
    status: 409,
    message: 'The extractor rule set already has the maximum number of published pricing rule sets.',
  },
  pricing_purpose_fixed: {
    status: 409,
    message: 'The purpose of a pricing rule set cannot be changed. Create another rule set.',
  },
  nothing_to_publish: { status: 409, message: 'There is no draft to publish.' },
  name_taken: { status: 409, message: 'This name is already used in the project.' },
  plan_not_published: {
    status: 409,
    message: 'A route can only be bound to a published limit plan that is not archived.',
  },
  usage_limit_plan_archived: { status: 409, message: 'The limit plan is archived. Restore it first.' },
  subject_route_exists: { status: 409, message: 'The subject already has a route.' },
  subject_cycle: {
    status: 409,
    message: 'The parent is the subject itself or is below it. Choose another parent.',
  },
  subject_too_deep: { status: 409, message: 'The chain of subjects would have too many levels.' },
  route_has_children: {
    status: 409,
    message: 'Other routes have the subject of this route as their parent. Change their parent first.',
  },
  limit_key_taken: { status: 409, message: 'Another limit of the route has this limit_key.' },
  unauthenticated: { status: 401, message: 'A valid API key is required: Authorization: Bearer <API_KEY>.' },
  permission_denied: { status: 403, message: 'This API key lacks a permission that the operation needs.' },
  no_entitlement: {
    status: 403,
    message: 'The tenant has no subscription plan. Events are accepted once it has one.',
  },
  entitlement_limit_reached: { status: 403, message: "The tenant's subscription plan does not allow this." },
  event_quota_exceeded: {
    status: 429,
    message: "The subscription plan's monthly event limit is reached; nothing was accepted.",
  },
  key_rate_exceeded: {
    status: 429,
    message: 'The API key sends too many requests per second; nothing was accepted.',
  },
  not_found: { status: 404, message: 'The resource does not exist.' },
  method_not_allowed: { status: 405, message: 'This path does not support the method.' },
  external_id_taken: { status: 409, message: 'Another account of the project has this external_id.' },
  unknown_subject: {
    status: 409,
    message: 'The subject has no route, and the project denies leases of such subjects.',
  },
  lease_not_active: {
    status: 409,
    message: 'The budget lease has ended. Create another one.',
  },
  lease_exceeded: {
    status: 409,
    message:
      'The parent lease does not have enough left: `details` have `available_amount` and `asked_amount`.',
  },
  limit_exceeded: { status: 409, message: 'The amount would exceed the limits in `details`.' },
  insufficient_funds: { status: 409, message: 'The prepaid wallet does not have enough funds available.' },
  idempotency_key_conflict: {
    status: 409,
    message: 'The Idempotency-Key was used for another request.',
  },
  board_limit_reached: { status: 409, message: 'The project already has the maximum number of boards.' },
  chart_limit_reached: {
    status: 409,
    message:
      'The board already has the maximum number of charts, or the charts of the project have the maximum total size.',
  },
  chart_id_taken: { status: 409, message: 'Another chart of the project has this chart_id.' },
  checkout_in_progress: {
    status: 409,
    message: 'A checkout of another subscription plan is in progress. Finish it, or wait until it expires.',
  },
  payment_checkout_expired: {
    status: 409,
    message: 'The checkout of this Idempotency-Key has expired. Start another one with a new key.',
  },
  checkout_not_configured: {
    status: 400,
    message: 'Checkout is not configured: a key of the payment provider or a return URL is missing.',
  },
  payments_not_configured: {
    status: 503,
    message: 'This service takes no payments: no payment provider is configured.',
  },
  payment_provider_failed: {
    status: 502,
    message: 'The payment provider could not create the checkout. Try again with the same Idempotency-Key.',
  },
  invalid_signature: { status: 400, message: 'The signature is missing, wrong or too old.' },
  payment_mismatch: { status: 400, message: 'No order matches this payment; nothing was changed.' },
  payment_order_not_ready: {
    status: 503,
    message: 'The order of the payment does not exist yet. Deliver the event again.',
  },
  quota_initialization_failed: {
    status: 503,
    message: 'The payment is settled, but the event quota is not set up yet. Deliver the event again.',
  },
  backtest_running: { status: 409, message: 'A backtest of this project is still running.' },
  backtest_stale: {
    status: 409,
    message:
      'The usage or the rules have changed since the backtest, or the backtest did not rate all of the usage. ' +
      'Run it again.',
  },
  event_not_rated: {
    status: 409,
    message:
      'The event is not rated yet, or it does not exist: while events of the project wait to be rated, this is not known. ' +
      'Try again in a moment.',
  },
  correction_not_planned: { status: 409, message: 'Only a planned correction can be applied or deleted.' },
  correction_not_applied: { status: 409, message: 'Only a correction that is in force can be reverted.' },
  correction_superseded: {
    status: 409,
    message: 'A later correction has changed an event of this one. Revert that correction first.',
  },
  correction_limit_reached: {
    status: 409,
    message: 'The project already has the maximum number of corrections in progress. Wait until one ends.',
  },
  event_not_failed: { status: 409, message: 'Only a failed event can be reprocessed.' },
  webhook_endpoint_limit_reached: {
    status: 409,
    message: 'The project already has the maximum number of webhook endpoints.',
  },
  webhook_endpoint_disabled: {
    status: 409,
    message: 'The webhook endpoint is disabled. To enable it again, update it with PUT.',
  },
  concurrency_limit_reached: {
    status: 429,
    message:
      'The key or its tenant already has the maximum number of these requests open. Wait until one ends.',
  },
  request_timeout: { status: 408, message: 'The request took too long to arrive.' },
  expectation_failed: {
    status: 417,
    message: 'The only supported expectation is `Expect: 100-continue`.',
  },
  headers_too_large: { status: 431, message: 'The request headers are too large.' },
  payload_too_large: { status: 413, message: 'The body is too large.' },
  unsupported_media_type: {
    status: 415,
    message: 'Send uncompressed JSON with Content-Type: application/json.',
  },
  ingest_backlog_full: {
    status: 503,
    message: 'The usage queue is full; nothing was accepted. Try again later.',
  },
  server_busy: { status: 503, message: 'The service is at capacity. Try again later.' },
  rules_time_limit_exceeded: {
    status: 503,
    message: 'The check of the rules took too long. Try again later, or with fewer or simpler rules.',
  },
  analysis_busy: { status: 503, message: 'Too many analysis queries are waiting. Try again later.' },
  store_unavailable: {
    status: 503,
    message: 'A database is unavailable; nothing was accepted. Try again later.',
  },
  cell_draining: {
    status: 409,
    message: 'The cell takes no new tenants, because it is being drained.',
  },
  cell_unavailable: {
    status: 503,
    message:
      'The cell of the tenant did not respond in time; the request may have been processed. Try again later.',
  },
  directory_unavailable: {
    status: 503,
    message: 'The directory of cells is unavailable; nothing was accepted. Try again later.',
  },
  tenant_moving: {
    status: 503,
    message: 'The tenant is being moved to another cell; nothing was accepted. Try again in a moment.',
  },
  unknown_keys_limit_reached: {
    status: 429,
    message: 'Too many requests with unknown API keys or ids came from this IP address. Try again later.',
  },
  move_refused: { status: 409, message: 'The state of the move does not allow this step.' },
  rebuild_refused: { status: 409, message: 'The usage history cannot be rebuilt.' },
  shutting_down: { status: 503, message: 'The service is shutting down. Try again later.' },
  internal_error: { status: 500, message: 'Something went wrong on our side.' },
} as const satisfies Record<string, ErrorEntry>;

interface ErrorEntry {
  readonly status: number;
  /** The status when a field of the body names the missing resource, and not the path. */
  readonly statusInBody?: number;
  readonly message: string;
}

/** Stable machine-readable name of an error. */
export type ErrorCode = keyof typeof ERRORS;
