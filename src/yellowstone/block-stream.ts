import { backoffMs, jittered, type Backoff } from '../../machines/backoff.ts'
import { sleep, type Ports } from '../ports.ts'
import type { OpenStream, UpdateStream } from './client.ts'
import type { ClusterCheck } from './cluster-check.ts'
import { faultOf, type StreamFault } from './failure.ts'
import type { HeldBlocks } from './held-blocks.ts'
import { readUpdate, type Update } from './read-block.ts'

export const STREAM_STATES = ['connecting', 'advancing', 'full', 'stalled', 'waiting', 'refused'] as const

/**
 * `advancing`: newer slots arrive. `full`: reading pauses until there is room. `stalled` and `waiting`: reconnects
 * after a wait. `refused`: does not reconnect until it is restarted.
 */
export type StreamState = (typeof STREAM_STATES)[number]

export interface StreamStatus {
  readonly state: StreamState
  /** Reason why it is not advancing; null while it is. */
  readonly reason: string | null
  /** The newest slot that arrived or was stored before. */
  readonly slot: number | null
  /** The slot that came last, newer or not; null before the first. */
  readonly at: number | null
  /** Number of consecutive connections without a newer slot. */
  readonly attempt: number
}

export interface StreamTuning {
  /** Time without a newer slot, during reading, after which a stream is stalled. */
  readonly stallMs: number
  /** Time without room after which a stream is closed, so that the server does not buffer for it. */
  readonly fullMs: number
  readonly backoff: Backoff
}

export interface StreamDeps extends Ports {
  readonly open: OpenStream
  readonly held: HeldBlocks
  /** Checks the first block of each connection for whether it is of our chain. */
  readonly cluster: ClusterCheck
  readonly tuning: StreamTuning
  /** Returns the first wanted slot, or null for the newest. */
  readonly nextSlot: () => number | null
  readonly onArrival: () => void
  /** Resolves when there may be room, after `ms`, or when the signal aborts. */
  readonly room: (ms: number, signal: AbortSignal) => Promise<void>
  /** Called for each change of the state or its reason. */
  readonly onStatus: (status: StreamStatus) => void
  /** Called for oddities that do not stop the stream. */
  readonly onOddity: (slot: number | null, detail: string) => void
}

/** Slots above the server's first one to request, because the server prunes while the request is in transit. */
const REPLAY_MARGIN = 4
/** Number of consecutive streams that break on invalid bytes, after which the next one begins at the newest slot. */
const GARBAGE_MAX = 2
const MINUTE_MS = 60_000

/**
 * A server's answer about the slots at which it can begin: from a slot on, or only at the newest one, permanently or
 * only this time.
 */
type Replay = { readonly from: number } | 'never' | 'not-now'

/**
 * Reads a stream into the held blocks and reconnects when that can help.
 *
 * S1. Only a newer slot is progress: a stream with only pings, repeated slots or other updates is stalled.
 * S2. A message is read only while there is room; the rest waits at the server. If room stays absent for long, the
 *     stream is closed.
 * S3. A new connection continues from the last slot held. If the server cannot, it continues from the first slot that
 *     the server has. If the server has pruned that slot too, it continues from the server's newest slot. The slots
 *     in between are missing.
 * S4. No block of a connection is accepted before its first block is found to be of the store's chain.
 */
export class BlockStream {
  readonly counts = { connections: 0, messages: 0, pings: 0, unreadable: 0, repeated: 0, pauses: 0 }
  readonly #deps: StreamDeps
  #status: StreamStatus
  #replay: Replay | null = null
  #garbage = 0

  /** Takes the last stored slot; slots at or below it are not progress. */
  constructor(after: number | null, deps: StreamDeps) {
    this.#deps = deps
    this.#status = { state: 'connecting', reason: null, slot: after, at: null, attempt: 0 }
  }

  get status(): StreamStatus {
    return this.#status
  }

  /** Runs until the signal aborts, or until reconnecting cannot help; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, tuning, held } = this.#deps
    while (!signal.aborted) {
      while (!held.hasRoom && !signal.aborted) await this.#waitForRoom(MINUTE_MS, signal)
      if (signal.aborted) return
      this.#say('connecting', this.#status.reason)
      const fault = await this.#session(signal)
      if (signal.aborted) return
      if (fault === null) continue
      this.#garbage = fault.garbage === true ? this.#garbage + 1 : 0
      const attempt = this.#status.attempt + 1
      if (fault.remedy === 'never') return this.#say('refused', fault.reason, attempt)
      this.#say(fault === STALLED ? 'stalled' : 'waiting', this.#reasonOf(fault), attempt)
      const isQuick = fault.remedy === 'replay' && attempt <= 2
      if (fault.remedy === 'replay') this.#replay = this.#replayAfter(fault)
      if (isQuick) continue
      // The server prunes meanwhile. A request for the slot that it named before a pause would be refused again and
      // again.
      if (typeof this.#replay === 'object' && this.#replay !== null) this.#replay = 'not-now'
      await sleep(clock, jittered(backoffMs(tuning.backoff, attempt), random()), signal)
    }
  }

  #reasonOf(fault: StreamFault): string {
    if (fault !== STALLED) return fault.reason
    const { slot, at: last } = this.#status
    const behind = last !== null && slot !== null && last < slot
    const at = behind ? `: it is at slot ${last}, below ${slot}, the newest so far` : ''
    return `has sent no newer slot for ${this.#deps.tuning.stallMs} ms${at}`
  }

  #say(state: StreamState, reason: string | null, attempt = this.#status.attempt): void {
    const before = this.#status
    this.#status = { ...before, state, reason, attempt }
    if (before.state !== state || before.reason !== reason) this.#deps.onStatus(this.#status)
  }

  #replayAfter({ firstSlot }: StreamFault): Replay {
    if (typeof firstSlot === 'number') return { from: firstSlot + REPLAY_MARGIN }
    return firstSlot === null ? 'never' : 'not-now'
  }

  /**
   * Returns the slot to request: the last held one, again. The next one may not exist yet, and servers reject unknown
   * slots.
   */
  #fromSlot(): number | null {
    const nextSlot = this.#deps.nextSlot()
    const replay = this.#replay
    if (replay === 'not-now') this.#replay = null
    if (nextSlot === null || typeof replay === 'string' || this.#garbage >= GARBAGE_MAX) return null
    return Math.max(nextSlot - 1, replay?.from ?? 0)
  }

