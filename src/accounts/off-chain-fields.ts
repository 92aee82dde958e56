import type { OffChainFields, OffChainReading } from './ports.ts'

/** Maximum length of a URL in characters: the longest that common servers accept in a request. */
export const OFF_CHAIN_URL_MAX = 2_048
/** Maximum characters of a description: as much as token pages show. */
export const DESCRIPTION_MAX = 1_000

const WEB = ['https:', 'http:']
/** Schemes of images. Clients resolve the last two through their own gateway. */
const IMAGES = [...WEB, 'ipfs:', 'ar:']

/** Reads the fields of the JSON text at a mint's URI. A field of another type or form is null. */
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

/** Returns the URL from which a mint's URI is fetched: `ipfs:` through the gateway, others unchanged. */
export function fetchedUrl(uri: string, ipfsGateway: string): string {
  const path = /^ipfs:\/\/(?:ipfs\/)?(.+)$/i.exec(uri)?.[1]
  return path === undefined ? uri : `${ipfsGateway.replace(/\/+$/, '')}/ipfs/${path}`
}
