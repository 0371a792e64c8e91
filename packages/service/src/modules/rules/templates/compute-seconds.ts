import type { ExtractorTemplate } from '@tollgate/contract';

/** Serverless platforms charge in these units: held resources times the seconds for which they were held. */
export const computeSeconds: ExtractorTemplate = {
  id: 'compute_seconds',
  title: 'Compute seconds',
  description:
    'Running time in seconds, also multiplied by the allocated vCPUs, memory in GiB and GPUs. Charge either for the seconds of an instance type or for its resources, not for both.',
  payload:
    'The report of a job runner at the end of a job, or periodically while it runs, with the amounts since the last report. Fractions are exact. Fields missing from a report are not charged.',
  documentation_url: 'https://cloud.google.com/run/pricing',
  subject: { default_type: 'account', id_path: 'account_id' },
  dimensions: [
    { name: 'instance_type', path: 'instance_type', type: 'string' },
    { name: 'gpu_type', path: 'gpu_type', type: 'string' },
    { name: 'region', path: 'region', type: 'string' },
    { name: 'preemptible', path: 'preemptible', type: 'boolean' },
  ],
  charge_item_extractors: [
    { name: 'Run time', metric: 'compute.seconds', path: 'duration_seconds', type: 'number', unit: 'second' },
    {
      name: 'vCPU time',
      metric: 'compute.vcpu_seconds',
      path: 'vcpu_seconds',
      type: 'number',
      unit: 'vcpu_second',
    },
    {
      name: 'Memory time',
      metric: 'compute.memory_gib_seconds',
      path: 'memory_gib_seconds',
      type: 'number',
      unit: 'gib_second',
    },
    {
      name: 'GPU time',
      metric: 'compute.gpu_seconds',
      path: 'gpu_seconds',
      type: 'number',
      unit: 'gpu_second',
    },
  ],
  samples: [
    {
      title: 'A job on two vCPUs with half a GiB of memory',
      raw_json: {
        job_id: 'job-8841',
        account_id: 'acct-31',
        region: 'europe-west1',
        preemptible: true,
        duration_seconds: 12.4,
        vcpu_seconds: 24.8,
        memory_gib_seconds: 6.2,
      },
      subject: { type: 'account', id: 'acct-31' },
      dimensions: { region: 'europe-west1', preemptible: 'true' },
      charge_items: [
        { metric: 'compute.seconds', unit: 'second', quantity: '12.4' },
        { metric: 'compute.vcpu_seconds', unit: 'vcpu_second', quantity: '24.8' },
        { metric: 'compute.memory_gib_seconds', unit: 'gib_second', quantity: '6.2' },
      ],
    },
    {
      title: 'A training job on four GPUs',
      raw_json: {
        job_id: 'job-8842',
        account_id: 'acct-7',
        region: 'us-east-1',
        instance_type: 'gpu-4x',
        gpu_type: 'nvidia-l4',
        duration_seconds: 3600,
        gpu_seconds: 14400,
      },
      subject: { type: 'account', id: 'acct-7' },
      dimensions: { instance_type: 'gpu-4x', gpu_type: 'nvidia-l4', region: 'us-east-1' },
      charge_items: [
        { metric: 'compute.seconds', unit: 'second', quantity: '3600' },
        { metric: 'compute.gpu_seconds', unit: 'gpu_second', quantity: '14400' },
      ],
    },
  ],
};
