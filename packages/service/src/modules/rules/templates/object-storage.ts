import type { ExtractorTemplate } from '@tollgate/contract';

/** The names are those of S3's access logs in JSON and of the storage logs of Google Cloud Storage. */
export const objectStorage: ExtractorTemplate = {
  id: 'object_storage',
  title: 'Object storage',
  description:
    'Bytes stored over time, requests by operation, and bytes received and sent. One gigabyte (10^9 bytes) stored for a month of 730 hours is 730,000,000,000 byte-hours.',
  payload:
    'Two kinds of payloads with different fields. First, access log entries, to which the sender adds requests (1, or a sum) and, for uploads, bytes_received. Second, inventory entries with storage_byte_hours: the bytes of a bucket times the hours since the last entry. For other S3-compatible stores, rename their fields to these.',
  documentation_url: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/sal-cw-log-format.html',
  subject: { default_type: 'account', id_path: 'bucket_owner_id' },
  dimensions: [
    { name: 'bucket', path: 'bucket_name', type: 'string' },
    { name: 'operation', path: 'operation', type: 'string' },
    { name: 'storage_class', path: 'storage_class', type: 'string' },
    { name: 'region', path: 'region', type: 'string' },
  ],
  charge_item_extractors: [
    {
      name: 'Bytes stored',
      metric: 'storage.byte_hours',
      path: 'storage_byte_hours',
      type: 'number',
      unit: 'byte_hour',
    },
    { name: 'Requests', metric: 'storage.requests', path: 'requests', type: 'number', unit: 'request' },
    {
      name: 'Bytes in',
      metric: 'storage.ingress_bytes',
      path: 'bytes_received',
      type: 'number',
      unit: 'byte',
    },
    { name: 'Bytes out', metric: 'storage.egress_bytes', path: 'bytes_sent', type: 'number', unit: 'byte' },
  ],
  samples: [
    {
      title: 'A download in the access log',
      raw_json: {
        requests: 1,
        bucket_name: 'backups',
        bucket_owner_id: 'acct-31',
        requester: 'acct-31',
        operation: 'REST.GET.OBJECT',
        key: '2026/09/dump.zst',
        http_status: 200,
        bytes_sent: 734003200,
        object_size: 734003200,
        region: 'eu-central-1',
      },
      subject: { type: 'account', id: 'acct-31' },
      dimensions: { bucket: 'backups', operation: 'REST.GET.OBJECT', region: 'eu-central-1' },
      charge_items: [
        { metric: 'storage.requests', unit: 'request', quantity: '1' },
        { metric: 'storage.egress_bytes', unit: 'byte', quantity: '734003200' },
      ],
    },
    {
      title: 'An upload in the access log',
      raw_json: {
        requests: 1,
        bucket_name: 'backups',
        bucket_owner_id: 'acct-31',
        operation: 'REST.PUT.OBJECT',
        key: '2026/09/dump.zst',
        http_status: 200,
        bytes_sent: null,
        bytes_received: 734003200,
        object_size: 734003200,
      },
      subject: { type: 'account', id: 'acct-31' },
      dimensions: { bucket: 'backups', operation: 'REST.PUT.OBJECT' },
      charge_items: [
        { metric: 'storage.requests', unit: 'request', quantity: '1' },
        { metric: 'storage.ingress_bytes', unit: 'byte', quantity: '734003200' },
      ],
    },
    {
      title: 'A bucket in a daily inventory',
      raw_json: {
        bucket_name: 'backups',
        bucket_owner_id: 'acct-31',
        storage_class: 'STANDARD_IA',
        region: 'eu-central-1',
        storage_byte_hours: 26388279066624,
      },
      subject: { type: 'account', id: 'acct-31' },
      dimensions: { bucket: 'backups', storage_class: 'STANDARD_IA', region: 'eu-central-1' },
      charge_items: [{ metric: 'storage.byte_hours', unit: 'byte_hour', quantity: '26388279066624' }],
    },
  ],
};
