import { imageFormOf } from '../../src/accounts/image-type.ts'
import { fetchedUrl } from '../../src/accounts/off-chain-fields.ts'
import type { ImageReading } from '../../src/accounts/ports.ts'
import { version } from '../../src/version.ts'
import type { OffChainFetchOptions } from './off-chain-fetch.ts'
import { publicFetch } from './public-fetch.ts'

/** Maximum bytes of an image. Images of tokens have 20 to 500 KB. */
export const IMAGE_BYTES_MAX = 1024 * 1024
/** Maximum width and height in pixels: a browser takes 64 MB to draw such an image. */
export const IMAGE_PIXELS_MAX = 4_096
/** Maximum milliseconds of a fetch, redirects included: a megabyte from a slow gateway. */
export const IMAGE_MS = 10_000

const HEADERS = {
  accept: 'image/webp, image/png, image/jpeg, image/gif',
  'user-agent': `Millrace-Metadata/${version}`
} as const

/** Fetches one image. Rejects only with the reason of the signal. */
export type TokenImageFetch = (url: string, signal: AbortSignal) => Promise<ImageReading>

/** Returns a function that fetches the images at URLs. */
export function tokenImageFetch({ guard, clock, ipfsGateway }: OffChainFetchOptions): TokenImageFetch {
  const limits = { bytesMax: IMAGE_BYTES_MAX, limitMs: IMAGE_MS }
  const fetch = publicFetch({ guard, clock, headers: HEADERS, ...limits })
  return async (url, signal) => {
    const answer = await fetch(fetchedUrl(url, ipfsGateway), signal)
    if (answer.kind === 'failed') return answer
    const form = imageFormOf(answer.bytes)
    if (form === null || form.width > IMAGE_PIXELS_MAX || form.height > IMAGE_PIXELS_MAX)
      return { kind: 'failed', error: 'not_an_image' }
    return { kind: 'read', image: { mediaType: form.mediaType, bytes: answer.bytes } }
  }
}
