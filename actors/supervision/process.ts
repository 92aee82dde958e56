import { fromCallback } from 'xstate'
import type { Ask, Resources, UnitInput, UnitLogic } from '../../machines/unit.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'

/** What a process is given, and how it answers. */
export interface ProcessScope<Needs, Gives = void> {
  /** What the processes outside it gave, by their names. */
  readonly input: Needs
  /** Aborts when the process is asked to finish and return; also when it is killed. */
  readonly draining: AbortSignal
  /** Aborts when the process is to stop now. It still has to return before anything takes its place. */
  readonly signal: AbortSignal
  /** Lets what is inside start. To be called once; a process that ends before it has crashed. */
  readonly ready: (gives: Gives) => void
  /** Names a number of the live tree, read when somebody looks; for queue depths and the like. */
  readonly gauge: (name: string, read: () => number) => void
  /** Has a source show in words how it does, read when somebody looks. */
  readonly show: (read: () => SourceStatus) => void
  /** Shows a fault that the process lives on with. */
  readonly report: (error: unknown) => void
}

/** Returning is its exit, rejecting or throwing its crash. */
export type Run<Needs, Gives = void> = (scope: ProcessScope<Needs, Gives>) => Promise<void>

/** One life of a process, as whoever watches from outside sees it. */
export interface Life {
  readonly gauges: Map<string, () => number>
  /** Of a source: how it does. */
  status: (() => SourceStatus) | null
  /** Kills the process and makes its end a crash with this error, whatever it does about it. */
  crash(error: Error): void
}

export interface Witness {
  born(life: Life): void
  died(life: Life): void
  reported(error: Error): void
}

/**
 * The actor of a process, invoked as `process`. It never throws, and says at its end, once, how that came. To be aborted
 * when asked to end is an exit.
 */
export function fromProcess(name: string, run: Run<Resources, unknown>, witness: Witness): UnitLogic {
  return fromCallback<Ask, UnitInput>(({ input, receive, sendBack }) => {
    const drain = new AbortController()
    const kill = new AbortController()
    let forced: Error | undefined

    const end = (reason?: Error): void => {
      kill.abort(reason)
      drain.abort(kill.signal.reason)
    }
    const life: Life = {
      gauges: new Map(),
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
