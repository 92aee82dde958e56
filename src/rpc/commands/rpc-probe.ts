import { request } from 'undici'
import { sleep, type Clock } from '../../ports.ts'
import { ANSWER_MS, parsedText } from './rpc-endpoint.ts'

/** Maximum consecutive refusals of one request: other clients of the key may use up the quota of several minutes. */
const REFUSALS_MAX = 5
/** Maximum wait in seconds. The window of this service's quotas is a minute. */
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

/** Sends a request of a check. Rejects if no answer arrives. */
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
  return {
    status: reply.statusCode,
    headers: reply.headers,
    body: parsedText(await reply.body.text())
  }
}
