import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { WebhookDelivery, WebhookDeliveryStatus, WebhookEndpointInput } from '@tollgate/contract';
import { filled } from '../../api/filled.js';
import { useProjectClient } from '../../project.js';

/** Number of deliveries in the summary of an endpoint. */
const SUMMARY_DELIVERIES = 20;
const PAGE_SIZE = 50;
/** Poll interval for deliveries in progress. */
const LIVE_MS = 3_000;

export function useEndpoints() {
  const { projectId, webhookEndpoints } = useProjectClient();
  return useQuery({
    queryKey: ['webhooks', projectId],
    queryFn: async () => (await webhookEndpoints.list({ limit: 100 })).webhook_endpoints,
    // The service disables endpoints that keep failing.
    refetchInterval: LIVE_MS,
  });
}

export function useEndpoint(id: string) {
  const { projectId, webhookEndpoints } = useProjectClient();
  return useQuery({
    queryKey: ['webhooks', projectId, id],
    queryFn: () => webhookEndpoints.get(id),
    refetchInterval: LIVE_MS,
  });
}

/** The last deliveries to an endpoint, newest first. */
export function useLastDeliveries(endpointId: string) {
  const { projectId, webhookEndpoints } = useProjectClient();
  return useQuery({
    queryKey: ['webhooks', projectId, endpointId, 'summary'],
    queryFn: async () =>
      (await webhookEndpoints.deliveries(endpointId, { limit: SUMMARY_DELIVERIES })).deliveries,
    refetchInterval: LIVE_MS,
  });
}

export function useDeliveries(endpointId: string, status: WebhookDeliveryStatus | '') {
  const { projectId, webhookEndpoints } = useProjectClient();
  return useInfiniteQuery({
    queryKey: ['webhooks', projectId, endpointId, 'deliveries', status],
    queryFn: ({ pageParam }) =>
      webhookEndpoints.deliveries(endpointId, {
        ...filled({ status }),
        ...{ limit: PAGE_SIZE, offset: pageParam },
      }),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, total_count }) =>
      offset + limit < total_count ? offset + limit : undefined,
    // Only the first page is polled, so that a reader of older deliveries is not interrupted.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) === 1 ? LIVE_MS : false),
  });
}

export function useDelivery(endpointId: string, messageId: string) {
  const { projectId, webhookEndpoints } = useProjectClient();
  return useQuery({
    queryKey: ['webhooks', projectId, endpointId, 'deliveries', 'one', messageId],
    queryFn: () => webhookEndpoints.delivery(endpointId, messageId),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? LIVE_MS : false),
  });
}

/** Changes of endpoints. After each of them, endpoint data is fetched again. */
export function useEndpointChanges() {
  const { projectId, webhookEndpoints } = useProjectClient();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: ['webhooks', projectId] });
  return {
    create: useMutation({
      mutationFn: (body: WebhookEndpointInput) => webhookEndpoints.create(body),
      onSettled,
    }),
    update: useMutation({
      mutationFn: ({ id, body }: { readonly id: string; readonly body: WebhookEndpointInput }) =>
        webhookEndpoints.update(id, body),
      onSettled,
    }),
    rotate: useMutation({
      mutationFn: (id: string) => webhookEndpoints.rotateSecret(id),
      onSettled,
    }),
    remove: useMutation({
      mutationFn: (id: string) => webhookEndpoints.delete(id),
      // The deleted endpoint itself is not fetched again.
      onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks', projectId], exact: true }),
    }),
    test: useMutation({
      mutationFn: (id: string) => webhookEndpoints.test(id),
      onSettled,
    }),
    redeliver: useMutation({
      mutationFn: ({ endpoint_id, message_id }: Pick<WebhookDelivery, 'endpoint_id' | 'message_id'>) =>
        webhookEndpoints.redeliver(endpoint_id, message_id),
      onSettled,
    }),
  };
}
