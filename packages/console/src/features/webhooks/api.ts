import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
  WebhookDeliveryStatus,
  WebhookEndpoint,
  WebhookEndpointInput,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
} from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { useProjectPath } from '../../project.js';

/** Number of deliveries in the summary of an endpoint. */
const SUMMARY_DELIVERIES = 20;
const PAGE_SIZE = 50;
/** Poll interval for deliveries in progress. */
const LIVE_MS = 3_000;

export function useEndpoints() {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['webhooks', project],
    queryFn: async () =>
      (await request<WebhookEndpointPage>('GET', `${project}/webhook-endpoints?limit=100`)).webhook_endpoints,
    // The service disables endpoints that keep failing.
    refetchInterval: LIVE_MS,
  });
}

export function useEndpoint(id: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['webhooks', project, id],
    queryFn: () => request<WebhookEndpoint>('GET', `${project}/webhook-endpoints/${id}`),
    refetchInterval: LIVE_MS,
  });
}

/** The last deliveries to an endpoint, newest first. */
export function useLastDeliveries(endpointId: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['webhooks', project, endpointId, 'summary'],
    queryFn: async () => {
      const path = `${project}/webhook-endpoints/${endpointId}/deliveries?limit=${SUMMARY_DELIVERIES}`;
      return (await request<WebhookDeliveryPage>('GET', path)).deliveries;
    },
    refetchInterval: LIVE_MS,
  });
}

export function useDeliveries(endpointId: string, status: WebhookDeliveryStatus | '') {
  const project = useProjectPath();
  return useInfiniteQuery({
    queryKey: ['webhooks', project, endpointId, 'deliveries', status],
    queryFn: ({ pageParam }) =>
      request<WebhookDeliveryPage>(
        'GET',
        withQuery(`${project}/webhook-endpoints/${endpointId}/deliveries`, {
          status,
          limit: PAGE_SIZE,
          offset: pageParam,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, total_count }) =>
      offset + limit < total_count ? offset + limit : undefined,
    // Only the first page is polled, so that a reader of older deliveries is not interrupted.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) === 1 ? LIVE_MS : false),
  });
}

export function useDelivery(endpointId: string, messageId: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['webhooks', project, endpointId, 'deliveries', 'one', messageId],
    queryFn: () =>
      request<WebhookDeliveryDetail>(
        'GET',
        `${project}/webhook-endpoints/${endpointId}/deliveries/${messageId}`,
      ),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? LIVE_MS : false),
  });
}

/** Changes of endpoints. After each of them, endpoint data is fetched again. */
export function useEndpointChanges() {
  const project = useProjectPath();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: ['webhooks', project] });
  const endpoints = `${project}/webhook-endpoints`;
  return {
    create: useMutation({
      mutationFn: (body: WebhookEndpointInput) =>
        request<WebhookEndpointWithSecret>('POST', endpoints, { body }),
      onSettled,
    }),
    update: useMutation({
      mutationFn: ({ id, body }: { readonly id: string; readonly body: WebhookEndpointInput }) =>
        request<WebhookEndpoint>('PUT', `${endpoints}/${id}`, { body }),
      onSettled,
    }),
    rotate: useMutation({
      mutationFn: (id: string) =>
        request<WebhookEndpointWithSecret>('POST', `${endpoints}/${id}/rotate-secret`),
      onSettled,
    }),
    remove: useMutation({
      mutationFn: (id: string) => request<void>('DELETE', `${endpoints}/${id}`),
      // The deleted endpoint itself is not fetched again.
      onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks', project], exact: true }),
    }),
    test: useMutation({
      mutationFn: (id: string) => request<WebhookDelivery>('POST', `${endpoints}/${id}/test`),
      onSettled,
    }),
    redeliver: useMutation({
      mutationFn: ({ endpoint_id, message_id }: Pick<WebhookDelivery, 'endpoint_id' | 'message_id'>) =>
        request<WebhookDelivery>('POST', `${endpoints}/${endpoint_id}/deliveries/${message_id}/redeliver`),
      onSettled,
    }),
  };
}
