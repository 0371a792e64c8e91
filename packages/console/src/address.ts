import { useSearchParams } from 'wouter';

/** New values by parameter name. An empty or undefined value removes the parameter. */
export type AddressChanges = Readonly<Record<string, string | number | undefined>>;

/**
 * The parameters of the address, and a function that changes some of them. Two changes before the next render
 * are both applied.
 */
export function useAddress(): [
  URLSearchParams,
  (changes: AddressChanges, options?: { readonly replace: boolean }) => void,
] {
  const [parameters, setParameters] = useSearchParams();
  const change = (changes: AddressChanges, options?: { readonly replace: boolean }) =>
    // Reads the current address, which may be newer than the last render.
    setParameters(changed(new URLSearchParams(window.location.search), changes), options);
  return [parameters, change];
}

function changed(address: URLSearchParams, changes: AddressChanges): URLSearchParams {
  for (const [name, value = ''] of Object.entries(changes)) {
    if (value === '') address.delete(name);
    else address.set(name, String(value));
  }
  return address;
}
