const URL_PARTS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s;

/** Returns one URL for each host of a URL such as `postgresql://one:5432,two:5432/database`; other text as it is. */
export function hostUrls(url: string): string[] {
  const parts = URL_PARTS.exec(url);
  if (parts === null) return [url];
  const [, start = '', hosts = '', end = ''] = parts;
  return hosts.split(',').map((host) => start + host + end);
}
