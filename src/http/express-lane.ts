import type { IncomingMessage, RequestListener } from 'node:http'
import type { RateUse } from '../../storage/coordination.ts'
import { ServiceError } from '../errors.ts'
import { answerKey, type Answers } from './answers.ts'
import type { AppDeps } from './deps.ts'
import { freshnessFields } from './freshness.ts'
import { hostFault } from './host.ts'
import { findCaller, mayUse } from './plugins/access.ts'
import { rateFields } from './plugins/limits.ts'
import { plainFields } from './plugins/requests.ts'
import { ANSWER_TERMS, formFor } from './respond.ts'

type Deps = Pick<AppDeps, 'keys' | 'limits' | 'feed' | 'clock' | 'metrics' | 'logger' | 'draining'>

/**
 * Answers from memory what a key may have and asks for as most do, before a route is looked for; everything else goes
 * on to `rest`, which gives the same answers. A small answer takes 33 µs so, and 44 through the framework
 * (decisions/0006).
 *
 * X1. What is not answered here has had no effect: nothing was counted, nothing sent.
 * X2. Status, headers and bytes are those that `rest` would send.
 */
export function expressLane(
  deps: Deps,
  answers: Answers,
  nextRequestId: () => string,
  rest: RequestListener
): RequestListener {
  const { keys, limits, feed, clock, metrics, logger, draining } = deps
  return (request, response) => {
    const startedAt = performance.now()
    const passOn = (): void => void rest(request, response)
    const nowMs = clock.now()
    const caller = isPlain(request) && !draining() ? findCaller(keys, request, nowMs) : null
    if (caller === null || caller instanceof ServiceError) return passOn()
    // Each request has its line in a log of this level.
    if (logger.isLevelEnabled('debug')) return passOn()
    const kept = answers.fresh(answerKey(request.url!, caller.tenant))
    if (kept === null || !mayUse(caller, kept.route.scope)) return passOn()
    const form = formFor(request.headers, kept.rendering, ANSWER_TERMS)
    // Its gzip form is still to be made.
    if (form === null) return passOn()

    const send = (use: RateUse): void => {
      if (!use.allowed) return passOn()
      const fields = plainFields(nextRequestId()).concat(
        freshnessFields(feed.head, nowMs),
        rateFields(caller.ratePerMinute, use),
        form.fields
      )
      response.writeHead(form.status, fields)
      // A payload that is text is ASCII; as UTF-8 its length would be looked for first, for a microsecond.
      response.end(form.payload, 'latin1')
      metrics.requestSeconds.observe(kept.route.path, form.status, (performance.now() - startedAt) / 1000)
    }
    const use = limits.take(caller.keyId, caller.ratePerMinute, nowMs)
    if (use instanceof Promise) use.then(send, passOn)
    else send(use)
  }
}

/** Asks for no more than an answer; what pages of other origins may read is not for here. */
function isPlain(request: IncomingMessage): boolean {
  const { method, headers } = request
  return method === 'GET' && headers.origin === undefined && hostFault(request) === undefined
}
