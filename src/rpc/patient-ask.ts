import { sleep, type Clock } from '../ports.ts'
import type { Ask } from './conformance-cases.ts'

/** Called with the seconds of the wait before a request is retried. */
export type OnWait = (seconds: number) => void

/** Maximum consecutive refusals of one request: other clients of the key may use up the quota of several minutes. */
const REFUSALS_MAX = 5
/** Maximum wait in seconds. The window of this service's quotas is a minute; a node may request an hour. */
const WAIT_MAX_S = 60

/**
 * Returns an `Ask` that retries a request refused for its rate, once the endpoint allows it. After five consecutive
 * refusals of a request, the refusal is its answer. Rejects once `signal` aborts.
 */
export function patientAsk(ask: Ask, clock: Clock, signal: AbortSignal, onWait: OnWait): Ask {
  return async (body) => {
    for (let refusals = 1; ; refusals++) {
      const answer = await ask(body)
      if (answer.retryAfterS === undefined || refusals === REFUSALS_MAX) return answer
      const seconds = Math.min(answer.retryAfterS, WAIT_MAX_S)
      onWait(seconds)
      await sleep(clock, seconds * 1_000, signal)
      signal.throwIfAborted()
    }
  }
}
