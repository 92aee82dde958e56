import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { verify } from '../../src/client/webhooks.ts'
import type { Storage } from '../../storage/port.ts'
import { splitCursor } from '../../src/market/cursor.ts'
import { Documents } from '../../storage/documents.ts'
import { WEBHOOK } from '../../src/webhooks/webhook.ts'
import { storedEvents } from './stream-swarm.ts'
import { tenantShard } from '../../src/access/tenant-shard.ts'

/** How a receiver treats a POST: accepts it, answers 500, closes the connection unanswered, or never answers. */
export type Treatment = 'accept' | 'refuse' | 'reset' | 'hang'

interface Batch {
  readonly batch_id: string
  readonly cursor: number
  readonly events: readonly { readonly channel: string; readonly data: { readonly cursor: number } }[]
  readonly dropped?: number
  readonly missed?: { readonly from_cursor: number; readonly to_cursor: number }
}

/** The tenant of the webhooks. */
export const TENANT = 'operator'

/** One POST as a receiver has it. */
export interface Post {
  /** Number of POSTs before it. */
  readonly index: number
  readonly batch: Batch
  readonly text: string
  /** Number of earlier POSTs of its batch. */
  readonly repeats: number
}

/** Calls that a receiver makes around its answers; a test kills the service in them. */
export interface Hooks {
  readonly received?: (post: Post) => Promise<void>
  readonly answered?: (post: Post) => void
}

/** Moments around a POST at which a test kills the service. */
export const CRASH_POINTS = ['a POST was received', 'a POST was answered', 'between two POSTs'] as const
export type CrashPoint = (typeof CRASH_POINTS)[number]
/** Milliseconds after an answer at which no POST is in flight: POSTs are 500 ms apart. */
const BETWEEN_MS = 120
/** POST from which on the first batch that is treated is refused three times, and so dropped. */
const REFUSED = 5

/** Fails every seventh batch once, in two ways, and one for good. */
export class Flapping {
  isOver = false
  readonly refused = new Set<string>()

  treat({ index, repeats, batch }: Post): Treatment {
    if (this.isOver) return 'accept'
    if (index >= REFUSED && this.refused.size === 0) this.refused.add(batch.batch_id)
    if (this.refused.has(batch.batch_id)) return 'refuse'
    if (repeats > 0 || index % 7 !== 3) return 'accept'
    return index % 2 === 0 ? 'reset' : 'refuse'
  }
}

/** A receiver of one webhook: verifies each POST, and remembers what it accepted. */
export class WebhookReceiver {
  readonly posts: Post[] = []
  readonly faults: string[] = []
  secret = ''
  /** Nothing is accepted until a batch begins before this slot. */
  beginsBefore = Infinity
  hooks: Hooks = {}
  /** Accepted batches by id, in the order in which they came first. */
  readonly accepted = new Map<string, Post>()
  readonly #server: Server
  readonly #treat: (post: Post) => Treatment

  private constructor(treat: (post: Post) => Treatment) {
    this.#treat = treat
    this.#server = createServer((request, response) => void this.#take(request, response))
  }

