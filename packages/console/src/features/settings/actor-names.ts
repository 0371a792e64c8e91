import { useApiKeys, useIsAdmin } from './api.js';

/** The display name of an actor: the name of the API key as long as it exists and the user may read it. */
export function useActorNames(): (actor: string) => string {
  const { data: keys = [] } = useApiKeys(useIsAdmin());
  return (actor) =>
    actor === 'service' ? 'Service key' : (keys.find(({ id }) => id === actor)?.name ?? actor);
}
