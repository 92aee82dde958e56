import { backoffMs, jittered } from '../../machines/backoff.ts'
import { hasNoHistory, NodeError } from '../../src/node/node-fault.ts'
import type { BackfillPhase } from '../../src/revenue/backfill-document.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import { isOutage } from '../storage/retry.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import { ActiveBackfill, BackfillReplaced } from './active-backfill.ts'
import { BackfillClosing } from './backfill-closing.ts'
import type { BackfillDeps } from './backfill-deps.ts'
import { BackfillReading } from './backfill-reading.ts'
import { BackfillStart, NoNode, unavailableWith } from './backfill-start.ts'
import { patient } from './patient-node.ts'

/** Interval of listing the watches, in milliseconds: as often as the ledger does. */
const SYNC_MS = 5_000
/** Interval of listing the watches while no other process runs and none is new, in milliseconds. */
const ALONE_MS = 30_000
/** Interval while a requested ledger has not begun, in milliseconds. */
const BEGINNING_MS = 500
/** Interval of looking for due work, in milliseconds. */
const IDLE_MS = 500
/** Wait for a slot that the node has not finalized, in milliseconds: about two slots. */
const UNFINALIZED_MS = 800
/** Wait after a failed step, in milliseconds. */
const BACKOFF = { floorMs: 1_000, ceilingMs: 60_000 }

/** Phases that send requests for transactions, and phases that mostly use the store: neither waits for the other. */
const LANES: readonly (readonly BackfillPhase[])[] = [
  ['starting', 'reading'],
  ['summing', 'checking']
]

/**
 * Reads the history of watched addresses. The tenants take turns, one short step each, whatever the size of their histories;
 * a tenant's addresses follow each other in the order of their requests.
 */
export class LedgerBackfill {
  readonly #deps: BackfillDeps
  readonly #watches: WatchedAddresses
  readonly #start: BackfillStart
  readonly #reading: BackfillReading
  readonly #closing: BackfillClosing
  readonly #wake = new AutoResetEvent()
  readonly #active = new Map<string, ActiveBackfill>()
  /** Number of the last turn of each tenant. */
  readonly #turns = new Map<string, number>()
  #turn = 0
  #isBeginning = false

  constructor(given: BackfillDeps) {
    const deps = { ...given, node: patient(given.node, given) }
    this.#deps = deps
    this.#watches = new WatchedAddresses(deps.storage.documents)
    this.#start = new BackfillStart(deps.storage, deps.node, deps.hasNode)
    this.#reading = new BackfillReading(deps)
    this.#closing = new BackfillClosing(deps)
  }

