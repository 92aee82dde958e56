import { useEffect, useState } from 'preact/hooks'
import { callOf, SERVICE_URL, type Answer } from './api.ts'
import type { Metadata } from './answers.ts'
import { apiKey } from './session.ts'
import { useStore } from './store.ts'
import { useAnswer } from './use-answer.ts'

/** Interval in milliseconds between calls for metadata whose JSON is still being fetched. */
const PENDING_MS = 3_000

export interface OffChain {
  /** The answer with the fields of the JSON at the token's URI; null unless the service fetches it. */
  readonly answer: Answer<Metadata> | null
  /** URL of the image in this browser; null while no image is read. */
  readonly imageUrl: string | null
}

/**
 * Reads what the JSON at a token's URI states, and its image, both through the service. `isRead` tells whether the service has read
 * the mint's accounts: without a node it has neither.
 */
export function useOffChain(mint: string, isRead: boolean): OffChain {
  const [isPending, setIsPending] = useState(false)
  const call = isRead ? callOf('/v1/metadata/{mint}', { mint }) : null
  const { answer } = useAnswer<Metadata>(call, isPending ? PENDING_MS : null)
  const offChain = answer?.body.off_chain ?? null
  useEffect(() => setIsPending(offChain?.state === 'pending'), [offChain?.state])
  const imageUrl = useImage(mint, offChain?.image ?? null)
  return { answer: offChain === null ? null : answer, imageUrl }
}

/** Fetches the image of a token with the key of this tab, which an `img` cannot send. */
function useImage(mint: string, image: string | null): string | null {
  const key = useStore(apiKey)
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    if (image === null) return undefined
    const controller = new AbortController()
    let shown: string | null = null
    const load = async (): Promise<void> => {
      const { path } = callOf('/v1/tokens/{mint}/image', { mint })
      const response = await fetch(new URL(path.slice(1), SERVICE_URL), {
        headers: { 'X-API-Key': key },
        signal: controller.signal
      })
      if (!response.ok) return
      const blob = await response.blob()
      if (controller.signal.aborted) return
      shown = URL.createObjectURL(blob)
      const picture = new Image()
      picture.src = shown
      await picture.decode()
      if (!controller.signal.aborted) setUrl(shown)
    }
    // The drawn picture of the address stays if the image cannot be read or decoded.
    load().catch(() => undefined)
    return () => {
      controller.abort()
      if (shown !== null) URL.revokeObjectURL(shown)
      setUrl(null)
    }
  }, [key, mint, image])
  return url
}
