import type { Lease, Leases, Peers } from '../src/coordination.ts'
import { sleep } from '../src/ports.ts'
import type { Logger } from '../src/telemetry.ts'
import type { Storage } from '../storage/port.ts'
import { follow, type FollowDeps } from './follower.ts'

/** How often a process without the lease asks for it: work moves within seconds. */
const ASK_MS = 1_000
/** What passes before the next attempt after one that the store refused. */
const REFUSED_MS = 500
/** Without leases: another process that has committed nothing for so long has ceased to. Chosen. */
const QUIET_MS = 30_000

export interface TurnDeps extends FollowDeps {
  readonly logger: Logger
}

/** A time in which this process alone may ingest. */
export type Turn = Pick<Lease, 'lost' | 'held' | 'release'> & { readonly token: number | null }

/**
 * The next turn of this process to ingest, null once `end` aborts; until it comes the feed follows the store. `wasRefused`
 * says that the store refused the last one, since another process had claimed.
 */
export async function nextTurn(
  { storage, peers: { leases, commits } }: { readonly storage: Storage; readonly peers: Peers },
  deps: TurnDeps,
  wasRefused: boolean,
  end: AbortSignal
): Promise<Turn | null> {
  if (leases === null && !wasRefused) return unlimited()
  const stop = new AbortController()
  const over = AbortSignal.any([end, stop.signal])
  const waiting = leases === null ? silence(deps, over) : grant(leases, deps, wasRefused, over)
  const [turn, following] = await Promise.allSettled([
    waiting.finally(() => stop.abort()),
    follow({ storage, hints: commits }, deps, over).finally(() => stop.abort())
  ])
  if (turn.status === 'rejected') throw turn.reason
  if (following.status === 'fulfilled' && !end.aborted) return turn.value
  await turn.value?.release()
  if (following.status === 'rejected') throw following.reason
  return null
}

/** Asks for the lease until it is given. */
async function grant(
  leases: Leases,
  { clock, logger }: TurnDeps,
  wasRefused: boolean,
  end: AbortSignal
): Promise<Turn | null> {
  if (wasRefused) await sleep(clock, REFUSED_MS, end)
  for (let asked = 0; !end.aborted; asked++) {
    const lease = await leases.acquire('ingest')
    if (lease !== null) {
      logger.info({ token: lease.token }, 'this process has the lease of ingest')
      return lease
    }
    if (asked === 0) logger.info('this process waits for the lease of ingest, and follows meanwhile')
    await sleep(clock, ASK_MS, end)
  }
  return null
}

/** Waits until no other process commits any more: at once where none has since the refusal. */
async function silence({ clock, feed, logger }: TurnDeps, end: AbortSignal): Promise<Turn | null> {
  const silent = new AbortController()
  let timer = clock.setTimeout(() => silent.abort(), REFUSED_MS)
  let heard = false
  const hear = (): void => {
    if (!heard) {
      logger.error(
        'another process ingests; without MILLRACE_REDIS_URL they take no turns, and this one follows'
      )
    }
    heard = true
    clock.clearTimeout(timer)
    timer = clock.setTimeout(() => silent.abort(), QUIET_MS)
  }
  const unfollow = feed.follow(hear)
  const unheed = feed.onJump(hear)
  await new Promise<void>((resolve) => {
    for (const signal of [silent.signal, end]) {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    }
  })
  clock.clearTimeout(timer)
  unfollow()
  unheed()
  return end.aborted ? null : unlimited()
}

/** The turn of a process that nobody takes turns with. */
function unlimited(): Turn {
  return { token: null, held: true, lost: new AbortController().signal, release: async () => undefined }
}
