import { once } from 'node:events'
import { WebSocket, type MessageEvent } from 'undici'
import type { Ask } from '../conformance-cases.ts'
import { BadUsage } from '../../kernel/cli/command.ts'

/** Timeout of an answer, and of a handshake, in milliseconds. A node may need several seconds to read a block from disk. */
export const ANSWER_MS = 15_000
/** The code of a request beyond the quota of a key (src/docs/rpc.md). */
const RATE_LIMITED = -32429
/** Seconds to wait if a refusal states no time. Public nodes count requests in windows of 10 s. */
const UNNAMED_WAIT_S = 10

/** An RPC endpoint over HTTP or over one socket. */
export interface RpcEndpoint {
  readonly ask: Ask
  readonly isSocket: boolean
  end(): void
}

/**
 * Opens an endpoint by its URL: `http:`, `https:`, `ws:` or `wss:`. `flag` names the URL in errors. With an origin, a
 * socket is opened as a page of that origin opens it.
 */
export async function openRpcEndpoint(
  flag: string,
  url: string | undefined,
  origin?: string
): Promise<RpcEndpoint> {
  if (url === undefined || !URL.canParse(url)) throw new BadUsage(`${flag} needs a URL`)
  if (!isSocketUrl(url)) return { ask: askByPost(url), isSocket: false, end: () => undefined }
  const socket = new WebSocket(url, origin === undefined ? {} : { headers: { origin } })
  await once(socket, 'open', { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => {
    socket.close()
    throw new Error(`${flag}: the socket does not open`)
  })
  return { ask: askBySocket(socket), isSocket: true, end: () => socket.close() }
}

/** Tells whether a URL is that of a socket. */
export const isSocketUrl = (url: string): boolean => /^wss?:/.test(url)

function askByPost(url: string): Ask {
  return async (body) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(ANSWER_MS)
    }).catch((error: Error) => {
      // The reason of a failed fetch is its cause.
      throw error.cause instanceof Error ? error.cause : error
    })
    const parsed = parsedText(await answer.text())
    if (answer.status !== 429) return { body: parsed }
    return { body: parsed, retryAfterS: Number(answer.headers.get('retry-after')) || UNNAMED_WAIT_S }
  }
}

/**
 * Sends a message and returns the next one that is not a notification. After a timeout the socket is closed: the client
 * would mistake a late answer for the next request's.
 */
function askBySocket(socket: WebSocket): Ask {
  return (body) =>
    new Promise((resolve, reject) => {
      if (socket.readyState !== WebSocket.OPEN) return reject(new Error('the socket is closed'))
      const take = ({ data }: MessageEvent): void => {
        const answer = parsedText(String(data))
        const { method, error } = (answer ?? {}) as { method?: unknown; error?: RefusedForRate }
        if (method !== undefined) return
        const isRefused = error?.code === RATE_LIMITED
        const retryAfterS = isRefused ? (error.data?.retry_after ?? UNNAMED_WAIT_S) : undefined
        settle(() => resolve({ body: answer, retryAfterS }))
      }
      const lost = (): void => settle(() => reject(new Error('the socket was closed')))
      const late = (): void => {
        settle(() => reject(new Error(`no answer within ${ANSWER_MS / 1_000} s`)))
        socket.close()
      }
      const timer = setTimeout(late, ANSWER_MS)
      const settle = (then: () => void): void => {
        clearTimeout(timer)
        socket.removeEventListener('message', take)
        socket.removeEventListener('close', lost)
        then()
      }
      socket.addEventListener('message', take)
      socket.addEventListener('close', lost)
      socket.send(body)
    })
}

interface RefusedForRate {
  readonly code: number
  readonly data?: { readonly retry_after?: number }
}

/** Returns the value of a JSON text, or the text if it is not JSON. */
export function parsedText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
