/** A URL that may name several hosts, as `redis+sentinel://user@a:1,b:2/name` does. */
export interface HostsUrl {
  /** The URL with its first host alone. */
  readonly url: URL
  /** The other hosts, each with its port if the text states one. */
  readonly others: readonly string[]
}

/** Start, hosts and rest of a URL with an authority. A comma in the user or the password does not end a host. */
const PARTS = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is

/** Reads a URL with one or several hosts; null for any other text. */
export function readHostsUrl(text: string): HostsUrl | null {
  const [, start = '', hosts = '', rest = ''] = PARTS.exec(text) ?? []
  const [first = '', ...others] = hosts.split(',')
  const single = others.length === 0 ? text : `${start}${first}${rest}`
  if (!URL.canParse(single)) return null
  const isHost = (host: string): boolean => host !== '' && URL.canParse(`x://${host}`)
  return others.every(isHost) ? { url: new URL(single), others } : null
}

/** Returns all hosts of a URL as its text lists them. */
export const hostsText = ({ url, others }: HostsUrl): string => [url.host, ...others].join(',')
