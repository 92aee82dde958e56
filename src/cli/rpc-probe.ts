import { once } from 'node:events'
import { request, WebSocket, type MessageEvent } from 'undici'
import { sleep, type Clock } from '../ports.ts'

/** Milliseconds for one answer: a node may need some seconds to read a block from disk. */
const ANSWER_MS = 15_000
/** Milliseconds until a socket is open, or a message arrives. The same reason. */
const SOCKET_MS = ANSWER_MS
const REFUSALS_MAX = 5
/** Seconds. The window of this service's quotas is a minute. */
const WAIT_MAX_S = 60

/** An HTTP request of a check. */
export interface ProbeRequest {
  readonly url: string
  readonly method?: 'POST' | 'GET' | 'OPTIONS'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** The answer to a request of a check. */
export interface ProbeReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The parsed body; its text if it is not JSON. */
  readonly body: unknown
}

/** Sends a request of a check. Rejects without an answer. */
export type Send = (request: ProbeRequest) => Promise<ProbeReply>

/** Returns a `Send` that repeats a request beyond the quota once the endpoint allows it. */
export function patientSend(clock: Clock, signal: AbortSignal, onWait: (seconds: number) => void): Send {
  return async (probe) => {
    for (let refusals = 1; ; refusals++) {
      signal.throwIfAborted()
      const reply = await sendOnce(probe)
      if (reply.status !== 429 || refusals === REFUSALS_MAX) return reply
      const seconds = Math.min(Number(reply.headers['retry-after']) || 1, WAIT_MAX_S)
      onWait(seconds)
      await sleep(clock, seconds * 1_000, signal)
    }
  }
}

async function sendOnce({ url, method = 'POST', headers = {}, body }: ProbeRequest): Promise<ProbeReply> {
  const reply = await request(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body }),
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS
  })
  const text = await reply.body.text()
  let parsed: unknown = text
  try {
    parsed = JSON.parse(text)
  } catch {
    // The text is the answer.
  }
  return { status: reply.statusCode, headers: reply.headers, body: parsed }
}

/** A socket of a check. */
export interface ProbeSocket {
  /** Sends a message and resolves with the next one that is not a notification. */
  ask(text: string): Promise<unknown>
  end(): void
}

/** Opens a socket. Rejects with the reason if the handshake is refused. */
export async function openProbeSocket(url: string, origin?: string): Promise<ProbeSocket> {
  const socket = new WebSocket(url, { headers: origin === undefined ? {} : { origin } })
  const signal = AbortSignal.timeout(SOCKET_MS)
  await Promise.race([
    once(socket, 'open', { signal }),
    once(socket, 'error', { signal }).then(([event]) => {
      throw new Error(reasonOf(event as { error?: Error; message?: string }))
    })
  ])
  return {
    ask: (text) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no answer in ${SOCKET_MS / 1_000} s`)), SOCKET_MS)
        const take = ({ data }: MessageEvent): void => {
          const answer = JSON.parse(String(data)) as { method?: unknown }
          if (answer.method !== undefined) return
          done()
          resolve(answer)
        }
        const lost = (): void => {
          done()
          reject(new Error('the socket was closed'))
        }
        const done = (): void => {
          clearTimeout(timer)
          socket.removeEventListener('message', take)
          socket.removeEventListener('close', lost)
        }
        socket.addEventListener('message', take)
        socket.addEventListener('close', lost)
        socket.send(text)
      }),
    end: () => socket.close()
  }
}

function reasonOf({ error, message }: { error?: Error; message?: string }): string {
  const cause = error?.cause instanceof Error ? error.cause : error
  return cause?.message || message || 'the handshake was refused'
}
