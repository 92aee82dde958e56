import type { Handle, Held } from '../../src/kernel/compose/handle.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Run } from './process.ts'

/** Milliseconds in which a process may finish whose resource was replaced, before it is killed; as for a drain. */
const FINISH_MS = 5_000

/** Has a process give its resource by a handle, for processes beside it. */
export function giving<Needs, Gives>(handle: Handle<Gives>, run: Run<Needs, Gives>): Run<Needs, Gives> {
  return async (scope) => {
    const ready = (gives: Gives): void => {
      handle.set(gives)
      scope.ready(gives)
    }
    try {
      await run({ ...scope, ready })
    } finally {
      handle.set(null)
    }
  }
}

/** Resources of processes beside it, by the names under which a process needs them. */
type Handles<Needs, Name extends keyof Needs> = {
  readonly [Key in Name]: Held<NonNullable<Needs[Key]>>
}

/**
 * Has a process use resources of processes beside it, as if they came from outside. It begins when all are there. When
 * one is replaced the process is drained, and then restarts with the new one.
 */
export function using<Needs, const Name extends keyof Needs, Gives>(
  handles: Handles<Needs, Name>,
  clock: Clock,
  run: Run<Needs, Gives>
): Run<Omit<Needs, Name>, Gives> {
  return async (scope) => {
    const held = await allOf(handles, scope.draining)
    if (held === null) return
    const replaced = new AbortController()
    const kill = new AbortController()
    const over = new AbortController()
    const onReplaced = (): void => {
      replaced.abort()
      void sleep(clock, FINISH_MS, over.signal).then(() => {
        if (!over.signal.aborted) kill.abort()
      })
    }
    const unsubscribe = listOf(handles).map(([, handle]) => handle.onChange(onReplaced))
    try {
      await run({
        ...scope,
        input: { ...scope.input, ...held } as unknown as Needs,
        draining: AbortSignal.any([scope.draining, replaced.signal]),
        signal: AbortSignal.any([scope.signal, kill.signal])
      })
    } finally {
      over.abort()
      for (const each of unsubscribe) each()
    }
    if (replaced.signal.aborted && !scope.draining.aborted)
      throw new Error('a resource that it uses was replaced')
  }
}

const listOf = (handles: object): [string, Held<unknown>][] =>
  Object.entries(handles as Record<string, Held<unknown>>)

/** Resolves with the resources of handles once all are there; with null if the signal aborts before. */
async function allOf(handles: object, signal: AbortSignal): Promise<object | null> {
  while (!signal.aborted) {
    const missing = listOf(handles).find(([, { current }]) => current === null)
    if (missing === undefined)
      return Object.fromEntries(listOf(handles).map(([name, { current }]) => [name, current]))
    await changed(missing[1], signal)
  }
  return null
}

function changed(handle: Held<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      unsubscribe()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const unsubscribe = handle.onChange(done)
    signal.addEventListener('abort', done)
  })
}
