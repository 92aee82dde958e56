import type { OffChainFields, OffChainReading } from './ports.ts'

/** Longest URL that is taken, in characters. Chosen: the longest that common servers take in a request. */
export const OFF_CHAIN_URL_MAX = 2_048
/** Characters of a description that are taken. Chosen: as much as the pages of tokens show. */
export const DESCRIPTION_MAX = 1_000

const WEB = ['https:', 'http:']
/** Schemes of images: a client resolves the last two by a gateway of its own. */
const IMAGES = [...WEB, 'ipfs:', 'ar:']

/** Reads the fields of a JSON text that a mint's URI leads to. A field of another type or form is null. */
export function readOffChainFields(text: string): OffChainReading {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { kind: 'failed', error: 'not_json' }
  }
  if (!isObject(json)) return { kind: 'failed', error: 'not_an_object' }
  // Lists of tokens have links among the extensions.
  const extensions = isObject(json['extensions']) ? json['extensions'] : {}
  const link = (...names: string[]): string | null =>
    names.map((name) => urlIn(json[name], WEB) ?? urlIn(extensions[name], WEB)).find((url) => url !== null) ??
    null
  const { description } = json
  const fields: OffChainFields = {
    image: urlIn(json['image'], IMAGES),
    description: typeof description === 'string' ? firstCharacters(description, DESCRIPTION_MAX) : null,
    website: link('external_url', 'website'),
    twitter: link('twitter'),
    telegram: link('telegram'),
    discord: link('discord')
  }
  return { kind: 'read', fields }
}

function urlIn(value: unknown, schemes: readonly string[]): string | null {
  if (typeof value !== 'string' || value.length > OFF_CHAIN_URL_MAX || /[\s\p{C}]/u.test(value)) return null
  return URL.canParse(value) && schemes.includes(new URL(value).protocol) ? value : null
}

function firstCharacters(text: string, max: number): string {
  return text.length <= max ? text : [...text.slice(0, 2 * max)].slice(0, max).join('')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the URL by which a URI of a mint is fetched: `ipfs:` by the gateway, others as they are. */
export function fetchedUrl(uri: string, ipfsGateway: string): string {
  const path = /^ipfs:\/\/(?:ipfs\/)?(.+)$/i.exec(uri)?.[1]
  return path === undefined ? uri : `${ipfsGateway.replace(/\/+$/, '')}/ipfs/${path}`
}
