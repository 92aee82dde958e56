import type { Test } from 'tap'
import { PooledSender, type SenderTuning } from '../../../actors/webhooks/sender.ts'
import { systemPorts, type Clock } from '../../../src/ports.ts'
import { UrlGuard, type HostLookup } from '../../../src/webhooks/url-guard.ts'
import type { PostOutcome } from '../../../src/webhooks/webhook.ts'
import { settle, type VirtualClock } from '../../virtual-time.ts'

export const BODY = Buffer.from('{"webhook_id":1,"batch_ts":1,"events":[]}')
export const never = new AbortController().signal

interface Options {
  readonly clock?: Clock
  readonly lookup?: HostLookup
  readonly allowPrivate?: boolean
  readonly tuning?: Partial<SenderTuning>
  readonly ca?: string
}

export function senderOf(
  t: Test,
  { clock = systemPorts.clock, lookup, allowPrivate = true, tuning = {}, ca }: Options = {}
): PooledSender {
  const guard = new UrlGuard({ allowPrivate, ...(lookup !== undefined && { lookup }) })
  const sender = new PooledSender({ guard, clock, tuning, ...(ca !== undefined && { ca }) })
  t.teardown(() => sender.close())
  return sender
}

export const post = (
  sender: PooledSender,
  url: string,
  { tenant = 'acme', signal = never, headers = {} } = {}
): Promise<PostOutcome> => sender.post(tenant, { url, headers, body: BODY }, signal)

export const at = ({ port }: { readonly port: number }, path = '/hook'): string =>
  `http://127.0.0.1:${port}${path}`

/** Moves a virtual clock to the deadline, and resolves with the outcome. */
export async function atDeadline(clock: VirtualClock, outcome: Promise<PostOutcome>): Promise<PostOutcome> {
  clock.increment(9_999)
  await settle()
  let isOver = false
  void outcome.then(() => (isOver = true))
  await settle()
  if (isOver) return { ...(await outcome), kind: 'failed', error: 'ended before the deadline' }
  clock.increment(1)
  return outcome
}
