import { useSearchParams } from 'wouter';

/** By the name of a parameter; what is empty or undefined goes out of the address. */
export type AddressChanges = Readonly<Record<string, string | number | undefined>>;

/**
 * The parameters of the address, and what changes some of them: of two changes that come before the page is
 * drawn again, the second knows of the first.
 */
export function useAddress(): [
  URLSearchParams,
  (changes: AddressChanges, options?: { readonly replace: boolean }) => void,
] {
  const [parameters, setParameters] = useSearchParams();
  const change = (changes: AddressChanges, options?: { readonly replace: boolean }) =>
    // Not what the last drawing knew, but what is there now.
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