  /** Number of backfills that are not done. */
  get size(): number {
    return [...this.#active.values()].filter(({ job }) => job.phase !== 'done').length
  }

  /** Lists the watches at once. */
  hint(): void {
    this.#isBeginning = true
    this.#wake.set()
  }

  /** Reads histories until `end` aborts. Rejects with the store's error of a list. */
  async run(end: AbortSignal): Promise<void> {
    await Promise.all([this.#sync(end), ...LANES.map(async (phases) => this.#lane(phases, end))])
  }

  async #sync(end: AbortSignal): Promise<void> {
    const { clock, storage, lead } = this.#deps
    while (!end.aborted) {
      if (lead.isHeld) await this.#list()
      const idleMs = storage.isShared ? SYNC_MS : ALONE_MS
      await this.#wake.wait(clock, this.#isBeginning || !lead.isHeld ? BEGINNING_MS : idleMs, end)
    }
  }

  /** Lists the watches with a request, and opens the checkpoints of new requests. */
  async #list(): Promise<void> {
    const all = (await this.#watches.all()).map(({ value }) => value)
    const requested = all.filter(({ history }) => history?.since != null)
    this.#isBeginning = requested.some(({ captureFrom }) => captureFrom === null)
    const listed = new Map(requested.map((watched) => [keyOf(watched), watched]))
    for (const key of this.#active.keys()) if (!listed.has(key)) this.#active.delete(key)
    for (const [key, watched] of listed) {
      if (watched.captureFrom === null) continue
      const known = this.#active.get(key)
      if (known?.job.requestedAtMs === watched.history!.requestedAtMs) continue
      this.#active.set(key, await ActiveBackfill.open(watched, this.#deps.storage.documents))
    }
    const tenants = new Set([...listed.values()].map(({ tenant }) => tenant))
    for (const tenant of this.#turns.keys()) if (!tenants.has(tenant)) this.#turns.delete(tenant)
  }

  async #lane(phases: readonly BackfillPhase[], end: AbortSignal): Promise<void> {
    const { clock, lead } = this.#deps
    const idle = new AutoResetEvent()
    while (!end.aborted) {
      const next = lead.isHeld ? this.#next(phases) : null
      if (next === null) await idle.wait(clock, IDLE_MS, end)
      else await this.#take(next, end)
    }
  }

  /** Returns the next due backfill of the tenant whose last turn is the longest ago. */
  #next(phases: readonly BackfillPhase[]): ActiveBackfill | null {
    const now = this.#deps.clock.now()
    let next: ActiveBackfill | null = null
    for (const each of this.#active.values()) {
      if (each.isBusy || each.notBeforeMs > now || !phases.includes(each.job.phase)) continue
      if (next === null || this.#isBefore(each, next)) next = each
    }
    return next
  }

  #isBefore(a: ActiveBackfill, b: ActiveBackfill): boolean {
    const [turnOfA, turnOfB] = [this.#turns.get(a.tenant) ?? 0, this.#turns.get(b.tenant) ?? 0]
    return turnOfA < turnOfB || (turnOfA === turnOfB && a.job.requestedAtMs < b.job.requestedAtMs)
  }

  async #take(backfill: ActiveBackfill, end: AbortSignal): Promise<void> {
    this.#turns.set(backfill.tenant, ++this.#turn)
    backfill.isBusy = true
    try {
      const waitMs = await this.#step(backfill, end)
      backfill.notBeforeMs = this.#deps.clock.now() + waitMs
      backfill.faults = 0
    } catch (error) {
      if (error instanceof BackfillReplaced) this.#drop(backfill)
      else if (error instanceof NoNode) {
        backfill.notBeforeMs = this.#deps.clock.now() + BACKOFF.ceilingMs
        await note(backfill, 'no node is configured: set MILLRACE_ARCHIVE_RPC_URL')
      } else if (!end.aborted) await this.#fail(backfill, error)
    } finally {
      backfill.isBusy = false
    }
  }

  /** Ends a backfill whose request was replaced, or whose watch has ended, and lists the watches. */
  #drop(backfill: ActiveBackfill): void {
    this.#active.delete(keyOf(backfill.watched))
    this.#wake.set()
  }

  /** Does one step of a backfill. Resolves with the milliseconds until its next one. */
  async #step(backfill: ActiveBackfill, end: AbortSignal): Promise<number> {
    const { phase } = backfill.job
    if ((phase === 'reading' || phase === 'checking') && !this.#deps.hasNode()) throw new NoNode()
    if (phase === 'starting') return (await this.#start.step(backfill, end)) ? 0 : UNFINALIZED_MS
    if (phase === 'reading') await this.#reading.step(backfill, end)
    else if (phase === 'summing') await this.#closing.sumUp(backfill)
    else if (phase === 'checking') return this.#closing.check(backfill, end)
    return 0
  }

  /** Notes a fault, and waits before the next step. A fault of one backfill must not end those of others. */
  async #fail(backfill: ActiveBackfill, error: unknown): Promise<void> {
    const { clock, random, metrics, logger } = this.#deps
    metrics.faults.inc()
    backfill.faults++
    backfill.signatures = Math.max(1, backfill.signatures >> 1)
    const waitMs = jittered(backoffMs(BACKOFF, backfill.faults), random())
    backfill.notBeforeMs = clock.now() + waitMs
    const { address, tenant } = backfill.watched
    const seconds = Math.ceil(waitMs / 1_000)
    logger.warn(`the backfill of ${address} of tenant ${tenant} is retried in ${seconds} s: ${textOf(error)}`)
    await this.#noteFault(backfill, error).catch((fault: unknown) => {
      if (fault instanceof BackfillReplaced) this.#drop(backfill)
      else if (!isOutage(fault)) throw fault
    })
  }

  async #noteFault(backfill: ActiveBackfill, error: unknown): Promise<void> {
    const { run, unavailable } = backfill.job
    if (hasNoHistory(error) && run !== null)
      await backfill.save({ unavailable: unavailableWith(unavailable, run), run: null, phase: 'starting' })
    else if (!isOutage(error)) await note(backfill, noteOf(error))
  }
}

const keyOf = ({ tenant, address }: Pick<WatchedAddress, 'tenant' | 'address'>): string =>
  `${tenant}/${address}`

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function note(backfill: ActiveBackfill, text: string): Promise<void> {
  if (backfill.job.note !== text) await backfill.save({ note: text })
}

/** Describes a fault to a tenant, without the name of a node. */
function noteOf(error: unknown): string {
  if (!(error instanceof NodeError)) return 'the service has a fault, which its log names'
  const { fault } = error
  if (fault.kind === 'throttled') return 'the archive node limits the rate of requests'
  if (fault.kind === 'unauthorized') return 'the archive node refuses the credentials of this service'
  if (fault.kind === 'rpc') return `the archive node refuses a request with error ${fault.code}`
  return 'the archive node does not answer'
}
