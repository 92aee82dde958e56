/** Where a node listens. The path, the query and the user of its URL may be secrets: only the name is ever shown. */
export interface NodeAddress {
  /** Host and port, for logs and gauges; of two nodes on one host, the second has `#2` behind it. */
  readonly name: string
  readonly origin: string
  readonly path: string
  /** From the user and password of the URL; null where it has none. */
  readonly authorization: string | null
  /** Takes every part of the URL that may be a secret out of a text. */
  readonly redact: (text: string) => string
}

/** Short parts are not looked for: `v1` or `rpc` is no secret, and masks half of a message. */
const SECRET_LENGTH_MIN = 6

/**
 * The addresses of a list of node URLs, in its order; a URL that is named twice counts once.
 *
 * @throws TypeError if one is no URL
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
  const { username, password, pathname, search, searchParams } = url
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const secrets = [
    pathname + search,
    pathname,
    search,
    ...pathname.split('/'),
    ...searchParams.values(),
    decodeURIComponent(username),
    decodeURIComponent(password)
  ].filter((part) => part.length >= SECRET_LENGTH_MIN)
  return {
    name,
    origin: url.origin,
    path: pathname + search,
    authorization: user === ':' ? null : `Basic ${Buffer.from(user).toString('base64')}`,
    redact: (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text)
  }
}
