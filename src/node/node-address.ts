import { PART_LENGTH_MIN, secretsMask } from '../kernel/config/url-mask.ts'

/** The address of a node. Path, query and user of its URL may be secrets: only the name is ever shown. */
export interface NodeAddress {
  /** Host and port, for logs and gauges; the second node on one host has the suffix `#2`. */
  readonly name: string
  readonly origin: string
  readonly path: string
  /** Header value from the user and password of the URL; null if the URL has neither. */
  readonly authorization: string | null
  /** Replaces every section of the URL that may be a secret in a text. */
  readonly redact: (text: string) => string
}

/**
 * Parses node URLs, in order; a URL that is listed twice counts once.
 *
 * @throws TypeError if a URL cannot be parsed
 */
export function nodeAddresses(urls: readonly string[]): NodeAddress[] {
  const seen = new Map<string, number>()
  return [...new Set(urls)].map((text) => {
    const url = new URL(text)
    const number = (seen.get(url.host) ?? 0) + 1
    seen.set(url.host, number)
    return addressOf(url, number === 1 ? url.host : `${url.host}#${number}`)
  })
}

function addressOf(url: URL, name: string): NodeAddress {
  const { username, password, pathname, search } = url
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    name,
    origin: url.origin,
    path: pathname + search,
    authorization: user === ':' ? null : `Basic ${Buffer.from(user).toString('base64')}`,
    redact: secretsMask([url.href], { partLengthMin: PART_LENGTH_MIN })
  }
}