  static async start(t: Test, treat: (post: Post) => Treatment = () => 'accept'): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(treat)
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      receiver.#server.close()
      receiver.#server.closeAllConnections()
    })
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  /** The slot of the last accepted event; -1 before the first. */
  get slot(): number {
    const last = [...this.accepted.values()].at(-1)
    return last === undefined ? -1 : splitCursor(last.batch.cursor).slot
  }

  /** Resolves after `kill`, which is called at a crash point around one of the next POSTs. */
  async atPoint(point: CrashPoint, kill: () => Promise<unknown>): Promise<void> {
    const from = this.posts.length + 3
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const killNow = async (): Promise<void> => {
      this.hooks = {}
      await kill().then(() => resolve(), reject)
    }
    const answered = ({ index }: Post): void => {
      if (index < from) return
      this.hooks = {}
      setTimeout(() => void killNow(), point === 'between two POSTs' ? BETWEEN_MS : 0)
    }
    const received = async ({ index }: Post): Promise<void> => {
      if (index >= from) await killNow()
    }
    this.hooks = point === 'a POST was received' ? { received } : { answered }
    return promise
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      // The service was killed in the middle of a POST.
      return
    }
    const body = Buffer.concat(chunks)
    await verify(request.headers, body, this.secret).catch((error: Error) => this.faults.push(error.message))
    const text = body.toString()
    const batch = JSON.parse(text) as Batch
    const same = this.posts.filter((post) => post.batch.batch_id === batch.batch_id)
    if (same.some((post) => post.text !== text))
      this.faults.push(`${batch.batch_id} has come with other bytes`)
    const post = { index: this.posts.length, batch, text, repeats: same.length }
    this.posts.push(post)
    const treatment = this.#treatmentOf(post)
    if (treatment === 'hang') return
    if (treatment === 'reset') return void request.socket.destroy()
    if (treatment === 'accept' && !this.accepted.has(batch.batch_id)) this.accepted.set(batch.batch_id, post)
    await this.hooks.received?.(post)
    response.statusCode = treatment === 'accept' ? 204 : 500
    response.end(() => this.hooks.answered?.(post))
  }

  #treatmentOf(post: Post): Treatment {
    const { batch_id, events } = post.batch
    if (this.accepted.has(batch_id)) return 'accept'
    const hasBegun = this.accepted.size > 0 || splitCursor(events[0]!.data.cursor).slot < this.beginsBefore
    return hasBegun ? this.#treat(post) : 'hang'
  }
}

/**
 * Checks that a receiver has every stored event up to a slot, which is the last of all, except for exactly those that were
 * counted as dropped.
 */
export async function judgeReceiver(
  t: Test,
  receiver: WebhookReceiver,
  { storage, id }: { readonly storage: Storage; readonly id: number },
  channels: readonly string[],
  lastSlot: number
): Promise<void> {
  const stored = new Map<string, string>()
  for (const channel of channels)
    for (const { cursor, data } of await storedEvents(storage, channel, lastSlot))
      stored.set(`${channel} ${cursor}`, data)
  const batches = [...receiver.accepted.values()]
  // A slot may have come after the last one.
  const inRange = batches.flatMap(({ batch }) =>
    batch.events.filter(({ data }) => splitCursor(data.cursor).slot <= lastSlot)
  )
  const heard = new Map(
    inRange.map((event) => [`${event.channel} ${event.data.cursor}`, JSON.stringify(event.data)])
  )
  const order = batches.flatMap(({ batch }) => batch.events.map(({ data }) => data.cursor))
  t.strictSame(
    order,
    order.toSorted((a, b) => a - b),
    'accepted batches are in cursor order'
  )
  t.equal(heard.size, inRange.length, 'and have each event once')
  t.strictSame([...heard].filter(([name, data]) => stored.get(name) !== data).slice(0, 3), [], 'to the byte')
  const told = batches.reduce((sum, { batch }) => sum + (batch.dropped ?? 0), 0)
  const missing = [...stored.keys()].filter((name) => !heard.has(name))
  const documents = new Documents(storage.documents, WEBHOOK)
  const found = await documents.get(tenantShard(TENANT), [TENANT, id])
  const [progress] = await documents.hot([found!])
  t.equal(missing.length, progress!.droppedTotal, `the missing of ${stored.size} events were counted`)
  t.equal(told, progress!.droppedTotal - progress!.dropped, 'and announced, as far as a batch followed')
  const first = Math.min(...[...stored.keys()].map((name) => Number(name.split(' ')[1])))
  t.ok(
    batches.every(({ batch }) => (batch.missed?.to_cursor ?? -1) < first),
    'no range is unknown but that before the first event'
  )
  t.strictSame(receiver.faults, [])
  const largest = Math.max(...batches.map(({ batch }) => batch.events.length))
  t.comment(`${batches.length} batches, ${heard.size} events, ${told} dropped, at most ${largest} in a batch`)
}
