import { isWebOrigin } from './web-origin.ts'

/** Parts of the API that an origin can be limited to: the first words of the scopes. */
export const ORIGIN_PRODUCTS = ['data', 'rpc', 'stream', 'webhooks', 'tx', 'revenue', 'admin'] as const
export type OriginProduct = (typeof ORIGIN_PRODUCTS)[number]

/** The use that a page makes of a key: a product, a part of the API that belongs to none (null), or any of them. */
export type OriginUse = OriginProduct | 'any' | null

/** Every origin but `null`. */
const EVERY = '*'
/** The opaque origin of files, sandboxed frames and redirects. `*` does not include it: any site can make such a page. */
const OPAQUE = 'null'
/** Origins of browser extensions. The id is the extension's in Chromium, and the installation's in Firefox. */
const EXTENSION = /^((?:chrome|moz)-extension):\/\/(?:[a-p]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/
const EVERY_EXTENSION = /^(?:chrome|moz)-extension:\/\/\*$/
/** A wildcard for a host's first label. At least two labels follow it; with one, it would match a whole top-level domain. */
const EVERY_SUBDOMAIN = /^(https?:\/\/)\*(\.[^.:]+(?:\.[^.:]+)+(?::\d+)?)$/
const FIRST_LABEL = /^(https?:\/\/)[^.:/[\]]+(\.[^:]+(?::\d+)?)$/
/** Loopback: pages of this machine, at any port of a development server. */
const LOOPBACK = /^(https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d+)?$/
const EVERY_PORT = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):\*$/
const PRODUCT = new RegExp(`^(?:${ORIGIN_PRODUCTS.join('|')}):(?!//)`)

export const ORIGIN_ENTRY_FORMS =
  'must be an origin as in https://app.example.org, https://*.example.org, chrome-extension://ID, http://localhost:*, * or null, for one product with its name in front as in rpc:*'

/**
 * Tells whether a text is an entry in a key's list of origins: an origin or a pattern. A product's name before it limits
 * the entry to that product.
 */
export function isOriginEntry(text: string): boolean {
  const pattern = text.replace(PRODUCT, '')
  return (
    pattern === EVERY ||
    pattern === OPAQUE ||
    isWebOrigin(pattern) ||
    EXTENSION.test(pattern) ||
    EVERY_EXTENSION.test(pattern) ||
    EVERY_PORT.test(pattern) ||
    (EVERY_SUBDOMAIN.test(pattern) && isWebOrigin(pattern.replace('*', 'a')))
  )
}

/**
 * Returns every entry that lets pages of an origin use a product; empty for a text that is not an origin. A list admits
 * the origin if it contains one of these entries, so keys are found by their entries.
 */
export function entriesFor(origin: string, use: OriginUse): string[] {
  const patterns = patternsFor(origin)
  if (use === null) return patterns
  const products = use === 'any' ? ORIGIN_PRODUCTS : [use]
  return patterns.flatMap((pattern) => [pattern, ...products.map((product) => `${product}:${pattern}`)])
}

function patternsFor(origin: string): string[] {
  if (origin === OPAQUE) return [OPAQUE]
  const extension = EXTENSION.exec(origin)
  if (extension !== null) return [origin, `${extension[1]}://*`, EVERY]
  if (!isWebOrigin(origin)) return []
  const patterns = [origin, EVERY]
  const labels = FIRST_LABEL.exec(origin)
  if (labels !== null) patterns.push(`${labels[1]}*${labels[2]}`)
  const loopback = LOOPBACK.exec(origin)
  if (loopback !== null) patterns.push(`${loopback[1]}:*`)
  return patterns
}
