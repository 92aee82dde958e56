/** Maximum length of a webhook's URL in characters: the longest that common servers and proxies accept in a request. */
export const WEBHOOK_URL_CHARACTERS_MAX = 2_048

/** Ports below 1024 belong to services that must not receive POSTs, except those of the web. */
const WEB_PORTS = [80, 443]
const UNPRIVILEGED_PORT_MIN = 1_024

/** The target of a webhook's POSTs. */
export interface WebhookTarget {
  readonly origin: string
  /** The host's name or IP address; IPv6 without brackets. */
  readonly host: string
  /** Path and query. */
  readonly path: string
}

export type WebhookUrlReading =
  | { readonly kind: 'target'; readonly target: WebhookTarget }
  /** `reason` follows the name of the parameter: `url must be http or https`. */
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Reads the URL of a webhook. Checks scheme, port, credentials and length, which need no name resolution. Octal,
 * hexadecimal and Unicode hosts are normalized as in browsers.
 */
export function readWebhookUrl(text: string): WebhookUrlReading {
  const refused = (reason: string): WebhookUrlReading => ({ kind: 'refused', reason })
  if (text.length > WEBHOOK_URL_CHARACTERS_MAX)
    return refused(`must have at most ${WEBHOOK_URL_CHARACTERS_MAX} characters, and has ${text.length}`)
  // The parser of URLs drops some of these characters silently.
  if (/[\s\p{C}\\]/u.test(text)) return refused('must have no space, control character or backslash')
  const url = URL.parse(text)
  if (url === null) return refused('must be an absolute URL such as https://example.com/hook')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('must begin with http or https')
  if (url.username !== '' || url.password !== '') return refused('must carry no user and no password')
  const port = Number(url.port)
  if (url.port !== '' && !WEB_PORTS.includes(port) && port < UNPRIVILEGED_PORT_MIN)
    return refused(`must have the port 80, 443, or one from ${UNPRIVILEGED_PORT_MIN} up`)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { kind: 'target', target: { origin: url.origin, host, path: url.pathname + url.search } }
}
