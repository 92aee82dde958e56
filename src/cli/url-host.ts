/** A host as URLs write it. */
export function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
