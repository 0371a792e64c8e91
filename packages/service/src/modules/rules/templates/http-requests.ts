import type { ExtractorTemplate } from '@tollgate/contract';

/** The names are common in JSON access logs of Envoy and of gateways built on it. */
export const httpRequests: ExtractorTemplate = {
  id: 'http_requests',
  title: 'HTTP requests',
  description: 'Requests, bytes received and sent, and response time in milliseconds.',
  payload:
    'A JSON access log entry with numbers. The gateway adds requests: 1 for a single request, or the number of requests if it aggregates entries of the same method, route and code. Fields missing from an entry are not charged. consumer_id identifies the caller at the gateway.',
  documentation_url:
    'https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage',
  subject: { default_type: 'consumer', id_path: 'consumer_id' },
  dimensions: [
    { name: 'method', path: 'method', type: 'string' },
    { name: 'route_name', path: 'route_name', type: 'string' },
    { name: 'response_code', path: 'response_code', type: 'number' },
    { name: 'authority', path: 'authority', type: 'string' },
  ],
  charge_item_extractors: [
    { name: 'Requests', metric: 'http.requests', path: 'requests', type: 'number', unit: 'request' },
    {
      name: 'Bytes received',
      metric: 'http.request_bytes',
      path: 'bytes_received',
      type: 'number',
      unit: 'byte',
    },
    { name: 'Bytes sent', metric: 'http.response_bytes', path: 'bytes_sent', type: 'number', unit: 'byte' },
    { name: 'Duration', metric: 'http.duration_ms', path: 'duration', type: 'number', unit: 'ms' },
  ],
  samples: [
    {
      title: 'One request',
      raw_json: {
        requests: 1,
        consumer_id: 'acme',
        method: 'POST',
        path: '/v1/images?size=large',
        route_name: 'create-image',
        authority: 'api.example.com',
        protocol: 'HTTP/2',
        response_code: 201,
        bytes_received: 512,
        bytes_sent: 20480,
        duration: 35,
        request_id: 'cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2',
      },
      subject: { type: 'consumer', id: 'acme' },
      dimensions: {
        method: 'POST',
        route_name: 'create-image',
        response_code: '201',
        authority: 'api.example.com',
      },
      charge_items: [
        { metric: 'http.requests', unit: 'request', quantity: '1' },
        { metric: 'http.request_bytes', unit: 'byte', quantity: '512' },
        { metric: 'http.response_bytes', unit: 'byte', quantity: '20480' },
        { metric: 'http.duration_ms', unit: 'ms', quantity: '35' },
      ],
    },
    {
      title: 'The aggregated requests of a minute',
      raw_json: {
        requests: 1840,
        consumer_id: 'acme',
        method: 'GET',
        route_name: 'get-image',
        response_code: 200,
        bytes_sent: 37683200,
      },
      subject: { type: 'consumer', id: 'acme' },
      dimensions: { method: 'GET', route_name: 'get-image', response_code: '200' },
      charge_items: [
        { metric: 'http.requests', unit: 'request', quantity: '1840' },
        { metric: 'http.response_bytes', unit: 'byte', quantity: '37683200' },
      ],
    },
  ],
};
