import { backoffMs, jittered } from '../../machines/backoff.ts'
import { RestartIntensity } from '../../machines/restart-intensity.ts'
import type { Policy } from '../../machines/unit.ts'
import { sleep, type Ports } from '../../src/ports.ts'

/** When members restart: as for a unit of the tree. A member has no time of start, because it gives nothing. */
export interface MemberPolicy {
  /** permanent: always restarted; transient: after a crash. */
  readonly restart: 'permanent' | 'transient'
  /** Restarts of all members in a period. Further ones wait, so that a fault of many members costs no more. */
  readonly intensity: Policy['intensity']
  /** The wait before a restart. */
  readonly backoff: Policy['backoff']
  /** Milliseconds of uptime after which the next backoff starts at the floor again. */
  readonly stableAfterMs: number
}

export interface MemberScope {
  /** Aborts when the member is asked to finish and return; also when it is killed. */
  readonly draining: AbortSignal
  /** Aborts when the member has to stop now. */
  readonly signal: AbortSignal
}

/** The body of a member. Returning is an exit; rejecting is a crash. */
export type RunMember = (scope: MemberScope) => Promise<void>

export interface Member {
  /** Resolves when it has ended, and does not restart. Never rejects. */
  readonly ended: Promise<void>
  /** Has it finish. It restarts no more. */
  drain(): void
  /** Has it stop now. It restarts no more. */
  kill(): void
}

/** Members of a process as the tree shows them. */
export interface MemberCounts {
  readonly restart: MemberPolicy['restart']
  readonly running: number
  /** Members that wait for their restart. */
  readonly waiting: number
  readonly restarts: number
  readonly lastError: { readonly message: string; readonly at: number } | null
}

export interface DynamicSupervisorDeps extends Ports {
  /** Records a fault that the process survives. */
  readonly report: (fault: Error) => void
  /** Tells whether a fault is recorded elsewhere, such as an outage of the store. */
  readonly isKnown?: (fault: unknown) => boolean
}

/**
 * Supervises members that come and go while their process runs, all under one policy (OTP's `simple_one_for_one`). A fault
 * restarts its member alone, however often: it must not end the others. So at the intensity restarts wait instead of ending
 * the supervisor.
 */
export class DynamicSupervisor implements MemberCounts {
  readonly #policy: MemberPolicy
  readonly #deps: DynamicSupervisorDeps
  readonly #intensity: RestartIntensity
  readonly #members = new Set<Member>()
  #waiting = 0
  #restarts = 0
  #lastError: MemberCounts['lastError'] = null

  constructor(policy: MemberPolicy, deps: DynamicSupervisorDeps) {
    this.#policy = policy
    this.#deps = deps
    this.#intensity = new RestartIntensity(policy.intensity)
  }

  get restart(): MemberPolicy['restart'] {
    return this.#policy.restart
  }

  get running(): number {
    return this.#members.size - this.#waiting
  }

  get waiting(): number {
    return this.#waiting
  }

  get restarts(): number {
    return this.#restarts
  }

  get lastError(): MemberCounts['lastError'] {
    return this.#lastError
  }

  /** Starts a member. `what` names it in its faults, such as `webhook 3 of tenant acme`. */
  start(what: string, run: RunMember): Member {
    const draining = new AbortController()
    const signal = new AbortController()
    const scope = { draining: draining.signal, signal: signal.signal }
    const member: Member = {
      ended: this.#keepRunning(what, run, scope).then(() => void this.#members.delete(member)),
      drain: () => draining.abort(),
      kill: () => {
        signal.abort()
        draining.abort()
      }
    }
    this.#members.add(member)
    return member
  }

  /** Has all members finish, or stop once `kill` aborts. Resolves when they have ended. */
  async drain(kill: AbortSignal): Promise<void> {
    const members = [...this.#members]
    const killAll = (): void => members.forEach((member) => member.kill())
    kill.addEventListener('abort', killAll, { once: true })
    if (kill.aborted) killAll()
    else members.forEach((member) => member.drain())
    await Promise.all(members.map(async ({ ended }) => ended))
    kill.removeEventListener('abort', killAll)
  }

  async #keepRunning(what: string, run: RunMember, scope: MemberScope): Promise<void> {
    const { clock } = this.#deps
    const { restart, stableAfterMs } = this.#policy
    for (let attempt = 1; !scope.draining.aborted; attempt++) {
      const startedMs = clock.now()
      try {
        await run(scope)
        if (restart === 'transient') return
      } catch (fault) {
        if (scope.draining.aborted) return
        this.#note(what, fault)
      }
      if (clock.now() - startedMs >= stableAfterMs) attempt = 1
      await this.#pause(attempt, scope.draining)
    }
  }

  /** Waits for the next restart. */
  async #pause(attempt: number, end: AbortSignal): Promise<void> {
    if (end.aborted) return
    const { clock, random } = this.#deps
    const backoff = jittered(backoffMs(this.#policy.backoff, attempt), random())
    const dueMs = this.#intensity.next(clock.now() + backoff)
    this.#waiting++
    await sleep(clock, dueMs - clock.now(), end)
    this.#waiting--
    if (!end.aborted) this.#restarts++
  }

  #note(what: string, fault: unknown): void {
    const { clock, report, isKnown } = this.#deps
    const message = fault instanceof Error ? fault.message : String(fault)
    this.#lastError = { message: `${what}: ${message}`, at: Math.floor(clock.now()) }
    if (isKnown?.(fault) === true) return
    report(new Error(`${what} failed and is restarted: ${message}`, { cause: fault }))
  }
}
