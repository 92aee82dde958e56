import { fromCallback } from 'xstate'
import type { UnitRequest, Resources, UnitInput, UnitLogic } from '../../machines/unit.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'
import type { MemberCounts } from './dynamic-supervisor.ts'

/** The input of a process, and its ways to answer. */
export interface ProcessScope<Needs, Gives = void> {
  /** Resources that the processes outside it provide, by process name. */
  readonly input: Needs
  /** Aborts when the process is asked to finish and return; also when it is killed. */
  readonly draining: AbortSignal
  /** Aborts when the process has to stop now. It must still return before another instance starts. */
  readonly signal: AbortSignal
  /**
   * Announces that the process is ready, which starts the units inside it. To be called once; a process that ends
   * before has crashed.
   */
  readonly ready: (gives: Gives) => void
  /** Names a number in the process tree, such as a queue depth. `read` runs when the tree is read. */
  readonly gauge: (name: string, read: () => number) => void
  /** Shows members of the process as a dynamic supervisor below it. `read` runs when the tree is read. */
  readonly supervises: (name: string, read: () => MemberCounts) => void
  /** Sets the status text of a source. `read` runs when the tree is read. */
  readonly show: (read: () => SourceStatus) => void
  /** Records a fault that the process survives. */
  readonly report: (error: unknown) => void
}

/** The body of a process. Returning is an exit; rejecting or throwing is a crash. */
export type Run<Needs, Gives = void> = (scope: ProcessScope<Needs, Gives>) => Promise<void>

/** One instance of a process, as an observer sees it. */
export interface ProcessInstance {
  readonly gauges: Map<string, () => number>
  readonly members: Map<string, () => MemberCounts>
  /** Only of a source. */
  status: (() => SourceStatus) | null
  /** Kills the process and makes its end a crash with this error, however it ends. */
  crash(error: Error): void
}

export interface ProcessObserver {
  born(life: ProcessInstance): void
  died(life: ProcessInstance): void
  reported(error: Error): void
}

/**
 * Returns the actor of a process, invoked as `process`. It never throws. At its end it reports once whether it exited
 * or crashed; an AbortError after a drain or a kill is an exit.
 */
export function fromProcess(name: string, run: Run<Resources, unknown>, witness: ProcessObserver): UnitLogic {
  return fromCallback<UnitRequest, UnitInput>(({ input, receive, sendBack }) => {
    const drain = new AbortController()
    const kill = new AbortController()
    let forced: Error | undefined

    const end = (reason?: Error): void => {
      kill.abort(reason)
      drain.abort(kill.signal.reason)
    }
    const life: ProcessInstance = {
      gauges: new Map(),
      members: new Map(),
      status: null,
      crash: (error) => {
        forced ??= error
        end(error)
      }
    }
    const scope: ProcessScope<Resources, unknown> = {
      input: input.given,
      draining: drain.signal,
      signal: kill.signal,
      ready: (gives) => sendBack({ type: 'process.ready', gives: { [name]: gives } }),
      gauge: (gauge, read) => life.gauges.set(gauge, read),
      supervises: (members, read) => life.members.set(members, read),
      show: (read) => void (life.status = read),
      report: (error) => witness.reported(toError(error))
    }

    receive((ask) => (ask.type === 'kill' ? end() : drain.abort()))
    witness.born(life)
    void (async () => run(scope))()
      .then(
        () => forced,
        (thrown: unknown) => forced ?? (isAbort(drain.signal, thrown) ? undefined : toError(thrown))
      )
      .then((error) => {
        witness.died(life)
        sendBack(error === undefined ? { type: 'process.exited' } : { type: 'process.crashed', error })
      })
    return () => end()
  })
}

function isAbort({ aborted }: AbortSignal, thrown: unknown): boolean {
  return aborted && thrown instanceof Error && thrown.name === 'AbortError'
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown })
}