  /** Runs one connection to its end; null if it was closed for lack of room. */
  async #session(signal: AbortSignal): Promise<StreamFault | null> {
    const { clock, open, tuning, cluster } = this.#deps
    const watch = new Watch(clock, tuning.stallMs, signal)
    let stream: UpdateStream | undefined
    let isAdmitted = false
    try {
      const opening = open(this.#fromSlot())
      // A stream that opens after the timeout is closed.
      opening.then(
        (late) => watch.isOver && late.close(),
        () => undefined
      )
      stream = await watch.race(opening)
      this.counts.connections++
      for (;;) {
        const bytes = await watch.race(stream.read())
        if (bytes === null) return ENDED
        this.counts.messages++
        const update = readUpdate(bytes)
        if (update.kind === 'block' && !isAdmitted) {
          watch.stop()
          const standing = await watch.race(cluster.standingOf(update.block, signal))
          if (standing.kind === 'other') return { remedy: 'never', reason: standing.reason }
          if (standing.kind === 'unknown') return { remedy: 'again', reason: standing.reason }
          isAdmitted = true
          watch.restart()
        }
        if (this.#take(update, bytes.length, stream)) watch.restart()
        if (this.#deps.held.isFull) {
          watch.stop()
          if (!(await this.#pause(signal))) return null
          watch.restart()
        }
      }
    } catch (error) {
      return error === watch.stalled ? STALLED : faultOf(error, (text) => text)
    } finally {
      watch.stop()
      watch.isOver = true
      stream?.close()
    }
  }

  /** Handles a message; returns whether it is progress. */
  #take(update: Update, bytes: number, stream: UpdateStream): boolean {
    const { held, cluster, clock, onArrival, onOddity } = this.#deps
    if (update.kind === 'ping') {
      this.counts.pings++
      stream.answerPing()
    } else if (update.kind === 'unreadable') {
      this.counts.unreadable++
      onOddity(update.slot, `the stream's block cannot be read: ${update.reason}`)
    }
    if (update.kind !== 'block') return false
    const { block } = update
    this.#status = { ...this.#status, at: block.slot }
    cluster.note(block)
    if (held.add({ block, bytes, receivedAtMs: clock.now() })) onArrival()
    else this.counts.repeated++
    if (block.slot <= (this.#status.slot ?? -1)) return false
    this.#garbage = 0
    if (this.#replay !== 'never') this.#replay = null
    this.#status = { ...this.#status, slot: block.slot }
    this.#say('advancing', null, 0)
    return true
  }

  /** Waits for room without reading. Returns false if the wait takes so long that the stream must be closed. */
  async #pause(signal: AbortSignal): Promise<boolean> {
    const { held, tuning } = this.#deps
    this.counts.pauses++
    this.#say('full', 'blocks arrive faster than they are ingested')
    await this.#waitForRoom(tuning.fullMs, signal)
    return held.hasRoom && !signal.aborted
  }

  async #waitForRoom(ms: number, signal: AbortSignal): Promise<void> {
    const { clock, held, room } = this.#deps
    const end = new AbortController()
    const timer = clock.setTimeout(() => end.abort(), ms)
    const both = AbortSignal.any([signal, end.signal])
    while (!held.hasRoom && !both.aborted) await room(ms, both)
    clock.clearTimeout(timer)
  }
}

const ENDED: StreamFault = { remedy: 'again', reason: 'ended the stream' }
const STALLED: StreamFault = { remedy: 'again', reason: 'sends no newer slot' }

/** Ends a wait after a time without progress, or when the signal aborts. */
class Watch {
  readonly stalled = new Error('stalled')
  isOver = false
  readonly #clock: Ports['clock']
  readonly #ms: number
  readonly #signal: AbortSignal
  #timer: unknown
  #give: (error: Error) => void = () => undefined

  constructor(clock: Ports['clock'], ms: number, signal: AbortSignal) {
    this.#clock = clock
    this.#ms = ms
    this.#signal = signal
    this.restart()
  }

  restart(): void {
    this.stop()
    this.#timer = this.#clock.setTimeout(() => this.#give(this.stalled), this.#ms)
  }

  stop(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(new Error('aborted'))
      this.#give = reject
      if (this.#signal.aborted) return abort()
      this.#signal.addEventListener('abort', abort, { once: true })
      const forget = (): void => this.#signal.removeEventListener('abort', abort)
      work.then(resolve, reject).then(forget, forget)
    })
  }
}
