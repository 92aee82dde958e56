import { endOfEvents } from '../../../src/market/cursor.ts'
import type { CursorRange, WebhookProgress } from '../../../src/webhooks/webhook.ts'
import { BATCH_EVENTS_MAX } from '../../../src/webhooks/backlog.ts'
import type { Answer, Received } from './delivery-world.ts'

/** Attempts of a delivery. */
const ATTEMPTS = '3'
const cursorsOf = ({ body }: Received): number[] => body.events.map(({ data }) => data.cursor)
const isIn = ({ from, to }: CursorRange, cursor: number): boolean => cursor > from && cursor <= to
export const isSuccess = (answer: Answer): boolean => answer === 200 || answer === 204

/**
 * A reference for the deliveries of one webhook. It sees the POSTs, their answers and the owner's actions, and reports wrong
 * POSTs.
 */
export class DeliveryModel {
  readonly faults: string[] = []
  /** Accepted batches, in the order in which they came. */
  readonly accepted = new Map<string, Received>()
  /** Whether a 410 has ended deliveries. */
  isGone = false
  secret = ''
  /** Token of the process that has the webhook. */
  token = 0
  droppedTotal = 0
  /** Dropped events that no accepted batch has reported. */
  unreported = 0
  readonly #texts = new Map<string, string>()
  readonly #failed = new Set<string>()
  readonly #droppedEvents = new Set<number>()
  /** Ranges that are reported as unknown, and those that the owner skipped by `since`. */
  readonly #excused: CursorRange[] = []
  /** The batch whose delivery has not ended. */
  #current: string | null = null
  /** Last cursor of the deliveries that have ended. */
  #ended = -1
  #isForked = false
  #isRestarted = false
  /** Number of batches that another process built again because the log had changed. */
  rebuilt = 0

  readonly #id: number

  constructor(id: number) {
    this.#id = id
  }

  /** Checks a POST when it arrives. */
  posted(post: Received): void {
    const { body, headers, text, token } = post
    const { batch_id: id } = body
    if (body.webhook_id !== this.#id) this.faults.push(`${id} is of a webhook that was deleted`)
    if (token !== this.token) this.faults.push(`${id} was sent by a process that was outranked`)
    if (headers['secret'] !== this.secret) this.faults.push(`${id} is signed with ${headers['secret']}`)
    if (this.isGone) this.faults.push(`${id} was sent after 410`)
    if (this.#failed.has(id)) this.faults.push(`${id} was sent again after its last attempt`)
    if ((this.#texts.get(id) ?? text) !== text) this.faults.push(`${id} has come with other bytes`)
    if (!this.#texts.has(id)) this.#begin(post)
    this.#texts.set(id, text)
  }

  /** Returns the answer of the receiver: it accepts a repeat of a batch that it has accepted. */
  answerTo(post: Received, given: Answer): Answer {
    return this.accepted.has(post.body.batch_id) ? 200 : given
  }

  /** Records the answer to a POST. An outranked process receives the answer, but does not store it. */
  answered(post: Received, answer: Answer): void {
    const { batch_id: id } = post.body
    if (isSuccess(answer)) return this.#accept(post)
    if (post.token !== this.token || answer === 'too_many_posts') return
    if (answer !== 410 && post.headers['attempt'] !== ATTEMPTS) return
    this.isGone = answer === 410
    this.#failed.add(id)
    this.#end(post)
    this.droppedTotal += post.body.events.length
    this.unreported += post.body.events.length
    for (const cursor of cursorsOf(post)) this.#droppedEvents.add(cursor)
  }

  /** Another process, or another run, has begun. */
  restarted(token: number): void {
    this.token = token
    this.#isRestarted = true
  }

  forked(): void {
    this.#isForked = true
  }

  /** The owner has enabled the webhook. */
  enabled(since: number | null): void {
    this.isGone = false
    this.#current = null
    if (since === null) return
    this.unreported = 0
    this.#ended = since
    this.#excused.push({ from: -1, to: since })
  }

  /** Judges everything once all events are delivered or dropped; `stored` are the cursors of the log. */
  judge(stored: readonly number[], progress: WebhookProgress): string[] {
    const heard = new Set([...this.accepted.values()].flatMap(cursorsOf))
    const excused = progress.missed === null ? this.#excused : [...this.#excused, progress.missed]
    const isKnown = (cursor: number): boolean =>
      heard.has(cursor) || this.#droppedEvents.has(cursor) || excused.some((range) => isIn(range, cursor))
    const lost = stored.filter((cursor) => !isKnown(cursor))
    if (lost.length > 0) this.faults.push(`${lost.length} of ${stored.length} events are lost`)
    const counted = [progress.droppedTotal, progress.dropped]
    const expected = [this.droppedTotal, this.unreported]
    if (counted.join() !== expected.join())
      this.faults.push(`${counted.join()} dropped and unreported, not ${expected.join()}`)
    return this.faults
  }

  /** Checks the first POST of a batch. */
  #begin(post: Received): void {
    const { batch_id: id, dropped = 0, missed } = post.body
    const cursors = cursorsOf(post)
    if (cursors.length > BATCH_EVENTS_MAX) this.faults.push(`${id} has ${cursors.length} events`)
    if (cursors.some((cursor, n) => n > 0 && cursor <= cursors[n - 1]!))
      this.faults.push(`${id} has no order`)
    const isAgain = this.#current !== null || cursors[0]! <= this.#ended
    if (isAgain && this.#isForked && this.#isRestarted) {
      // The previous process may have died before it recorded an answer: the drops of its batch are reported again.
      this.rebuilt++
      this.unreported = dropped
    } else if (isAgain) this.faults.push(`${id} has events of a batch before it`)
    if (dropped !== this.unreported)
      this.faults.push(`${id} reports ${dropped} dropped, not ${this.unreported}`)
    if (missed !== undefined && missed.to_cursor >= cursors[0]!) this.faults.push(`${id} misses its events`)
    this.#current = id
    this.#isForked = false
    this.#isRestarted = false
  }

  #accept(post: Received): void {
    const { batch_id: id, dropped = 0, missed } = post.body
    if (!this.accepted.has(id)) {
      this.accepted.set(id, post)
      this.unreported -= dropped
      if (missed !== undefined) this.#tell({ from: missed.from_cursor, to: missed.to_cursor })
    }
    this.#end(post)
  }

  #tell(range: CursorRange): void {
    const heard = [...this.accepted.values()].flatMap(cursorsOf)
    if (this.rebuilt === 0 && this.#excused.length === 1 && heard.some((cursor) => isIn(range, cursor)))
      this.faults.push(`${range.from} to ${range.to} is reported as missed, and was delivered`)
    this.#excused.push(range)
  }

  #end(post: Received): void {
    if (this.#current === post.body.batch_id) this.#current = null
    this.#ended = Math.max(this.#ended, cursorsOf(post).at(-1)!)
  }
}

/** Returns a cursor of some slot up to the last one. */
export const sinceOf = (thousandths: number, slot: number): number =>
  endOfEvents(Math.floor((slot * thousandths) / 1_000))
